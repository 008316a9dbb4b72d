package simd

// leastRows does what LeastRows does for so many samples, a multiple of four.
func leastRows(at []int, least, second, x []float64, stride int, scales, offsets []float64) int {
	n := len(at) &^ 3
	if !fast || n == 0 || len(offsets) == 0 {
		return 0
	}
	_ = x[(len(offsets)-1)*stride+n-1]
	leastRowsAVX2(&at[0], &least[0], &second[0], &x[0], n, stride, &scales[0], &offsets[0], len(offsets))
	return n
}

// leastCosts does what LeastCosts does for so many samples, a multiple of four, before the four samples of which
// one is where LeastCosts stops.
func leastCosts(x, before, first, by []float64, offset, limit float64) int {
	n := len(x) &^ 3
	if !fast || n == 0 {
		return 0
	}
	return leastCostsAVX2(&x[0], &before[0], &first[0], &by[0], n, offset, limit)
}

// sumLanes adds so many numbers, a multiple of 16, to the lanes.
func sumLanes(lanes *[16]float64, x []float64) int {
	n := len(x) &^ 15
	if !fast || n == 0 {
		return 0
	}
	sumLanesAVX2(lanes, &x[0], n)
	return n
}

//go:noescape
func leastRowsAVX2(at *int, least, second, x *float64, n, stride int, scales, offsets *float64, k int)

//go:noescape
func leastCostsAVX2(x, before, first, by *float64, n int, offset, limit float64) int

//go:noescape
func sumLanesAVX2(lanes *[16]float64, x *float64, n int)
