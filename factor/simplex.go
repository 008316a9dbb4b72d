package factor

import "slices"

// projectSimplex writes to dst the point of the simplex, x ≥ 0 and Σ x = 1, that
// is nearest to y: y less the number that makes the sum of the positive parts 1. The
// largest value is taken away first, which changes nothing but that 1 is not lost
// beside it. dst may be y.
func projectSimplex(dst, y []float64) {
	if len(y) == 0 {
		return
	}
	largest := slices.Max(y)
	falling := make([]float64, len(y))
	for i, x := range y {
		falling[i] = x - largest
	}
	slices.SortFunc(falling, func(a, b float64) int {
		switch {
		case a > b:
			return -1
		case a < b:
			return 1
		}
		return 0
	})
	var sum, shift float64
	for i, x := range falling {
		sum += x
		if t := (sum - 1) / float64(i+1); x > t {
			shift = t
		}
	}
	for i, x := range y {
		dst[i] = max(x-largest-shift, 0)
	}
}
