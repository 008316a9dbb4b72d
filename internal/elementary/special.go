package elementary

import "math"

// mostTerms bounds the terms of a continued fraction, which needs far fewer.
const mostTerms = 10000

// Erf returns the error function of x with an error of about 1e-15.
func Erf(x float64) float64 {
	if a := math.Abs(x); x == 0 || x != x {
		return x
	} else if a > 2 {
		return math.Copysign(1-Erfc(a), x)
	}
	// 2/√π·exp(−x²)·Σ 2ⁿx²ⁿ⁺¹/(1·3·…·(2n+1)); all terms have the same sign.
	square := float64(x * x)
	sum, term := 0.0, x
	for n := 1; sum+term != sum; n++ {
		sum += term
		term = float64(term * (2 * square / float64(2*n+1)))
	}
	return float64(2 / math.SqrtPi * Exp(-square) * sum)
}

// Erfc returns 1 − Erf(x), with a relative error of about 1e-13 for large x.
func Erfc(x float64) float64 {
	switch {
	case !(x > 2):
		return 1 - Erf(x)
	case x > 30:
		return 0
	}
	// exp(−x²)/√π·1/(x + ½/(x + 1/(x + 1½/(x + …)))), evaluated from the end.
	fraction := x
	for n := 100; n > 0; n-- {
		fraction = x + float64(n)/2/fraction
	}
	return Exp(-float64(x*x)) / math.SqrtPi / fraction
}

// Beta returns the regularised incomplete beta function I_x(a, b) for a, b > 0.
func Beta(a, b, x float64) float64 {
	switch {
	case x <= 0:
		return 0
	case x >= 1:
		return 1
	case x > (a+1)/(a+b+2): // the fraction would converge slowly
		return 1 - Beta(b, a, 1-x)
	}
	front := logGamma(a+b) - logGamma(a) - logGamma(b) + float64(a*Log(x)) + float64(b*Log1p(-x))
	// The continued fraction 1/(1 + d1/(1 + d2/(1 + …))) by Lentz's method.
	const tiny = 1e-300
	apart := func(v float64) float64 {
		if math.Abs(v) < tiny {
			return tiny
		}
		return v
	}
	c, d := 1.0, 1/apart(1-float64((a+b)*x)/(a+1))
	fraction := d
	for n := 1.0; n < mostTerms; n++ {
		last := fraction
		for _, term := range [2]float64{
			n * (b - n) * x / ((a + float64(2*n) - 1) * (a + float64(2*n))),
			-(a + n) * (a + b + n) * x / ((a + float64(2*n)) * (a + float64(2*n) + 1)),
		} {
			c, d = apart(1+term/c), 1/apart(1+float64(term*d))
			fraction = float64(fraction * (c * d))
		}
		if math.Abs(fraction-last) <= 0x1p-52*fraction {
			break
		}
	}
	return Exp(front) * fraction / a
}

// logGamma returns log Γ(x) for x > 0, by recurrence to x ≥ 10 and Stirling's series.
func logGamma(x float64) float64 {
	below := 1.0
	for ; x < 10; x++ {
		below *= x
	}
	r := 1 / x
	series := float64(r * polynomial(r*r, 1.0/12, -1.0/360, 1.0/1260, -1.0/1680, 1.0/1188, -691.0/360360, 1.0/156))
	return float64((x-0.5)*Log(x)) - x + halfLog2Pi + series - Log(below)
}

const halfLog2Pi = 0.91893853320467274178
