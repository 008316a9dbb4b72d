package eigen

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Below a size, or for a larger share of the eigenvalues, Symmetric is as fast.
const (
	leastPartial = 64
	mostShare    = 4
)

// Smallest returns the c smallest of the n eigenvalues of a, rising, and orthonormal
// eigenvectors as the columns of v, n×c, to some 1e-15 of a's norm. It brings a to
// tridiagonal form, bisects for the values, and finds the vectors by inverse iteration, in
// some 4n³/3 + 4n²c operations and Memory bytes beside a. A value that is not finite, and a c
// that is not within 1 and n, are errors. Where c is small beside n it returns soon after
// ctx ends; of other c Symmetric tells. The bytes do not depend on
// the number of cores.
func Smallest(ctx context.Context, a *mat.SymDense, c int) (values []float64, v *mat.Dense, err error) {
	return extreme(ctx, a, c, 1)
}

// Largest is Smallest of the c largest, falling.
func Largest(ctx context.Context, a *mat.SymDense, c int) (values []float64, v *mat.Dense, err error) {
	return extreme(ctx, a, c, -1)
}

// Memory returns about how many bytes Smallest and Largest take beside an n×n matrix, and
// with c of 1 Least: of few eigenvalues the matrix once more, and some vectors.
func Memory(n, c int) float64 {
	if !partial(n, c) {
		return SystemMemory(n) + 8*float64(n)*float64(n)
	}
	return 8 * float64(n) * float64(n+2*c+11*panel)
}

// partial says whether c of n eigenvalues are found without the rest.
func partial(n, c int) bool { return n >= leastPartial && c <= n/mostShare }

// extreme returns the c smallest eigenvalues of sign·a, and eigenvectors, times sign.
func extreme(ctx context.Context, a *mat.SymDense, c int, sign float64) ([]float64, *mat.Dense, error) {
	n := a.SymmetricDim()
	if c < 1 || c > n {
		return nil, nil, fmt.Errorf("%d eigenvalues of %d", c, n)
	}
	if partial(n, c) {
		values, v, err := some(ctx, a, c, sign)
		if !errors.Is(err, ErrNoConvergence) {
			return values, v, err
		}
	}
	all, vectors, err := Symmetric(ctx, a, true)
	if err != nil {
		return nil, nil, err
	}
	if sign > 0 {
		return all[:c], mat.DenseCopyOf(vectors.Slice(0, n, 0, c)), nil
	}
	values, v := all[n-c:], mat.DenseCopyOf(vectors.Slice(0, n, n-c, n))
	slices.Reverse(values)
	for i := range n {
		slices.Reverse(v.RawRowView(i))
	}
	return values, v, nil
}

// some is extreme without all eigenvalues.
func some(ctx context.Context, a *mat.SymDense, c int, sign float64) ([]float64, *mat.Dense, error) {
	n := a.SymmetricDim()
	work, scale, err := scaled(a, sign)
	if err != nil {
		return nil, nil, err
	}
	t, err := reduce(ctx, work)
	if err != nil {
		return nil, nil, err
	}
	values, z, err := t.smallest(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	if err := t.rotate(ctx, c, z); err != nil {
		return nil, nil, err
	}
	return values, mat.DenseCopyOf(mat.NewDense(c, n, z).T()), rescale(values, sign*scale)
}

// Least returns the smallest of the n eigenvalues of a, as Smallest has it.
func Least(ctx context.Context, a *mat.SymDense) (float64, error) {
	values, _, err := Smallest(ctx, a, 1)
	if err != nil {
		return 0, err
	}
	return values[0], nil
}

// scaled returns what the reductions read of sign·a, brought near 1 by a power of 2, and
// that power.
func scaled(a *mat.SymDense, sign float64) (out *square, scale float64, err error) {
	largest, err := largestOf(a)
	if err != nil {
		return nil, 0, err
	}
	n, raw := a.SymmetricDim(), a.RawSymmetric()
	scale = 1
	if largest > 0 {
		scale = powerOf2(largest)
	}
	out = newSquare(n)
	for i := range n {
		for j, x := range raw.Data[i*raw.Stride+i : i*raw.Stride+n] {
			out.data[i*out.size+i+j] = x * (sign / scale)
		}
	}
	return out, scale, nil
}
