// Package eval computes scores of clusterings, classifications and factorisations. The examples of [Compute] and [KNN]
// show how to score a clustering and how to classify samples.
//
// [AC], [NMI], [ARI], [Purity] and [VI] compare clusters with classes. Classes and clusters are arbitrary integers; only
// equality matters. Samples with a negative class, which means unknown, are ignored. If no sample remains, every score
// is 0.
//
// A sample is a row. The papers' symbols correspond to:
//
//	papers            here
//	C (classes)       truth
//	C' (clusters)     assigned
//	map(r_i)          Mapping
//	MI / max(H, H')   NMI
//	V (n×k)           coefficients
package eval

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/lists"
)

// Accuracy returns the fraction of samples whose predicted class equals the true one. Samples with a negative true class
// are ignored; without samples it is 0. It panics if the lengths differ.
func Accuracy(truth, predicted []int) float64 {
	checkLengths(truth, predicted)
	right, known := 0, 0
	for i, class := range truth {
		if class < 0 {
			continue
		}
		known++
		if predicted[i] == class {
			right++
		}
	}
	return fraction(right, known)
}

// checkLengths panics if the lengths differ.
func checkLengths(truth, found []int) {
	if len(truth) != len(found) {
		panic(fmt.Sprintf("eval: %d true labels, but %d found labels", len(truth), len(found)))
	}
}

// fraction returns part/whole, or 0 if whole is 0.
func fraction(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// MostConfused is the largest number of classes of a confusion matrix.
const MostConfused = 1 << 14

// Confusion returns the confusion matrix, classes×classes: row t, column p is the number of samples of class t that are
// predicted as p. Samples with a negative true class are ignored. A class out of range is an error, and so are more than
// [MostConfused] classes. It panics if the lengths differ.
func Confusion(truth, predicted []int, classes int) ([][]int, error) {
	checkLengths(truth, predicted)
	if classes < 0 || classes > MostConfused {
		return nil, fmt.Errorf("confusion: %d classes; expected at most %d", classes, MostConfused)
	}
	counts := make([][]int, classes)
	for l := range counts {
		counts[l] = make([]int, classes)
	}
	for i, class := range truth {
		if class < 0 {
			continue
		}
		if p := predicted[i]; class >= classes || p < 0 || p >= classes {
			return nil, fmt.Errorf("confusion: sample %d of class %d is predicted as %d; expected less than %d", i+1, class, p, classes)
		}
		counts[class][predicted[i]]++
	}
	return counts, nil
}

// Sparsity returns the sparsity of each column u of a factor, m×k: (√m − ‖u‖₁/‖u‖₂)/(√m − 1) (Hoyer 2004). It is 0 if
// all values have the same magnitude, and 1 for a single non-zero value. Zero columns, and columns of length 1, have
// sparsity 0. Values must be finite.
func Sparsity(factor mat.Matrix) ([]float64, error) {
	if _, err := largestOf(factor); err != nil {
		return nil, fmt.Errorf("sparsity: %w", err)
	}
	m, k := factor.Dims()
	sparsity := make([]float64, k)
	column := make([]float64, m)
	root := math.Sqrt(float64(m))
	for r := range k {
		mat.Col(column, r, factor)
		// Scale to avoid overflow of the norms.
		largest := elementary.Largest(column)
		if largest == 0 || m == 1 {
			continue
		}
		floats.Scale(1/largest, column)
		s := (root - elementary.Norm1(column)/elementary.Norm(column)) / (root - 1)
		sparsity[r] = min(max(s, 0), 1)
	}
	return sparsity, nil
}

// largestOf returns the largest absolute value, or an error for the first value that is not finite.
func largestOf(x mat.Matrix) (largest float64, err error) {
	r, c := x.Dims()
	for i := range r {
		for j := range c {
			v := x.At(i, j)
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return 0, fmt.Errorf("row %d, column %d: value %v", i+1, j+1, v)
			}
			largest = max(largest, math.Abs(v))
		}
	}
	return largest, nil
}

// BasisPurity returns, for each column of the coefficients V, n×k, the largest fraction of its mass Σ|v_ir| that
// belongs to the samples of one class, and the mean of these fractions weighted by mass. Samples with a negative label
// are ignored. A column without mass has purity 0. Values must be finite.
func BasisPurity(coefficients mat.Matrix, labels []int) (perBasis []float64, overall float64, err error) {
	n, k := coefficients.Dims()
	if len(labels) != n {
		return nil, 0, fmt.Errorf("basis purity: %d labels for %d samples", len(labels), n)
	}
	largest, err := largestOf(coefficients)
	if err != nil {
		return nil, 0, fmt.Errorf("basis purity: %w", err)
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
			v := math.Abs(coefficients.At(i, r)) / largest // avoids overflow of sums
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

// MeanSD returns the mean of x and its sample standard deviation, with the divisor n − 1. The deviation of one value is
// 0; both are 0 for an empty x. Results that overflow are capped at math.MaxFloat64.
func MeanSD(x []float64) (mean, sd float64) {
	switch len(x) {
	case 0:
		return 0, 0
	case 1:
		return x[0], 0
	}
	mean, sd = elementary.MeanStdDev(x)
	if !math.IsInf(mean, 0) && !math.IsInf(sd, 0) && !math.IsNaN(sd) {
		return mean, sd
	}
	// A sum overflowed: scale by a power of 2, which is exact.
	const scale = 0x1p-600
	mean, sd = elementary.MeanStdDev(lists.Map(x, func(v float64) float64 { return v * scale }))
	return mean / scale, min(sd/scale, math.MaxFloat64)
}
