package simd

import "math"

// divide32 and divideSum32 do the first numbers of what their namesakes do, a multiple of
// Lanes32, and return how many.
func divide32(y, x []float32, floor float32) int {
	n := len(y) / Lanes32 * Lanes32
	if !fast || n == 0 {
		return 0
	}
	divide32AVX2(&y[0], &x[0], n, floor)
	return n
}

func divideSum32(y, x []float32, floor float32) (int, float64) {
	n := len(y) / Lanes32 * Lanes32
	if !fast || n == 0 {
		return 0, 0
	}
	return n, divideSum32AVX2(&y[0], &x[0], n, floor, &logConstants[0])
}

// logConstants are those of logarithm32 in the order in which the assembly has them, each as
// often as a register holds numbers.
var logConstants = func() (lanes [15][Lanes32]float32) {
	fill := func(i int, x float32) {
		for l := range lanes[i] {
			lanes[i][l] = x
		}
	}
	for i, bits := range []uint32{oneBits - rootHalfBits, rootHalfBits, 1<<23 - 1, 127} {
		fill(i, math.Float32frombits(bits))
	}
	fill(4, math.Ln2)
	for i, c := range logSeries {
		fill(5+i, c)
	}
	return lanes
}()

//go:noescape
func divide32AVX2(y, x *float32, n int, floor float32)

//go:noescape
func divideSum32AVX2(y, x *float32, n int, floor float32, constants *[Lanes32]float32) float64
