package simd

// sweep and sweep32 do Sweep, if they can.
func sweep(v, b, h, inverse, active, step []float64) bool {
	return sweepBy(v, b, h, inverse, active, step, sweepAVX2, sweepAVX512)
}

func sweep32(v, b, h, inverse, active, step []float32) bool {
	return sweepBy(v, b, h, inverse, active, step, sweep32AVX2, sweep32AVX512)
}

func sweepBy[T float32 | float64](v, b, h, inverse, active, step []T, narrow, broad func(v, b, h, inverse, active, step *T, k int)) bool {
	k := len(inverse)
	switch {
	case !fast:
	case wide:
		broad(&v[0], &b[0], &h[0], &inverse[0], &active[0], &step[0], k)
	default:
		half := len(active) / 2
		narrow(&v[0], &b[0], &h[0], &inverse[0], &active[0], &step[0], k)
		narrow(&v[half], &b[half], &h[0], &inverse[0], &active[half], &step[half], k)
	}
	return fast
}

// The assembly keeps nothing of what it is given.

//go:noescape
func sweepAVX512(v, b, h, inverse, active, step *float64, k int)

//go:noescape
func sweepAVX2(v, b, h, inverse, active, step *float64, k int)

//go:noescape
func sweep32AVX512(v, b, h, inverse, active, step *float32, k int)

//go:noescape
func sweep32AVX2(v, b, h, inverse, active, step *float32, k int)
