package factor

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/eigen"
	"github.com/seed4492f2cd/partwise/internal/rng"
)

// leadingSVD returns the k leading singular triplets of x: left vectors k×n,
// singular values, right vectors k×m, both transposed. It iterates a
// subspace a little larger than k, which takes products with x only, so that
// sparse data stays sparse, until the values change no more. Those below 1e-7 of the largest
// always do: they are roots of what rounding leaves of 0.
func leadingSVD(ctx context.Context, x view.Data, k int) (left *mat.Dense, sigma []float64, right *mat.Dense, err error) {
	n, m := x.Dims()
	size := min(k+10, n, m)
	src := rng.New(0, "subspace")
	q := mat.NewDense(size, n, nil)
	for r := range size {
		row := q.RawRowView(r)
		for i := range row {
			row[i] = src.NormFloat64()
		}
	}
	b := mat.NewDense(size, m, nil)
	before := make([]float64, size)
	for range 300 {
		if err := ctx.Err(); err != nil {
			return nil, nil, nil, err
		}
		eigen.Orthonormalise(q)
		x.TimesCoefficients(b, q) // qX
		if sigma, err = singularValues(ctx, b); err != nil {
			return nil, nil, nil, err
		}
		still := true
		for r := range k {
			still = still && (math.Abs(sigma[r]-before[r]) <= 1e-12*sigma[0] || max(sigma[r], before[r]) <= 1e-7*sigma[0])
		}
		copy(before, sigma)
		if still {
			break
		}
		eigen.Orthonormalise(b)
		x.TimesBasis(q, b)
	}
	// qX = P·Σ·Rᵀ, so X ≈ qᵀP·Σ·Rᵀ.
	sigma, p, rt, err := eigen.Singular(ctx, b)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("the leading singular vectors: %w", err)
	}
	left, right = mat.NewDense(k, n, nil), mat.NewDense(k, m, nil)
	algebra.Gemm(left, mat.DenseCopyOf(p.Slice(0, size, 0, k)), algebra.Trans, q, algebra.NoTrans)
	right.Copy(rt.Slice(0, m, 0, k).T())
	return left, sigma[:k], right, nil
}

// singularValues returns the singular values of a, falling, from its k×k inner
// products.
func singularValues(ctx context.Context, a *mat.Dense) ([]float64, error) {
	k, _ := a.Dims()
	g := algebra.SelfGram(a)
	sym := mat.NewSymDense(k, nil)
	for i := range k {
		for j := i; j < k; j++ {
			sym.SetSym(i, j, g.At(i, j))
		}
	}
	values, _, err := eigen.Symmetric(ctx, sym, false)
	if err != nil {
		return nil, fmt.Errorf("the leading singular values: %w", err)
	}
	out := make([]float64, k)
	for i, x := range values {
		out[k-1-i] = math.Sqrt(max(x, 0))
	}
	return out, nil
}
