package simd

// leastGap and roots do what their namesakes do, or nothing.
func leastGap(lower []float32, went []float64) (least float64, done bool) {
	if !fast || len(lower) < 4 {
		return 0, false
	}
	return leastGapAVX2(&lower[0], &went[0], len(lower)), true
}

func roots(dst []float32, x, added []float64, first, by float64) (least float64, done bool) {
	if !fast || len(dst) < 4 {
		return 0, false
	}
	return rootsAVX2(&dst[0], &x[0], &added[0], len(dst), first, by), true
}

// leastTwo looks at so many numbers, a multiple of four.
func leastTwo(x []float64) (lanes leastLanes, n int) {
	if n = len(x) &^ 3; !fast || n == 0 {
		return lanes, 0
	}
	leastTwoAVX2(&x[0], n, &lanes)
	return lanes, n
}

// The assembly of n numbers, 4 or more. The last four are looked at together with what comes before
// them, where n is no multiple of four, and some of those twice.

//go:noescape
func leastGapAVX2(lower *float32, went *float64, n int) float64

//go:noescape
func rootsAVX2(dst *float32, x, added *float64, n int, first, by float64) float64

// n is a multiple of four.
//
//go:noescape
func leastTwoAVX2(x *float64, n int, lanes *leastLanes)
