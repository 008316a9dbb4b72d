package blas

import (
	"context"

	"github.com/seed4492f2cd/partwise/internal/parallel"
)

// MultiplyUpper computes the upper triangle of c = alpha·op(a)·op(b) + beta·c, such as what is symmetric
// needs, on all cores that are free, and returns soon after ctx ends, with its error. What it leaves below
// the diagonal is open. c shares no memory with a and b. The bytes do not depend on the number of cores.
func MultiplyUpper(ctx context.Context, tA, tB Transpose, alpha float64, a, b Matrix, beta float64, c Matrix) error {
	const width = 192 // columns at a time
	parallel.Do(parallel.Count(c.Cols, width), func(i int) {
		if ctx.Err() != nil {
			return
		}
		lo, hi := i*width, min((i+1)*width, c.Cols)
		left, right := operand[float64]{tA, Of[float64](a)}, operand[float64]{tB, Of[float64](b)}
		gemm(left.rows(0, hi), right.columns(lo, hi), alpha, beta, operand[float64]{NoTrans, Of[float64](c)}.rows(0, hi).columns(lo, hi).x)
	})
	return ctx.Err()
}

// Mirror copies the upper triangle of a, n×n, to below the diagonal.
func Mirror(a Matrix) {
	for i := range a.Rows {
		for j := range i {
			a.Data[i*a.Stride+j] = a.Data[j*a.Stride+i]
		}
	}
}
