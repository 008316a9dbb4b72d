package elementary

import "math"

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
