// Package blas multiplies matrices and solves triangular equations. A product gives the same bytes on any number
// of cores and on every processor: each of its numbers is added up in the order of the depth, 256 terms at a
// time, with one rounding for a multiplication and its addition.
package blas

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/simd"
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

// Number is what matrices hold.
type Number = simd.Number

// Of is a matrix in rows, of either precision; a Matrix converts to one.
type Of[T Number] struct {
	Rows, Cols int
	Data       []T
	Stride     int
}

// Multiply computes c = alpha·op(a)·op(b) + beta·c, a large one on all cores that are free.
// c shares no memory with a and b. The bytes do not depend on the number of cores.
func Multiply[T Number](tA, tB Transpose, alpha T, a, b Of[T], beta T, c Of[T]) {
	multiply(parallel.Few, operand[T]{tA, a}, operand[T]{tB, b}, alpha, beta, c)
}

// MultiplyAlone is Multiply on the caller's core alone, for a caller that splits work itself.
func MultiplyAlone[T Number](tA, tB Transpose, alpha T, a, b Of[T], beta T, c Of[T]) {
	multiply(math.MaxInt, operand[T]{tA, a}, operand[T]{tB, b}, alpha, beta, c)
}

// Gemm is Multiply in double precision.
func Gemm(tA, tB Transpose, alpha float64, a, b Matrix, beta float64, c Matrix) {
	Multiply(tA, tB, alpha, Of[float64](a), Of[float64](b), beta, Of[float64](c))
}
