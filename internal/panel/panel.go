// Package panel compares rows with points in panels of rows: one matrix product per panel, from which distances and
// scores are computed while it is cached.
package panel

import (
	"context"

	"github.com/seed4492f2cd/partwise/internal/blas"
)

// Each calls f for successive panels of size of the n rows, until f returns an error or ctx ends.
func Each(ctx context.Context, n, size int, f func(lo, hi int) error) error {
	for lo := 0; lo < n; lo += size {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := f(lo, min(lo+size, n)); err != nil {
			return err
		}
	}
	return nil
}

// Dots writes the inner products of rows lo to hi−1 of x with all points to out, (hi−lo)×points.
func Dots[T blas.Number](out []T, x blas.Of[T], lo, hi int, points blas.Of[T]) {
	x.Rows, x.Data = hi-lo, x.Data[lo*x.Stride:]
	blas.Multiply(blas.NoTrans, blas.Trans, 1, x, points, 0, blas.Of[T]{Rows: x.Rows, Cols: points.Rows, Stride: points.Rows, Data: out})
}

// Scores turns inner products xᵀy into halves − xᵀy. With halves = ½‖y‖², scores have the order of ‖x − y‖² for each
// x.
func Scores[T blas.Number](products, halves []T) {
	for ; len(products) > 0; products = products[len(halves):] {
		for j, half := range halves {
			products[j] = half - products[j]
		}
	}
}

// Squared returns ‖x − y‖², at least 0, from ‖x‖², ‖y‖² and xᵀy.
func Squared(x, y, product float64) float64 { return max(x+y-2*product, 0) }
