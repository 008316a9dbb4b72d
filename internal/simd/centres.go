package simd

import "math"

// These are over samples side by side, whose products with a centre lie in a row.

// LeastRows finds for each sample i which row j of x, rows stride apart, has the least offsets[j] − scales[j]·x:
// the first of several such rows goes to at[i], its number to least[i], and the least of the other rows' to second[i].
func LeastRows(at []int, least, second, x []float64, stride int, scales, offsets []float64) {
	least, second, scales = least[:len(at)], second[:len(at)], scales[:len(offsets)]
	for i := range at {
		at[i], least[i], second[i] = 0, math.Inf(1), math.Inf(1)
	}
	for j, offset := range offsets {
		scale := scales[j]
		for i, v := range x[j*stride:][:len(at)] {
			if v = offset - float64(scale*v); v < least[i] {
				at[i], least[i], second[i] = j, v, least[i]
			} else if v < second[i] {
				second[i] = v
			}
		}
	}
}

// LeastCosts makes of the products x of samples with a point what they cost with it, first + by·(offset − x), or
// what they cost before where that is less. It stops at the first sample whose cost is at most limit, and that cost
// something before, and returns its place, or the number of samples.
func LeastCosts(x, before, first, by []float64, offset, limit float64) int {
	before, first, by = before[:len(x)], first[:len(x)], by[:len(x)]
	for i := range x {
		cost := first[i] + by[i]*(offset-x[i])
		if cost <= limit && before[i] > 0 {
			return i
		}
		x[i] = min(cost, before[i])
	}
	return len(x)
}

// Sum returns the sum of x, in an order that depends on its length alone.
func Sum(x []float64) float64 {
	var lanes [16]float64
	n := 0
	for ; n+len(lanes) <= len(x); n += len(lanes) {
		for lane, v := range x[n:][:len(lanes)] {
			lanes[lane] += v
		}
	}
	for _, v := range x[n:] {
		lanes[0] += v
	}
	for width := len(lanes) / 2; width > 0; width /= 2 {
		for lane := range width {
			lanes[lane] += lanes[lane+width]
		}
	}
	return lanes[0]
}
