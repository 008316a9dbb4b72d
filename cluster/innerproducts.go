package cluster

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// innerProducts returns x·xᵀ, n×n, of x, n×m, dense or a *sparse.CSR; other matrices
// are copied. A sample whose inner product with itself is beyond what a float64 holds
// is an error. It takes O(n²m) time and returns when ctx ends. The algorithm that asks
// holds this number of n×n matrices, the answer among them, which must fit into the
// memory that the context allows.
func innerProducts(ctx context.Context, x mat.Matrix, matrices int) (*mat.SymDense, error) {
	n, m := x.Dims()
	if err := memory.FromContext(ctx).Check(8*int64(matrices)*int64(n)*int64(n), fmt.Sprintf("the inner products of %d samples", n)); err != nil {
		return nil, err
	}
	s, isSparse := x.(*sparse.CSR)
	if !isSparse {
		d, isDense := x.(*mat.Dense)
		if !isDense {
			d = mat.DenseCopyOf(x)
		}
		return guard.Interruptible(ctx, func() (*mat.SymDense, error) {
			out := mat.NewSymDense(n, nil)
			blas.Syrk(d.RawMatrix(), out.RawSymmetric())
			return out, checkSquares(d, out)
		})
	}
	out := mat.NewSymDense(n, nil)
	row := make([]float64, m)
	for i := range n {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		row := csr{s}.row(i, row)
		for b := range i + 1 {
			var sum float64
			columns, values := s.Row(b)
			for p, j := range columns {
				sum += values[p] * row[j]
			}
			out.SetSym(i, b, sum)
		}
	}
	return out, checkSquares(x, out)
}

// checkSquares reports a sample whose inner product with itself runs over or under what
// a float64 holds.
func checkSquares(x mat.Matrix, products *mat.SymDense) error {
	n, m := x.Dims()
	for i := range n {
		square := products.At(i, i)
		if square >= 1e-280 && !math.IsInf(square, 1) {
			continue
		}
		for j := range m {
			if v := x.At(i, j); v != 0 {
				return fmt.Errorf("sample %d: values such as %v have no inner products", i+1, v)
			}
		}
	}
	return nil
}
