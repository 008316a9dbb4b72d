package simd

import "math"

// Divide32 is [Divide] in single precision.
func Divide32(y, x []float32, floor float32) {
	x = x[:len(y)]
	for p := range y {
		y[p] = x[p] / max(y[p], floor)
	}
}

// DivideSum32 is [DivideSum] in single precision, whose terms are added in double.
func DivideSum32(y, x []float32, floor float32) float64 {
	x = x[:len(y)]
	sum := 0.0
	for p := range y {
		y[p] = x[p] / max(y[p], floor)
		sum += LogTerm32(y[p], x[p])
	}
	return sum
}

// LogTerm32 is [LogTerm] in single precision.
func LogTerm32(y, x float32) float64 { return float64(x * logarithm32(y)) }

// logarithm32 is the logarithm of a normal x > 0 but for some 1e-7 of it: that of the power of 2,
// and a series for the rest, which lies between √½ and √2 (Moshier, Cephes, logf). From 0 to the
// normal numbers it is about −88; the value that this is times is then 0 or of no account.
func logarithm32(x float32) float32 {
	bits := math.Float32bits(x) + (oneBits - rootHalfBits)
	exponent := float32(int(bits>>23) - 127)
	f := math.Float32frombits(bits&(1<<23-1)+rootHalfBits) - 1
	series := logSeries32[0]
	for _, c := range logSeries32[1:] {
		series = series*f + c
	}
	return series*(f*f) + f + exponent*math.Ln2
}

const (
	oneBits      = 0x3f800000
	rootHalfBits = 0x3f3504f3
)

// logSeries32 are the coefficients of (log(1+f) − f)/f², that of the highest power first.
var logSeries32 = [...]float32{
	7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
	-1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1, -0.5,
}
