// Package eigen finds eigenvalues and singular values of matrices of any scale,
// under a context: eigenvectors by dividing and conquering or inverse iteration, all
// eigenvalues alone, small matrices and singular values with LAPACK. gonum's LAPACK
// multiplies with the BLAS that the process has chosen for gonum (gonum's own, but in
// the command; see blas.UseForProcess), and the last digits of what it finds follow that.
package eigen

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/guard"
)

// ErrNoConvergence says that a factorisation has not converged.
var ErrNoConvergence = errors.New("the eigenvalues do not converge")

// Symmetric returns the n eigenvalues of a, rising, and, if vectors is set, the
// orthonormal eigenvectors as the columns of v, n×n. A value that is not finite is
// an error. It takes O(n³) time and, beside a, n² values or with vectors SystemMemory, and
// returns soon after ctx ends; LAPACK, which finds the values alone and vectors of small
// matrices, goes on in a goroutine of its own until it is done.
func Symmetric(ctx context.Context, a *mat.SymDense, vectors bool) (values []float64, v *mat.Dense, err error) {
	if n := a.SymmetricDim(); vectors && n >= leastPartial {
		values, v, err := allOf(ctx, a)
		if !errors.Is(err, ErrNoConvergence) {
			return values, v, err
		}
	}
	return byLAPACK(ctx, a, vectors)
}

// allOf is Symmetric with vectors, by Decompose.
func allOf(ctx context.Context, a *mat.SymDense) ([]float64, *mat.Dense, error) {
	n := a.SymmetricDim()
	s, err := Decompose(ctx, a)
	if err != nil {
		return nil, nil, err
	}
	v, err := s.Leading(ctx, n)
	if err != nil {
		return nil, nil, err
	}
	slices.Reverse(s.values)
	for i := range n {
		slices.Reverse(v.RawRowView(i))
	}
	return s.values, v, nil
}

// byLAPACK is Symmetric of any size.
func byLAPACK(ctx context.Context, a *mat.SymDense, vectors bool) (values []float64, v *mat.Dense, err error) {
	n := a.SymmetricDim()
	raw := a.RawSymmetric()
	largest, err := largestOf(a)
	if err != nil {
		return nil, nil, err
	}
	scale := ordinary(largest)
	if scale != 1 {
		scaled := mat.NewSymDense(n, nil)
		for i := range n {
			for j := i; j < n; j++ {
				scaled.SetSym(i, j, raw.Data[i*raw.Stride+j]/scale)
			}
		}
		a = scaled
	}
	r, err := interruptible(ctx, n, func() (*result, error) {
		var e mat.EigenSym
		ok := false
		// Without vectors gonum's Dsterf panics where a part of the matrix is
		// far smaller than the rest. With vectors Dsteqr is at work.
		err := guard.Call(func() error { ok = e.Factorize(a, vectors); return nil })
		if !vectors && (err != nil || !ok) {
			ok = e.Factorize(a, true)
		} else if err != nil {
			return nil, err
		}
		if !ok {
			return nil, ErrNoConvergence
		}
		r := &result{values: e.Values(nil)}
		if vectors {
			r.v = new(mat.Dense)
			e.VectorsTo(r.v)
		}
		return r, nil
	})
	if err != nil {
		return nil, nil, err
	}
	return r.values, r.v, r.rescale(scale)
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

// result is what a factorisation finds.
type result struct {
	values []float64
	u, v   *mat.Dense
}

// rescale multiplies the values by a scale.
func (r *result) rescale(scale float64) error {
	for i := range r.values {
		if r.values[i] *= scale; math.IsInf(r.values[i], 0) {
			return errors.New("the eigenvalues are beyond what numbers can hold")
		}
	}
	return nil
}

// Singular returns the min(n, m) singular values of a, n×m, falling, and the thin
// singular vectors as columns: u, n×min(n, m), if left is set, and v, m×min(n, m).
// What Symmetric says of ctx, memory and values holds here too.
func Singular(ctx context.Context, a *mat.Dense, left bool) (sigma []float64, u, v *mat.Dense, err error) {
	n, m := a.Dims()
	largest := 0.0
	for i := range n {
		for _, x := range a.RawRowView(i) {
			if largest = max(largest, math.Abs(x)); math.IsNaN(x) || math.IsInf(x, 0) {
				return nil, nil, nil, fmt.Errorf("a matrix with the value %v has no singular values", x)
			}
		}
	}
	scale := ordinary(largest)
	if scale != 1 {
		scaled := mat.NewDense(n, m, nil)
		scaled.Apply(func(_, _ int, x float64) float64 { return x / scale }, a)
		a = scaled
	}
	kind := mat.SVDThinV
	if left {
		kind = mat.SVDThin
	}
	r, err := interruptible(ctx, min(n, m), func() (*result, error) {
		var svd mat.SVD
		if !svd.Factorize(a, kind) {
			return nil, ErrNoConvergence
		}
		r := &result{values: svd.Values(nil), v: new(mat.Dense)}
		svd.VTo(r.v)
		if left {
			r.u = new(mat.Dense)
			svd.UTo(r.u)
		}
		return r, nil
	})
	if err != nil {
		return nil, nil, nil, err
	}
	return r.values, r.u, r.v, r.rescale(scale)
}

// ordinary returns what a matrix with the largest value x is divided by: 1 for
// ordinary sizes, elsewhere powerOf2.
func ordinary(x float64) float64 {
	if x == 0 || x > 1e-30 && x < 1e30 {
		return 1
	}
	return powerOf2(x)
}

// powerOf2 returns the power of 2 that brings x near 1. That rounds nothing but what
// is too small to count.
func powerOf2(x float64) float64 {
	_, exponent := math.Frexp(x)
	return math.Ldexp(1, min(max(exponent, -1000), 1000))
}

// small is the size of matrices that are not worth a goroutine.
const small = 100

// interruptible runs f, of an n×n problem, and returns what it returns, or the error
// of ctx.
func interruptible(ctx context.Context, n int, f func() (*result, error)) (*result, error) {
	if n > small && ctx.Done() != nil {
		return guard.Interruptible(ctx, f)
	}
	var r *result
	err := ctx.Err()
	if err == nil {
		err = guard.Call(func() (err error) {
			r, err = f()
			return err
		})
	}
	return r, err
}
