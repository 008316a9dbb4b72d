package simd

import "math"

// LogSum returns Σ x·log y for x ≥ 0 and y > 0, where 0·log 0 is 0, in eight lanes.
func LogSum(y, x []float64) float64 {
	x = x[:len(y)]
	var sums [8]float64
	n := logSum(y, x, &sums)
	for ; n < whole(len(y)); n += 8 {
		for l := range sums {
			sums[l] = fma(logarithm(y[n+l]), x[n+l], sums[l])
		}
	}
	sum := sumOfLanes(&sums)
	for ; n < len(y); n++ {
		sum += x[n] * logarithm(y[n])
	}
	return sum
}

// logarithm is the logarithm of a normal x > 0 to about an ulp: that of the power of 2, and a series between √½
// and √2. Below the normal numbers it is about −709; its factor is then 0 or of no account.
func logarithm(x float64) float64 {
	bits := math.Float64bits(x) + logShift
	exponent := float64(int(bits>>52) - 1023)
	f := math.Float64frombits(bits&(1<<52-1)+logRootHalf) - 1
	series := logSeries[len(logSeries)-1]
	for i := len(logSeries) - 2; i >= 0; i-- {
		series = fma(series, f, logSeries[i])
	}
	return fma(exponent, math.Ln2, fma(series, f*f, f))
}

const (
	logRootHalf = 0x3fe6a09e667f3bcd // bits of √½
	logShift    = 0x3ff0000000000000 - logRootHalf
)

// logSeries are the coefficients of (log(1+f) − f)/f², from that of f⁰ on. tools/kernels has the same.
var logSeries = [...]float64{
	-0.5, 0.3333333333333326, -0.24999999999992914, 0.2000000000003205, -0.16666666668629757,
	0.1428571428268799, -0.1249999978954668, 0.11111111107647632, -0.10000011277649974,
	0.09090921328672855, -0.0833299913609137, 0.076916546465268, -0.07148420480023412,
	0.06682375886233116, -0.062025600107261776, 0.05686585537339873, -0.05669643772565927,
	0.06444421108963665, -0.0594377125876568, 0.026259864395059444,
}

// Divide turns each y into x/max(y, floor).
func Divide(y, x []float64, floor float64) {
	x = x[:len(y)]
	for p := divide(y, x, floor); p < len(y); p++ {
		y[p] = x[p] / atLeast(y[p], floor)
	}
}

// Step multiplies z by x/max(y, least). A product that was not above 0 before, or is below floor, is set to 0.
func Step(z, x, y []float64, least, floor float64) {
	x, y = x[:len(z)], y[:len(z)]
	for p, old := range z {
		z[p] = old * (x[p] / atLeast(y[p], least))
		if !(old > 0) || z[p] < floor {
			z[p] = 0
		}
	}
}

// DivideSum is Divide for x ≥ 0, and returns [LogSum] of the new y.
func DivideSum(y, x []float64, floor float64) float64 {
	Divide(y, x, floor)
	return LogSum(y, x)
}

// atLeast is max(x, least), but quicker.
func atLeast(x, least float64) float64 {
	if x < least {
		return least
	}
	return x
}

// Ratios is Dots, Divide and AddRows: y becomes x/max(a·row, floor) of the rows at[0], …, and dst grows by y·row.
func Ratios(dst, a, rows []float64, at []int, x, y []float64, floor float64) {
	Dots(y[:len(at)], a, rows, at)
	Divide(y[:len(at)], x, floor)
	AddRows(dst, y, rows, at)
}
