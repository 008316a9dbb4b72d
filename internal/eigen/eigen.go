// Package eigen computes eigenvalues and eigenvectors. A symmetric matrix is reduced to tridiagonal form and solved by
// divide and conquer. Matrices are scaled, so any magnitude is accurate. Results are bit-identical on every processor and any number of cores. A value that is
// not finite is an error. Each function returns soon after its context ends.
package eigen

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/simd"
)

// ErrNoConvergence is returned if an iteration does not converge.
var ErrNoConvergence = errors.New("the eigenvalues do not converge")

const eps = 0x1p-52

// Smallest returns the c smallest eigenvalues of a in increasing order, and orthonormal eigenvectors as the columns of v,
// n×c. The error is about 1e-15 of a's norm. It allocates about Memory bytes. It is an error if c is not from 1 to n.
func Smallest(ctx context.Context, a *mat.SymDense, c int) (values []float64, v *mat.Dense, err error) {
	return extreme(ctx, a, c, -1)
}

// Largest returns the c largest eigenvalues of a in decreasing order and their eigenvectors; see Smallest.
func Largest(ctx context.Context, a *mat.SymDense, c int) (values []float64, v *mat.Dense, err error) {
	return extreme(ctx, a, c, 1)
}

// extreme returns the c largest eigenvalues of sign·a, times sign, and their eigenvectors.
func extreme(ctx context.Context, a *mat.SymDense, c int, sign float64) (values []float64, v *mat.Dense, err error) {
	defer guard.Catch(&err)
	s := guard.Must(decompose(ctx, a, sign))
	v, values = guard.Must(s.Leading(ctx, c)), s.values[:c]
	floats.Scale(sign, values)
	return values, v, nil
}

// scaled returns sign·a divided by a power of 2 that makes its magnitude about 1, and that power. The division is exact
// except for negligible values. Zeros pad rows and columns to simd.Width.
func scaled(a *mat.SymDense, sign float64) (out *mat.Dense, scale float64, err error) {
	n, raw := a.SymmetricDim(), a.RawSymmetric()
	largest := 0.0
	for i := range n {
		for _, x := range raw.Data[i*raw.Stride+i : i*raw.Stride+n] {
			if largest = max(largest, math.Abs(x)); math.IsNaN(x) || math.IsInf(x, 0) {
				return nil, 0, fmt.Errorf("the matrix has the value %v; expected finite values", x)
			}
		}
	}
	scale = 1
	if largest > 0 {
		_, exponent := math.Frexp(largest)
		scale = math.Ldexp(1, min(max(exponent, -1000), 1000))
	}
	width := simd.Width(n)
	out = mat.NewDense(width, width, nil).Slice(0, n, 0, n).(*mat.Dense)
	out.Scale(sign/scale, a)
	return out, scale, nil
}

func rescale(values []float64, scale float64) error {
	for i := range values {
		if values[i] *= scale; math.IsInf(values[i], 0) {
			return errors.New("the eigenvalues overflow")
		}
	}
	return nil
}

// rotate replaces x and y by c·x + s·y and c·y − s·x.
func rotate(x, y []float64, c, s float64) {
	y = y[:len(x)]
	for i, v := range x {
		w := y[i]
		x[i], y[i] = float64(c*v)+float64(s*w), float64(c*w)-float64(s*v)
	}
}

// System is an eigendecomposition of a symmetric matrix whose eigenvectors are computed on demand. It is immutable
// and safe for concurrent use.
type System struct {
	values []float64 // decreasing
	t      *tridiagonal
	whole  *joined
	order  []int // indices in whole of values
}

// Memory returns an estimate of the bytes that c eigenvectors of an n×n matrix take in addition to the matrix.
func Memory(n, c int) float64 {
	return 8 * float64(n) * float64(3*n+2*c+11*panel)
}

// Decompose computes the n eigenvalues of a, with an error of about 1e-15 of its norm, in about 4n³/3 to 8n³/3
// operations.
func Decompose(ctx context.Context, a *mat.SymDense) (*System, error) {
	return decompose(ctx, a, 1)
}

// decompose is Decompose for sign·a.
func decompose(ctx context.Context, a *mat.SymDense, sign float64) (_ *System, err error) {
	defer guard.Catch(&err)
	n := a.SymmetricDim()
	work, scale, err := scaled(a, sign)
	guard.Check(err)
	s := &System{t: guard.Must(reduce(ctx, work.RawMatrix()))}
	s.whole = guard.Must(divide(ctx, slices.Clone(s.t.d), s.t.e, mat.NewDense(n, n, nil)))
	s.order = elementary.Order(n, func(i, j int) int {
		return cmp.Or(cmp.Compare(s.whole.values[j], s.whole.values[i]), j-i)
	})
	s.values = matrix.Take(s.whole.values, s.order)
	return s, rescale(s.values, scale)
}

// Values returns the eigenvalues in decreasing order. The slice is read-only.
func (s *System) Values() []float64 { return s.values }

// blockSize is the number of eigenvectors that are computed at a time.
const blockSize = 128

// Leading returns orthonormal eigenvectors of the c largest eigenvalues as the columns of v, n×c, in about 4n²c to 6n²c
// operations. Column i does not depend on c. It is an error if c is not from 1 to n.
func (s *System) Leading(ctx context.Context, c int) (v *mat.Dense, err error) {
	defer guard.Catch(&err)
	n := s.t.n
	guard.FailIf(c < 1 || c > n, "%d eigenvectors requested; expected 1 to %d", c, n)
	v = mat.NewDense(n, c, nil)
	for from := 0; from < c; from += blockSize {
		guard.Check(ctx.Err())
		z := s.whole.vectors(s.order[from:min(from+blockSize, n)])
		rows, _ := z.Dims()
		guard.Check(s.t.rotate(ctx, rows, z.RawMatrix().Data))
		for p := range min(rows, c-from) {
			v.SetCol(from+p, z.RawRowView(p))
		}
	}
	return v, nil
}
