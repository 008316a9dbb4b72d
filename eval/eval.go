// Package eval scores what clusterings, classifiers and factorisations give.
//
// A clustering is scored against the samples' classes by accuracy (AC), normalised mutual information, the
// adjusted Rand index and purity. Classes and clusters are any whole numbers; only which samples share one
// matters. A sample whose class is negative, that is not known, is left out. Where no sample is left, every
// score is 0.
//
// Samples are rows. The papers' symbols are here:
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
)

// Accuracy returns the share of the samples whose predicted class is the true one, of those whose true class
// is known, that is, not negative; 0 without any. It panics if the lengths differ.
func Accuracy(truth, predicted []int) float64 {
	pairUp(truth, predicted)
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
	return share(right, known)
}

// pairUp panics if the lengths differ.
func pairUp(truth, found []int) {
	if len(truth) != len(found) {
		panic(fmt.Sprintf("eval: %d true labels, but %d found labels", len(truth), len(found)))
	}
}

// share returns part/whole, and 0 of nothing.
func share(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// MostConfused is the largest number of classes of a confusion matrix.
const MostConfused = 1 << 14

// Confusion returns the confusion matrix, classes×classes, a row for each true class. Samples with a negative
// true class, which is unknown, are left out. A class out of range is an error, and so are more than
// [MostConfused] classes. It panics if the lengths differ.
func Confusion(truth, predicted []int, classes int) ([][]int, error) {
	pairUp(truth, predicted)
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

// Sparsity returns the sparsity of each column of a factor, m×k (Hoyer 2004): (√m − ‖u‖₁/‖u‖₂)/(√m − 1),
// which is 0 for values of one size and 1 for a single nonzero value. Columns of zeros, and of a factor with
// a single row, count as 0. Values must be finite.
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
		// Scaled, so that no norm overflows.
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

// BasisPurity returns, for each column of the coefficients V, n×k, the largest share of its mass Σ|v_ir| that
// the samples of one class have, and the mean of these shares weighted by the masses. Samples with a negative
// label, of unknown class, are left out. A column without mass has the share 0. Values must be finite.
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
			v := math.Abs(coefficients.At(i, r)) / largest // so that no sum overflows
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

// MeanSD returns the mean of x and its sample standard deviation, with n − 1 below the root. The deviation of
// a single value is 0, and so are both of none. Results that overflow are the largest number.
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
	// A sum has overflowed: scale by a power of 2.
	const scale = 0x1p-600
	small := make([]float64, len(x))
	for i, v := range x {
		small[i] = v * scale
	}
	mean, sd = elementary.MeanStdDev(small)
	return mean / scale, min(sd/scale, math.MaxFloat64)
}
