package eval

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// BasisPurity returns, for each column of the coefficients V, n×k, the largest share of its mass Σ|v_ir| that
// the samples of one class have, and the mean of these shares weighted by the masses. Samples with a negative
// label, of unknown class, are left out. A column without mass has the share 0. Values must be finite.
func BasisPurity(coefficients mat.Matrix, labels []int) (perBasis []float64, overall float64, err error) {
	n, k := coefficients.Dims()
	if len(labels) != n {
		return nil, 0, fmt.Errorf("basis purity: %d labels of %d samples", len(labels), n)
	}
	if err := checkFinite(coefficients); err != nil {
		return nil, 0, fmt.Errorf("basis purity: %w", err)
	}
	// Scaled by the largest value, no sum overflows.
	var largest float64
	for i := range n {
		for r := range k {
			largest = max(largest, math.Abs(coefficients.At(i, r)))
		}
	}
	perBasis = make([]float64, k)
	if largest == 0 {
		return perBasis, 0, nil
	}
	var pure, all float64
	for r := range perBasis {
		byClass := map[int]float64{}
		var most, mass float64
		for i, l := range labels {
			if l < 0 {
				continue
			}
			v := math.Abs(coefficients.At(i, r)) / largest
			byClass[l] += v
			mass += v
			most = max(most, byClass[l])
		}
		if mass > 0 {
			perBasis[r] = min(1, most/mass)
		}
		pure += most
		all += mass
	}
	if all > 0 {
		overall = min(1, pure/all)
	}
	return perBasis, overall, nil
}

// basisPurity is the overall purity of an outcome's parts.
func basisPurity(o *Outcome) (float64, bool, error) {
	if !o.hasParts() {
		return 0, false, nil
	}
	_, purity, err := BasisPurity(o.Coefficients, o.Classes)
	return purity, true, err
}
