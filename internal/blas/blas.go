package blas

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed4492f2cd/partwise/internal/parallel"
)

// Matrix is a matrix in rows, as mat.Dense.RawMatrix returns one.
type Matrix = blas64.General

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

// Of is a matrix in rows, of either precision; a Matrix converts to one.
type Of[T Number] struct {
	Rows, Cols int
	Data       []T
	Stride     int
}

// Multiply computes c = alpha·op(a)·op(b) + beta·c, a large one on all cores that are free.
// c shares no memory with a and b. The bytes do not depend on the number of cores.
func Multiply[T Number](tA, tB Transpose, alpha T, a, b Of[T], beta T, c Of[T]) {
	multiplyOf(parallel.Few, tA, tB, alpha, a, b, beta, c)
}

// MultiplyAlone is Multiply on the caller's core alone, for a caller that splits work itself.
func MultiplyAlone[T Number](tA, tB Transpose, alpha T, a, b Of[T], beta T, c Of[T]) {
	multiplyOf(math.MaxInt, tA, tB, alpha, a, b, beta, c)
}

func multiplyOf[T Number](few int, tA, tB Transpose, alpha T, a, b Of[T], beta T, c Of[T]) {
	k := a.Cols
	if tA != NoTrans {
		k = a.Rows
	}
	multiply(few, tA, tB, c.Rows, c.Cols, k, alpha, a.Data, max(1, a.Stride), b.Data, max(1, b.Stride), beta, c.Data, max(1, c.Stride))
}

// Gemm is Multiply in double precision.
func Gemm(tA, tB Transpose, alpha float64, a, b Matrix, beta float64, c Matrix) {
	Multiply(tA, tB, alpha, Of[float64](a), Of[float64](b), beta, Of[float64](c))
}

// Gemv computes y = alpha·op(a)·x + beta·y, on one core.
func Gemv(tA Transpose, alpha float64, a Matrix, x []float64, beta float64, y []float64) {
	ours.Dgemv(tA, a.Rows, a.Cols, alpha, a.Data, max(1, a.Stride), x, 1, beta, y, 1)
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
