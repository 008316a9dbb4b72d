package simd

// descend and gather tell whether they did all that their namesakes do.
func descend(z []float64, y, x, u []float32, stride int, floor float64) bool {
	if fast {
		bounds := [...]float64{leastSlope, mostEntry, floor, mostFall, 1}
		descendAVX2(&z[0], &y[0], &x[0], &u[0], len(y), stride, len(z), &bounds[0], least32)
	}
	return fast
}

// descendPair tells whether it did what descend does of two columns, which it does side by side: the second
// divides while the first waits for its sums.
func descendPair(z []float64, y, x, u []float32, stride int, floor float64) bool {
	n := len(y) / 2
	if !fast || n > segment {
		return false
	}
	bounds := [...]float64{leastSlope, mostEntry, floor, mostFall, 1}
	descendPairAVX2(&z[0], &y[0], &x[0], &u[0], n, stride, len(z)/2, &bounds[0], least32)
	return true
}

func gather(u []float32, stride int, y, z, rows []float32, at []int) bool {
	if fast {
		gatherAVX2(&u[0], &y[0], &z[0], &rows[0], &at[0], 4*stride, len(at), 4*len(z))
	}
	return fast
}

// The assembly, of n a multiple of 8 above 0.

//go:noescape
func descendAVX2(z *float64, y, x, u *float32, n, stride, k int, bounds *float64, least float32)

//go:noescape
func descendPairAVX2(z *float64, y, x, u *float32, n, stride, k int, bounds *float64, least float32)

// Of gatherAVX2 stride and width are in bytes.
//
//go:noescape
func gatherAVX2(u, y, z, rows *float32, at *int, stride, n, width int)
