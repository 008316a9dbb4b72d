package blas

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// Matrix and Matrix32 are matrices in rows, as mat.Dense.RawMatrix returns one.
type (
	Matrix   = blas64.General
	Matrix32 = blas32.General
)

// Transpose says whether a factor is transposed.
type Transpose = blas.Transpose

// How a factor, or a side of an equation, is meant.
const (
	NoTrans = blas.NoTrans
	Trans   = blas.Trans
	Left    = blas.Left
	Right   = blas.Right
)

// library is what a build multiplies with.
type library interface {
	blas.Float64
	blas.Float32
}

// Gemm computes c = alpha·op(a)·op(b) + beta·c, a large one on all cores that are free.
// c shares no memory with a and b. The bytes do not depend on the number of cores.
func Gemm(tA, tB Transpose, alpha float64, a, b Matrix, beta float64, c Matrix) {
	k := a.Cols
	if tA != NoTrans {
		k = a.Rows
	}
	shared{ours}.Dgemm(tA, tB, c.Rows, c.Cols, k, alpha, a.Data, max(1, a.Stride), b.Data, max(1, b.Stride), beta, c.Data, max(1, c.Stride))
}

// Gemm32 is Gemm in single precision.
func Gemm32(tA, tB Transpose, alpha float32, a, b Matrix32, beta float32, c Matrix32) {
	k := a.Cols
	if tA != NoTrans {
		k = a.Rows
	}
	shared{ours}.Sgemm(tA, tB, c.Rows, c.Cols, k, alpha, a.Data, max(1, a.Stride), b.Data, max(1, b.Stride), beta, c.Data, max(1, c.Stride))
}

// Trsm solves op(a)·x = b, or x·op(a) = b with a on the right, and writes x to b.
func Trsm(side blas.Side, tA Transpose, a blas64.Triangular, b Matrix) {
	ours.Dtrsm(side, a.Uplo, tA, a.Diag, b.Rows, b.Cols, 1, a.Data, max(1, a.Stride), b.Data, max(1, b.Stride))
}

// Syrk adds a·aᵀ to c.
func Syrk(a Matrix, c blas64.Symmetric) {
	ours.Dsyrk(c.Uplo, NoTrans, c.N, a.Cols, 1, a.Data, max(1, a.Stride), 1, c.Data, max(1, c.Stride))
}

// UseForProcess makes this library the one of every call to gonum's BLAS in the
// process. gonum's LAPACK, which factorises matrices for internal/eigen and factor,
// multiplies with that one and cannot be given another, so that its speed and last
// digits follow it. It is for programs, before they compute anything: a package
// must not decide this for its users.
func UseForProcess() {
	blas64.Use(shared{ours})
	blas32.Use(shared{ours})
}
