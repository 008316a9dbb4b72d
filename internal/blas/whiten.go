package blas

import (
	"context"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

// Whiten turns the upper triangle of a symmetric a, n×n, into that of u⁻ᵀ·a·u⁻¹, u upper triangular, which
// a·v = λ·uᵀu·v is the eigenproblem of (LAPACK's sygst), in n³/2 multiplications. It reads only that
// triangle; what it leaves below the diagonal is open. Nearly all of it is products of matrices, on all
// cores that are free.
func Whiten(a Matrix, u blas64.Triangular) {
	if u.N <= leaf {
		Mirror(a)
		Trsm(Left, Trans, u, a)
		Trsm(Right, NoTrans, u, a)
		return
	}
	// With C₁₁ = U₁₁⁻ᵀA₁₁U₁₁⁻¹, H = ½C₁₁U₁₂ and X = U₁₁⁻ᵀA₁₂ − H it is C₁₂ = (X − H)U₂₂⁻¹, and C₂₂ that of
	// A₂₂ − XᵀU₁₂ − U₁₂ᵀX.
	first, last, u12 := divide(u)
	a11, a12, a22 := parts(a, first.N)
	Whiten(a11, first)
	Mirror(a11)
	Trsm(Left, Trans, first, a12)
	half := Matrix{Rows: first.N, Cols: last.N, Stride: last.N, Data: make([]float64, first.N*last.N)}
	Gemm(NoTrans, NoTrans, 0.5, a11, u12, 0, half)
	subtract(a12, half)
	MultiplyUpper(context.Background(), Trans, NoTrans, -1, a12, u12, 1, a22)
	MultiplyUpper(context.Background(), Trans, NoTrans, -1, u12, a12, 1, a22)
	subtract(a12, half)
	Trsm(Right, NoTrans, last, a12)
	Whiten(a22, last)
}

// subtract takes b from a.
func subtract(a, b Matrix) {
	for i := range a.Rows {
		floats.Sub(a.Data[i*a.Stride:][:a.Cols], b.Data[i*b.Stride:][:b.Cols])
	}
}
