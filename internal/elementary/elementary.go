// Package elementary computes exp, log and related functions with bit-identical results on every processor. Package math
// does not guarantee that: on some processors it uses assembly with another order of operations or fused multiply-adds.
// Here a product is converted to float64 before an addition, which prevents the compiler from fusing
// them.
//
// Functions that package math implements only in Go on amd64 and arm64, such as Sin, Atan, Cbrt and Frexp, are not
// repeated.
package elementary

import "math"

// ln 2 = ln2Hi + ln2Lo; products of ln2Hi with exponents are exact.
const (
	ln2Hi = 6.93147180369123816490e-01
	ln2Lo = 1.90821492927058770002e-10
)

// Exp returns e**x with an error below 1 ulp (FreeBSD's e_exp.c, like package math).
func Exp(x float64) float64 {
	const (
		overflow  = 7.09782712893383973096e+02
		underflow = -7.45133219101941108420e+02
	)
	switch {
	case x != x:
		return x
	case x > overflow:
		return math.Inf(1)
	case x < underflow:
		return 0
	case -0x1p-28 < x && x < 0x1p-28:
		return 1 + x
	}
	k := int(float64(math.Log2E*x) + math.Copysign(0.5, x))
	hi := x - float64(float64(k)*ln2Hi)
	lo := float64(float64(k) * ln2Lo)
	r := hi - lo
	t := r * r
	c := r - polynomial(t, 0, 1.66666666666666657415e-01, -2.77777777770155933842e-03,
		6.61375632143793436117e-05, -1.65339022054652515390e-06, 4.13813679705723846039e-08)
	return math.Ldexp(1-((lo-float64(r*c)/(2-c))-hi), k)
}

// Log returns the natural logarithm of x with an error below 1 ulp (FreeBSD's e_log.c, like package math).
func Log(x float64) float64 {
	switch {
	case x != x || math.IsInf(x, 1):
		return x
	case x < 0:
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	}
	fraction, exponent := math.Frexp(x)
	if fraction < math.Sqrt2/2 {
		fraction *= 2
		exponent--
	}
	f, k := fraction-1, float64(exponent)
	s := f / (2 + f)
	s2 := s * s
	s4 := s2 * s2
	odd := float64(s2 * polynomial(s4, 6.666666666666735130e-01, 2.857142874366239149e-01, 1.818357216161805012e-01, 1.479819860511658591e-01))
	even := polynomial(s4, 0, 3.999999999940941908e-01, 2.222219843214978396e-01, 1.531383769920937332e-01)
	half := float64(0.5 * f * f)
	return float64(k*ln2Hi) - ((half - (float64(s*(half+(odd+even))) + float64(k*ln2Lo))) - f)
}

// polynomial returns c[0] + c[1]·x + c[2]·x² + …
func polynomial(x float64, c ...float64) float64 {
	sum := c[len(c)-1]
	for i := len(c) - 2; i >= 0; i-- {
		sum = c[i] + float64(x*sum)
	}
	return sum
}

// Log2 returns the binary logarithm of x. It is exact for powers of 2.
func Log2(x float64) float64 {
	fraction, exponent := math.Frexp(x)
	if fraction < math.Sqrt2/2 { // avoids cancellation for x near 1
		fraction *= 2
		exponent--
	}
	return float64(Log(fraction)*(1/math.Ln2)) + float64(exponent)
}

// Log1p returns log(1 + x), accurate for x near 0 (Kahan).
func Log1p(x float64) float64 {
	u := 1 + x
	if u == 1 || math.IsInf(u, 1) {
		return x
	}
	return float64(Log(u) * (x / (u - 1)))
}

// Expm1 returns e**x − 1, accurate for x near 0 (Kahan).
func Expm1(x float64) float64 {
	u := Exp(x)
	if u == 1 {
		return x
	}
	v := u - 1
	if v == -1 || math.IsInf(u, 1) {
		return v
	}
	return float64(v * (x / Log(u)))
}

// Tanh returns the hyperbolic tangent of x.
func Tanh(x float64) float64 {
	if math.Abs(x) > 20 {
		return math.Copysign(1, x)
	}
	t := Expm1(2 * math.Abs(x))
	return math.Copysign(t/(t+2), x)
}

// Hypot returns √(x² + y²) without intermediate overflow.
func Hypot(x, y float64) float64 {
	x, y = math.Abs(x), math.Abs(y)
	switch {
	case math.IsInf(x, 1) || math.IsInf(y, 1):
		return math.Inf(1)
	case x < y:
		x, y = y, x
	}
	if x == 0 {
		return y // 0 or NaN
	}
	r := y / x
	return float64(x * math.Sqrt(1+float64(r*r)))
}

// Pow returns x**y by the algorithm of math.Pow, with the same special cases.
func Pow(x, y float64) float64 {
	whole, part := math.Modf(math.Abs(y))
	switch {
	case x == 1 || y == 0 || y == 1 || x != x || y != y || x == 0 || math.IsInf(x, 0) || math.IsInf(y, 0),
		x < 0 && part != 0, whole >= 1<<53, math.Abs(y) == 0.5:
		return math.Pow(x, y) // does not use Exp or Log here
	}
	if part > 0.5 {
		part--
		whole++
	}
	product, exponent := 1.0, 0
	if part != 0 {
		product = Exp(part * Log(x))
	}
	// Binary exponentiation by the bits of whole, with mantissas and exponents separate.
	square, e := math.Frexp(x)
	for i := int64(whole); i != 0; i >>= 1 {
		if e < -1<<12 || 1<<12 < e {
			exponent += e
			break
		}
		if i&1 == 1 {
			product *= square
			exponent += e
		}
		square *= square
		e <<= 1
		if square < 0.5 {
			square *= 2
			e--
		}
	}
	if y < 0 {
		product, exponent = 1/product, -exponent
	}
	return math.Ldexp(product, exponent)
}
