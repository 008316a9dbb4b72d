package significance

import "github.com/seed4492f2cd/partwise/internal/elementary"

// studentCDF returns how likely a value up to t is under Student's distribution.
func studentCDF(t, freedom float64) float64 {
	tail := elementary.Beta(freedom/2, 0.5, freedom/(freedom+float64(t*t))) / 2
	if t > 0 {
		return 1 - tail
	}
	return tail
}

// studentQuantile returns the value whose studentCDF is p, above ½, by bisection.
func studentQuantile(p, freedom float64) float64 {
	low, high := 0.0, 1.0
	for studentCDF(high, freedom) < p && high < 1e300 {
		low, high = high, 2*high
	}
	for {
		middle := low + (high-low)/2
		switch {
		case middle <= low || middle >= high:
			return high
		case studentCDF(middle, freedom) < p:
			low = middle
		default:
			high = middle
		}
	}
}

// beyondF returns how likely a value of f or more is under the F distribution.
func beyondF(f, freedom1, freedom2 float64) float64 {
	return elementary.Beta(freedom2/2, freedom1/2, freedom2/(freedom2+float64(freedom1*f)))
}
