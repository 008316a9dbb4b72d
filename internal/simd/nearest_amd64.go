package simd

// subtractFrom and laneMinima do so many of the numbers from the first on.
func subtractFrom(x, from []float64) int {
	n := len(x) &^ 3
	if !fast || n == 0 {
		return 0
	}
	subtractFromAVX2(&x[0], &from[0], n)
	return n
}

func laneMinima(least *[Lanes]float64, x []float64) int {
	n := len(x) / Lanes * Lanes
	if !fast || n == 0 {
		return 0
	}
	laneMinimaAVX2(least, &x[0], n)
	return n
}

func below(x *[Lanes]float64, limit float64) (mask uint64, done bool) {
	if !fast {
		return 0, false
	}
	return belowAVX2(x, limit), true
}

// n is a multiple of four.
//
//go:noescape
func subtractFromAVX2(x, from *float64, n int)

// n is a multiple of Lanes, and least is infinity.
//
//go:noescape
func laneMinimaAVX2(least *[Lanes]float64, x *float64, n int)

//go:noescape
func belowAVX2(x *[Lanes]float64, limit float64) uint64
