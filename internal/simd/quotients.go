package simd

import "math"

// LogSum returns Σ x·log y for x ≥ 0 and y > 0, with 0·log 0 = 0, in eight lanes.
func LogSum(y, x []float64) float64 {
	x = x[:len(y)]
	var sums [8]float64
	n := logSum(y, x, &sums)
	for ; n < roundDown8(len(y)); n += 8 {
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

// logarithm returns the natural logarithm of a normal x > 0 to about 1 ulp: the exponent's part plus a series between
// √½ and √2. For subnormal x it returns about −709, whose factor is then 0 or negligible.
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

// logRootHalf has the bits of √½, and logShift the bits of 1 minus these.
const logRootHalf, logShift = 0x3fe6a09e667f3bcd, 0x3ff0000000000000 - logRootHalf

// logSeries holds the coefficients of (log(1+f) − f)/f², from f⁰ on.
var logSeries = (*[20]float64)(logConstants[7:])

// logConstants holds the numbers that the assembly of LogSum reads.
var logConstants = [27]float64{
	math.Float64frombits(logShift), math.Float64frombits(1<<52 - 1), math.Float64frombits(logRootHalf),
	1, 0x1p52, 0x1p52 + 1023, math.Ln2,
	-0.5, 0.3333333333333326, -0.24999999999992914, 0.2000000000003205, -0.16666666668629757,
	0.1428571428268799, -0.1249999978954668, 0.11111111107647632, -0.10000011277649974,
	0.09090921328672855, -0.0833299913609137, 0.076916546465268, -0.07148420480023412,
	0.06682375886233116, -0.062025600107261776, 0.05686585537339873, -0.05669643772565927,
	0.06444421108963665, -0.0594377125876568, 0.026259864395059444,
}

// Divide replaces each y by x/max(y, floor).
func Divide(y, x []float64, floor float64) {
	x = x[:len(y)]
	for p, v := range y {
		y[p] = x[p] / atLeast(v, floor)
	}
}

// Step multiplies z by x/max(y, least). A result below floor, or of z not above 0, is set to 0.
func Step(z, x, y []float64, least, floor float64) {
	x, y = x[:len(z)], y[:len(z)]
	for p, old := range z {
		z[p] = old * (x[p] / atLeast(y[p], least))
		if !(old > 0) || z[p] < floor {
			z[p] = 0
		}
	}
}

// DivideSum is Divide for x ≥ 0. It returns [LogSum] of the new y.
func DivideSum(y, x []float64, floor float64) float64 {
	Divide(y, x, floor)
	return LogSum(y, x)
}

// atLeast is a faster max(x, least) without NaN semantics.
func atLeast(x, least float64) float64 {
	if x < least {
		return least
	}
	return x
}

// Ratios sets y to x/max(a·row, floor) for the rows at[0], … of rows, and adds Σ y·row to dst.
func Ratios(dst, a, rows []float64, at []int, x, y []float64, floor float64) {
	Dots(y[:len(at)], a, rows, at)
	Divide(y[:len(at)], x, floor)
	AddRows(dst, y, rows, at)
}
