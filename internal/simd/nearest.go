package simd

import "math"

// These are over the scores of one sample with the points among which its nearest are looked for.

// Lanes is how many lanes LaneMinima and Below take numbers in.
const Lanes = 64

// SubtractFrom turns each x into from − x.
func SubtractFrom[T float32 | float64](x, from []T) {
	from = from[:len(x)]
	for j := range x {
		x[j] = from[j] - x[j]
	}
}

// LaneMinima writes the least of the numbers of each lane, those of x that are Lanes apart, or infinity
// where there are none.
func LaneMinima(least *[Lanes]float64, x []float64) {
	for l := range least {
		least[l] = math.Inf(1)
	}
	for j := range x {
		if l := j % Lanes; x[j] < least[l] {
			least[l] = x[j]
		}
	}
}

// Below returns which of the numbers, at most Lanes, are at most limit: bit j is of number j.
func Below(x []float64, limit float64) (mask uint64) {
	for j, v := range x {
		if v <= limit {
			mask |= 1 << j
		}
	}
	return mask
}
