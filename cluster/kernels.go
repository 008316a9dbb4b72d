package cluster

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/panel"
)

// innerProducts returns x·xᵀ, n×n, in O(n²m) time, for an algorithm that holds this number of n×n matrices,
// which must fit into memory. Inner products beyond a float64 are an error.
func innerProducts(ctx context.Context, x mat.Matrix, matrices int) (*mat.SymDense, error) {
	n, m := x.Dims()
	if err := memory.FromContext(ctx).Check(8*int64(matrices)*int64(n)*int64(n), fmt.Sprintf("the inner products of %d samples", n)); err != nil {
		return nil, err
	}
	rows, all := readRows(x), upTo(n)
	out := mat.NewSymDense(n, nil)
	raw := out.RawSymmetric()
	part := make([]float64, panelRows*panelRows)
	points := blas.Matrix{Cols: m, Stride: m, Data: make([]float64, min(panelRows, n)*m)}
	err := panel.Each(ctx, n, panelRows, func(lo, hi int) error {
		points.Rows = hi - lo
		clear(points.Data)
		for i := lo; i < hi; i++ {
			rows.addTo(points.Data[(i-lo)*m:][:m], 1, i)
		}
		// Those of the panel with all rows up to it, which stand above the diagonal.
		return panel.Each(ctx, hi, panelRows, func(first, last int) error {
			rows.dots(part, all[first:last], points)
			for i := first; i < last; i++ {
				for j := max(lo, i); j < hi; j++ {
					raw.Data[i*raw.Stride+j] = part[(i-first)*points.Rows+j-lo]
				}
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	for i := range n {
		square, length := out.At(i, i), norm(rows.values(i))
		if length != 0 && (!(square >= 1e-280) || math.IsInf(square, 1)) {
			return nil, fmt.Errorf("sample %d: values of length %v have no inner products", i+1, length)
		}
	}
	return out, nil
}

// onProducts calls fit with the inner products of x: see innerProducts.
func onProducts(ctx context.Context, x mat.Matrix, matrices int, fit func(products mat.Matrix) (*Result, error)) (*Result, error) {
	products, err := innerProducts(ctx, x, matrices)
	if err != nil {
		return nil, err
	}
	return fit(products)
}

// readSymmetric returns a as a symmetric matrix, copied unless it is one, or an error where it is not square,
// finite and symmetric but for rounding.
func readSymmetric(a mat.Matrix) (*mat.SymDense, error) {
	n, c := a.Dims()
	if n != c || n == 0 {
		return nil, fmt.Errorf("a %d×%d matrix does not compare samples with each other", n, c)
	}
	sym, isSym := a.(*mat.SymDense)
	if !isSym {
		sym = mat.NewSymDense(n, nil)
	}
	// What is larger is refused like infinity: its sums could overflow.
	limit := math.MaxFloat64 / 8 / float64(n) / float64(n)
	largest := 0.0
	for i := range n {
		for j := i; j < n; j++ {
			v := a.At(i, j)
			if !(math.Abs(v) <= limit) {
				return nil, fmt.Errorf("row %d, column %d holds the value %v", i+1, j+1, v)
			}
			largest = max(largest, math.Abs(v))
			if !isSym {
				sym.SetSym(i, j, v)
			}
		}
	}
	if isSym {
		return sym, nil
	}
	for i := range n {
		for j := range i {
			if v, w := a.At(i, j), sym.At(j, i); !(math.Abs(v-w) <= 1e-8*largest) {
				return nil, fmt.Errorf("not symmetric: row %d, column %d holds %v and row %d, column %d holds %v", i+1, j+1, v, j+1, i+1, w)
			}
		}
	}
	return sym, nil
}
