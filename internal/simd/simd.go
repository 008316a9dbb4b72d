// Package simd holds the loops in which most of the time goes: products of matrices, rows that sparse
// data pick, ratios and logarithms of the divergence, coordinate descent, and convolutions.
//
// Each loop stands here in plain Go. Where the processor has AVX2 and FMA, or AVX-512, assembly takes its
// place, which tools/kernels writes for both from one description. All give the same bytes on every
// processor: they multiply and add in one rounding, a sum has a fixed order or a fixed number of lanes, and
// what a register holds changes neither.
package simd

//go:generate go run -C ../../tools ./kernels -pkg simd -out ../internal/simd/kernels_amd64.s -stubs ../internal/simd/kernels_amd64.go

import (
	"math"
	"unsafe"
)

// Number is what matrices hold.
type Number interface{ float32 | float64 }

// fma returns x·y + z, rounded once.
func fma[T Number](x, y, z T) T {
	if unsafe.Sizeof(x) == 8 {
		return T(math.FMA(float64(x), float64(y), float64(z)))
	}
	return T(fma32(float32(x), float32(y), float32(z)))
}

// fma32 adds the product, which is exact in double precision, and rounds the sum to odd where it is not exact, so
// that rounding it once more gives what one rounding gives (Boldo and Melquiond 2008).
func fma32(x, y, z float32) float32 {
	product, addend := float64(x)*float64(y), float64(z)
	sum := product + addend
	bits := math.Float64bits(sum)
	// Away from the middle between two normal numbers the second rounding does no harm.
	if bits&(1<<29-1) != 1<<28 && math.Abs(sum) >= 0x1p-126 || sum != sum || math.IsInf(sum, 0) {
		return float32(sum)
	}
	part := sum - product
	rest := (product - (sum - part)) + (addend - part)
	if rest != 0 && bits&1 == 0 {
		if (rest > 0) == (sum > 0) {
			bits++
		} else {
			bits--
		}
	}
	return float32(math.Float64frombits(bits))
}

// whole is how many of n numbers loops take that go on by eight.
func whole(n int) int { return n &^ 7 }

// sumOfLanes adds the first half of the lanes to the second, and so on.
func sumOfLanes(s *[8]float64) float64 {
	return ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]))
}
