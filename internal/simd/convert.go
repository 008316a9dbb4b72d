package simd

import "math"

// Least32 is what [ToSingle] takes for 0 what is below: products of two numbers above it, or the
// quotient of one by another, have all digits of single precision or nearly so.
const Least32 = 0x1p-60

// ToSingle writes x·scale in single precision, 0 in place of what is below Least32. dst is as long as x.
func ToSingle(dst []float32, x []float64, scale float64) {
	dst = dst[:len(x)]
	for i := range x {
		v := x[i] * scale
		if math.Abs(v) < Least32 {
			v = 0
		}
		dst[i] = float32(v)
	}
}

// ToDouble writes x·scale in double precision. dst is as long as x.
func ToDouble(dst []float64, x []float32, scale float64) {
	dst = dst[:len(x)]
	for i := range x {
		dst[i] = float64(x[i]) * scale
	}
}

// Largest returns the largest absolute value, 0 of none.
func Largest(x []float64) float64 {
	most := 0.0
	for _, v := range x {
		most = max(most, math.Abs(v))
	}
	return most
}
