// Package simd implements the most time-critical loops: matrix products, gathered rows of sparse data, ratios and
// logarithms of the divergence, coordinate descent, and convolutions.
//
// Each loop has a plain Go version. On processors with AVX2 and FMA, or with AVX-512, it is replaced by assembly,
// which tools/kernels generates for both from one description. All versions are bit-identical: they use fused
// multiply-adds, and every sum has a fixed order or a fixed number of lanes, whatever the width of registers.
package simd

//go:generate go run -C ../../tools ./kernels -pkg simd -out ../internal/simd/kernels_amd64.s -stubs ../internal/simd/kernels_amd64.go

import (
	"math"
	"unsafe"
)

// Number is the element type of matrices.
type Number interface{ float32 | float64 }

// fma returns x·y + z with a single rounding.
func fma[T Number](x, y, z T) T {
	if unsafe.Sizeof(x) == 8 {
		return T(math.FMA(float64(x), float64(y), float64(z)))
	}
	return T(fma32(float32(x), float32(y), float32(z)))
}

// fma32 emulates a single-precision fused multiply-add. The product is exact in double precision. An inexact sum is
// rounded to odd, so that the second rounding gives the correct result (Boldo and Melquiond 2008).
func fma32(x, y, z float32) float32 {
	product, addend := float64(x)*float64(y), float64(z)
	sum := product + addend
	bits := math.Float64bits(sum)
	// Double rounding is harmless unless the sum is midway between two normal numbers.
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

// roundDown8 returns n rounded down to a multiple of 8.
func roundDown8(n int) int { return n &^ 7 }

// sumOfLanes returns the sum of the lanes in the order of a tree reduction.
func sumOfLanes(s *[8]float64) float64 {
	return ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]))
}
