package blas

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

// Cholesky returns u, upper triangular, with a = uᵀu, of a symmetric a, n×n, of which it reads the upper
// triangle and which it overwrites; ok is false where a is not positive definite. Nearly all of it is
// products of matrices, on all cores that are free.
func Cholesky(a Matrix) (u blas64.Triangular, ok bool) {
	u = blas64.Triangular{Uplo: blas.Upper, Diag: blas.NonUnit, N: a.Rows, Stride: a.Stride, Data: a.Data}
	return u, factorise(u)
}

// factorise is Cholesky of a triangle.
func factorise(a blas64.Triangular) (ok bool) {
	if a.N <= leaf {
		return factoriseLeaf(a)
	}
	first, last, corner := divide(a)
	if !factorise(first) {
		return false
	}
	Trsm(Left, Trans, first, corner)
	MultiplyUpper(context.Background(), Trans, NoTrans, -1, corner, corner, 1, Matrix{Rows: last.N, Cols: last.N, Stride: last.Stride, Data: last.Data})
	return factorise(last)
}

func factoriseLeaf(a blas64.Triangular) (ok bool) {
	for i := range a.N {
		row := a.Data[i*a.Stride:][i:a.N]
		if !(row[0] > 0) {
			return false
		}
		floats.Scale(1/math.Sqrt(row[0]), row)
		for j := 1; j < len(row); j++ {
			floats.AddScaled(a.Data[(i+j)*a.Stride:][i+j:a.N], -row[j], row[j:])
		}
	}
	return true
}
