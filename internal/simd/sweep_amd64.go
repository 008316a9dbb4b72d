package simd

// sweep does Sweep, if it can.
func sweep(v, b, h, inverse, active, step []float64) bool {
	k := len(inverse)
	switch {
	case !fast:
	case wide:
		sweepAVX512(&v[0], &b[0], &h[0], &inverse[0], &active[0], &step[0], k)
	default:
		const half = SweepColumns / 2
		sweepAVX2(&v[0], &b[0], &h[0], &inverse[0], &active[0], &step[0], k)
		sweepAVX2(&v[half], &b[half], &h[0], &inverse[0], &active[half], &step[half], k)
	}
	return fast
}

//go:noescape
func sweepAVX512(v, b, h, inverse, active, step *float64, k int)

//go:noescape
func sweepAVX2(v, b, h, inverse, active, step *float64, k int)
