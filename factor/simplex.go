package factor

import "slices"

// projectSimplex writes to dst the point of the simplex, x ≥ 0 and Σ x = 1, that
// is nearest to y: y less the number that makes the sum of the positive parts 1.
func projectSimplex(dst, y []float64) {
	falling := slices.Clone(y)
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
		dst[i] = max(x-shift, 0)
	}
}
