// Package eigen finds eigenvalues and singular values of matrices of any scale, under a context. A
// symmetric matrix is brought to tridiagonal form; all its eigenvectors are found by divide and conquer,
// a few by bisection and inverse iteration. Singular values are found by one-sided Jacobi rotations.
// The bytes depend neither on the processor nor on the number of cores.
package eigen

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// ErrNoConvergence says that a factorisation has not converged.
var ErrNoConvergence = errors.New("the eigenvalues do not converge")

// Symmetric returns the n eigenvalues of a, rising, and, if vectors is set, the
// orthonormal eigenvectors as the columns of v, n×n. A value that is not finite is
// an error. It takes O(n³) time and SystemMemory bytes, with vectors n² values more, and
// returns soon after ctx ends.
func Symmetric(ctx context.Context, a *mat.SymDense, vectors bool) (values []float64, v *mat.Dense, err error) {
	n := a.SymmetricDim()
	s, err := Decompose(ctx, a)
	if err != nil {
		return nil, nil, err
	}
	if vectors {
		if v, err = s.Leading(ctx, n); err != nil {
			return nil, nil, err
		}
		for i := range n {
			slices.Reverse(v.RawRowView(i))
		}
	}
	slices.Reverse(s.values)
	return s.values, v, nil
}

// largestOf returns the largest size of the values of a.
func largestOf(a *mat.SymDense) (float64, error) {
	n, raw := a.SymmetricDim(), a.RawSymmetric()
	largest := 0.0
	for i := range n {
		for _, x := range raw.Data[i*raw.Stride+i : i*raw.Stride+n] {
			if largest = max(largest, math.Abs(x)); math.IsNaN(x) || math.IsInf(x, 0) {
				return 0, fmt.Errorf("a matrix with the value %v has no eigenvalues", x)
			}
		}
	}
	return largest, nil
}

// rescale multiplies values by a scale.
func rescale(values []float64, scale float64) error {
	for i := range values {
		if values[i] *= scale; math.IsInf(values[i], 0) {
			return errors.New("the eigenvalues are beyond what numbers can hold")
		}
	}
	return nil
}

// powerOf2 returns the power of 2 that brings x near 1 when x is divided by it, which rounds
// nothing but negligible values.
func powerOf2(x float64) float64 {
	_, exponent := math.Frexp(x)
	return math.Ldexp(1, min(max(exponent, -1000), 1000))
}
