package simd

import "math"

// These are over the centres that one sample is compared with.

// LeastGap returns the least of lower − went.
func LeastGap(lower []float32, went []float64) float64 {
	went = went[:len(lower)]
	least := math.Inf(1)
	for j, v := range lower {
		if at := float64(v) - went[j]; at < least {
			least = at
		}
	}
	return least
}

// Roots writes √max(first + by·x, 0) + added to dst and returns the least of the roots, which are those of
// numbers up to about 1, in single precision or better.
func Roots(dst []float32, x, added []float64, first, by float64) float64 {
	x, added = x[:len(dst)], added[:len(dst)]
	least := math.Inf(1)
	for j, v := range x {
		var root float64
		if v = first + by*v; v > 0 {
			root = math.Sqrt(v)
		}
		dst[j] = float32(root + added[j])
		if root < least {
			least = root
		}
	}
	return least
}

// LeastTwo returns the place of the least number, the first of several, and that number and the least of the others.
func LeastTwo(x []float64) (at int, least, second float64) {
	least, second = math.Inf(1), math.Inf(1)
	for j, v := range x {
		if v < least {
			at, least, second = j, v, least
		} else if v < second {
			second = v
		}
	}
	return at, least, second
}
