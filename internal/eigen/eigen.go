// Package eigen finds eigenvalues and singular values of matrices of any scale, under a context. A
// symmetric matrix is brought to tridiagonal form, whose eigenvectors are found by divide and conquer. Singular
// values are found by one-sided Jacobi rotations. The bytes depend neither on the processor nor on the number of
// cores. A value that is not finite is an error, and each function returns soon after its context ends.
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

// eps is the distance from 1 to the next number.
const eps = 0x1p-52

// Symmetric returns the n eigenvalues of a, rising, and, if vectors is set, the orthonormal eigenvectors as the
// columns of v, n×n.
func Symmetric(ctx context.Context, a *mat.SymDense, vectors bool) (values []float64, v *mat.Dense, err error) {
	if vectors {
		return Smallest(ctx, a, a.SymmetricDim())
	}
	s, err := Decompose(ctx, a)
	if err != nil {
		return nil, nil, err
	}
	slices.Reverse(s.values)
	return s.values, nil, nil
}

// Smallest returns the c smallest of the n eigenvalues of a, rising, and orthonormal eigenvectors as the columns
// of v, n×c, to some 1e-15 of a's norm, in Memory bytes. A c that is not within 1 and n is an error.
func Smallest(ctx context.Context, a *mat.SymDense, c int) (values []float64, v *mat.Dense, err error) {
	return extreme(ctx, a, c, -1)
}

// Largest is Smallest of the c largest, falling.
func Largest(ctx context.Context, a *mat.SymDense, c int) (values []float64, v *mat.Dense, err error) {
	return extreme(ctx, a, c, 1)
}

// extreme returns the c largest eigenvalues of sign·a times sign, and eigenvectors.
func extreme(ctx context.Context, a *mat.SymDense, c int, sign float64) ([]float64, *mat.Dense, error) {
	s, err := decompose(ctx, a, sign)
	if err != nil {
		return nil, nil, err
	}
	v, err := s.Leading(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	values := s.values[:c]
	scale(values, sign)
	return values, v, nil
}

// Least returns the smallest eigenvalue of a.
func Least(ctx context.Context, a *mat.SymDense) (float64, error) {
	s, err := Decompose(ctx, a)
	if err != nil {
		return 0, err
	}
	return s.values[len(s.values)-1], nil
}

// scaled returns what the reduction reads of sign·a, brought near 1 by a power of 2, and that power.
func scaled(a *mat.SymDense, sign float64) (out *square, scale float64, err error) {
	n, raw := a.SymmetricDim(), a.RawSymmetric()
	if scale, err = scaleOf(n, func(i int) []float64 { return raw.Data[i*raw.Stride+i : i*raw.Stride+n] }); err != nil {
		return nil, 0, err
	}
	out = newSquare(n)
	for i := range n {
		for j, x := range raw.Data[i*raw.Stride+i : i*raw.Stride+n] {
			out.data[i*out.size+i+j] = x * (sign / scale)
		}
	}
	return out, scale, nil
}

// scaleOf returns the power of 2 that brings n rows near 1 when they are divided by it, which rounds nothing but
// negligible values.
func scaleOf(n int, row func(i int) []float64) (float64, error) {
	largest := 0.0
	for i := range n {
		for _, x := range row(i) {
			if largest = max(largest, math.Abs(x)); math.IsNaN(x) || math.IsInf(x, 0) {
				return 0, fmt.Errorf("a matrix with the value %v has no eigenvalues", x)
			}
		}
	}
	if largest == 0 {
		return 1, nil
	}
	_, exponent := math.Frexp(largest)
	return math.Ldexp(1, min(max(exponent, -1000), 1000)), nil
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
