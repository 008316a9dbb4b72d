package simd

import (
	"math"

	"golang.org/x/sys/cpu"
)

var fast = cpu.X86.HasAVX2 && cpu.X86.HasFMA

// dots and the other three do the first values of what their namesakes do, a
// multiple of four, and return how many.
func dots(dst, a, rows []float64, at []int) int {
	n := len(at) &^ 3
	if !fast || n == 0 || len(a) == 0 {
		return 0
	}
	dotsAVX2(&dst[0], &a[0], &rows[0], &at[0], n, len(a))
	return n
}

func addRows(dst, weights, rows []float64, at []int) int {
	n := len(at) &^ 3
	if !fast || n == 0 || len(dst) == 0 {
		return 0
	}
	addRowsAVX2(&dst[0], &weights[0], &rows[0], &at[0], n, len(dst))
	return n
}

func divide(y, x []float64, floor float64) int {
	n := len(y) &^ 3
	if !fast || n == 0 {
		return 0
	}
	divideAVX2(&y[0], &x[0], n, floor)
	return n
}

func divideSum(y, x []float64, floor float64) (int, float64) {
	n := len(y) &^ 3
	if !fast || n == 0 {
		return 0, 0
	}
	if wide && n%8 == 0 { // as it is in tiles
		return n, divideSumAVX512(&y[0], &x[0], n, floor, &constants[0], &logTable[0].inverse)
	}
	return n, divideSumAVX2(&y[0], &x[0], n, floor, &constants[0], &logTable[0].inverse)
}

// prefetch does not wait for what it asks for.
func prefetch(x []float64) {
	if n := len(x) &^ 7; n > 0 {
		prefetchLines(&x[0], n)
	}
}

//go:noescape
func prefetchLines(x *float64, n int)

// The assembly of the others, of n a multiple of 4 above 0.

//go:noescape
func dotsAVX2(dst, a, rows *float64, at *int, n, width int)

//go:noescape
func addRowsAVX2(dst, weights, rows *float64, at *int, n, width int)

//go:noescape
func divideAVX2(y, x *float64, n int, floor float64)

//go:noescape
func divideSumAVX2(y, x *float64, n int, floor float64, constants, table *float64) float64

//go:noescape
func divideSumAVX512(y, x *float64, n int, floor float64, constants, table *float64) float64

// constants are those of logarithm, in the order in which the assembly has them.
// The bits of a whole number below 2^52 put into those of 2^52 are their sum.
var constants = [...]float64{
	0x1p52, 0x1p52 + 1023,
	math.Float64frombits(1<<logBits - 1), math.Float64frombits(1<<52 - 1),
	1, math.Ln2, 1.0 / 2, 1.0 / 3, 1.0 / 4, 1.0 / 5, 1.0 / 6,
}
