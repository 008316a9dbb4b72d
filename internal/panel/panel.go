// Package panel compares rows with points a panel of rows at a time: one matrix product for a panel, of which
// distances and scores are made while it is in the cache.
package panel

import (
	"context"

	"github.com/seed4492f2cd/partwise/internal/blas"
)

// Each calls f for one panel of the n rows after another, of size rows but for the last, until one is an error
// or ctx ends.
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

// Dots writes the inner products of the rows of x from lo to hi with all points to out, (hi−lo)×points.
func Dots[T blas.Number](out []T, x blas.Of[T], lo, hi int, points blas.Of[T]) {
	x.Rows, x.Data = hi-lo, x.Data[lo*x.Stride:]
	blas.Multiply(blas.NoTrans, blas.Trans, 1, x, points, 0, blas.Of[T]{Rows: x.Rows, Cols: points.Rows, Stride: points.Rows, Data: out})
}

// Scores turns the inner products of rows x with points y into halves − xᵀy, which with halves of ½‖y‖² orders
// the points as ‖x − y‖² does.
func Scores[T blas.Number](products, halves []T) {
	for ; len(products) > 0; products = products[len(halves):] {
		for j, half := range halves {
			products[j] = half - products[j]
		}
	}
}

// Squared is ‖x − y‖² of ‖x‖², ‖y‖² and xᵀy, never below 0.
func Squared(x, y, product float64) float64 { return max(x+y-2*product, 0) }
