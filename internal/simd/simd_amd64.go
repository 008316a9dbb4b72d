package simd

import (
	"math"
	"unsafe"

	"golang.org/x/sys/cpu"
)

var fast = cpu.X86.HasAVX2 && cpu.X86.HasFMA

// registerLength is how many numbers a register holds.
func registerLength() int {
	if wide {
		return 8
	}
	return 4
}

// four are the last values that a row picks, fewer than four, with zeros that pick the last row
// once more behind them.
type four struct {
	at   [4]int
	x, y [4]float64
}

func lastFour(at []int, x []float64) (f four) {
	for p := range f.at {
		f.at[p] = at[min(p, len(at)-1)]
	}
	copy(f.x[:], x)
	return f
}

// dots, addRows and ratios do what their namesakes do and return how many values, all or none.
func dots(dst, a, rows []float64, at []int) int {
	if !fast || len(a) == 0 {
		return 0
	}
	n := len(at) &^ 3
	if n > 0 {
		dotsAVX2(&dst[0], &a[0], &rows[0], &at[0], n, len(a))
	}
	if n < len(at) {
		f := lastFour(at[n:], nil)
		dotsAVX2(&f.y[0], &a[0], &rows[0], &f.at[0], 4, len(a))
		copy(dst[n:], f.y[:len(at)-n])
	}
	return len(at)
}

func addRows(dst, weights, rows []float64, at []int) int {
	if !fast || len(dst) == 0 {
		return 0
	}
	n := len(at) &^ 3
	if n > 0 {
		addFours(&dst[0], &weights[0], &rows[0], &at[0], n, len(dst))
	}
	if n < len(at) {
		f := lastFour(at[n:], weights[n:])
		addFours(&dst[0], &f.x[0], &rows[0], &f.at[0], 4, len(dst))
	}
	return len(at)
}

// addFours calls either by its name: what is passed to a function that a variable holds is
// allocated.
func addFours(dst, weights, rows *float64, at *int, n, width int) {
	if held(width) {
		addRowsAVX512(dst, weights, rows, at, n, width)
	} else {
		addRowsAVX2(dst, weights, rows, at, n, width)
	}
}

// held says that registers hold the numbers of four rows of a width, and what they are added to.
func held(width int) bool { return wide && width%8 == 0 && width <= 40 }

func ratios(dst, a, rows []float64, at []int, x, y []float64, floor float64) int {
	if !held(len(a)) || len(a) == 0 {
		return 0
	}
	n := len(at) &^ 3
	if n > 0 {
		ratiosAVX512(&dst[0], &a[0], &rows[0], &at[0], &x[0], &y[0], n, len(a), floor)
	}
	if n < len(at) {
		f := lastFour(at[n:], x[n:])
		ratiosAVX512(&dst[0], &a[0], &rows[0], &f.at[0], &f.x[0], &f.y[0], 4, len(a), floor)
		copy(y[n:], f.y[:len(at)-n])
	}
	return len(at)
}

// divide, step, divideSum and logSum do the first values of what their namesakes do, a multiple of
// four, and return how many.
func divide(y, x []float64, floor float64) int {
	n := len(y) &^ 3
	if !fast || n == 0 {
		return 0
	}
	divideAVX2(&y[0], &x[0], n, floor)
	return n
}

func step(z, x, y []float64, least, floor float64) int {
	n := len(z) &^ 3
	if !fast || n == 0 {
		return 0
	}
	stepAVX2(&z[0], &x[0], &y[0], n, least, floor)
	return n
}

func divideSum(y, x []float64, floor float64) (int, float64) {
	n := len(y) &^ 3
	if !fast || n == 0 {
		return 0, 0
	}
	if wide && n%8 == 0 { // as it is in tiles
		return n, divideSumAVX512(&y[0], &x[0], n, floor, &constants[0], &logTable.inverse[0])
	}
	return n, divideSumAVX2(&y[0], &x[0], n, floor, &constants[0], &logTable.inverse[0])
}

func logSum(y, x []float64) (int, float64) {
	n := len(y) &^ 3
	if !fast || n == 0 {
		return 0, 0
	}
	if wide && n%8 == 0 {
		return n, logSumAVX512(&y[0], &x[0], n, &constants[0], &logTable.inverse[0])
	}
	return n, logSumAVX2(&y[0], &x[0], n, &constants[0], &logTable.inverse[0])
}

// prefetch does not wait for what it asks for: whole lines of 64 bytes.
func prefetch(x unsafe.Pointer, bytes int) {
	if lines := bytes / 64; lines > 0 {
		prefetchLines(x, lines)
	}
}

//go:noescape
func prefetchLines(x unsafe.Pointer, lines int)

// The assembly of the others, of n a multiple of 4 above 0.

//go:noescape
func dotsAVX2(dst, a, rows *float64, at *int, n, width int)

//go:noescape
func addRowsAVX2(dst, weights, rows *float64, at *int, n, width int)

//go:noescape
func addRowsAVX512(dst, weights, rows *float64, at *int, n, width int)

//go:noescape
func ratiosAVX512(dst, a, rows *float64, at *int, x, y *float64, n, width int, floor float64)

//go:noescape
func divideAVX2(y, x *float64, n int, floor float64)

//go:noescape
func stepAVX2(z, x, y *float64, n int, least, floor float64)

//go:noescape
func divideSumAVX2(y, x *float64, n int, floor float64, constants, table *float64) float64

//go:noescape
func divideSumAVX512(y, x *float64, n int, floor float64, constants, table *float64) float64

//go:noescape
func logSumAVX2(y, x *float64, n int, constants, table *float64) float64

//go:noescape
func logSumAVX512(y, x *float64, n int, constants, table *float64) float64

// constants are those of logarithm, in the order in which the assembly has them.
// The bits of a whole number below 2^52 put into those of 2^52 are their sum.
var constants = [...]float64{
	0x1p52, 0x1p52 + 1023,
	math.Float64frombits(1<<logBits - 1), math.Float64frombits(1<<52 - 1),
	1, math.Ln2, 1.0 / 2, 1.0 / 3, 1.0 / 4, 1.0 / 5, 1.0 / 6, 1.0 / 7, 1.0 / 8, 1.0 / 9, 1.0 / 10,
}
