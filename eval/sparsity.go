package eval

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/elementary"
)

// Sparsity returns the sparsity of each column of a factor, m×k (Hoyer 2004): (√m − ‖u‖₁/‖u‖₂)/(√m − 1),
// which is 0 for values of one size and 1 for a single nonzero value. Columns of zeros, and of a factor with
// a single row, count as 0. Values must be finite.
func Sparsity(factor mat.Matrix) ([]float64, error) {
	if err := checkFinite(factor); err != nil {
		return nil, fmt.Errorf("sparsity: %w", err)
	}
	m, k := factor.Dims()
	sparsity := make([]float64, k)
	column := make([]float64, m)
	root := math.Sqrt(float64(m))
	for r := range k {
		mat.Col(column, r, factor)
		// Scaled, so that no norm overflows.
		largest := max(floats.Max(column), -floats.Min(column))
		if largest == 0 || m == 1 {
			continue
		}
		floats.Scale(1/largest, column)
		s := (root - elementary.Norm1(column)/elementary.Norm(column)) / (root - 1)
		sparsity[r] = min(max(s, 0), 1)
	}
	return sparsity, nil
}

// meanSparsity is the mean sparsity of a factor's columns, where the outcome has parts.
func (o *Outcome) meanSparsity(factor *mat.Dense) (float64, bool, error) {
	if !o.hasParts() {
		return 0, false, nil
	}
	sparsity, err := Sparsity(factor)
	mean, _ := MeanSD(sparsity)
	return mean, true, err
}

// checkFinite returns an error for the first value that is not finite.
func checkFinite(x mat.Matrix) error {
	r, c := x.Dims()
	for i := range r {
		for j := range c {
			if v := x.At(i, j); math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("row %d, column %d holds the value %v", i+1, j+1, v)
			}
		}
	}
	return nil
}
