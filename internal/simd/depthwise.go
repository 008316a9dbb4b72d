package simd

// Depthwise computes a convolution of each channel with itself: of each window, taps runs
// of as many numbers as bias has, which are channels,
//
//	c[r·channels + j] = min(max(bias[j] + Σ x[at[r·taps + t] + j]·w[t·channels + j], bounds[0]), bounds[1])
//
// The caller answers for it that runs lie within x.
func Depthwise(c, x []float32, at []int32, taps int, w, bias []float32, bounds *[2]float32) {
	channels := len(bias)
	windows := len(at) / taps
	c, w = c[:windows*channels], w[:taps*channels]
	if windows == 0 {
		return
	}
	done := depthwise(c, x, at, windows, taps, w, bias, bounds)
	if done == channels {
		return
	}
	for ; len(c) > 0; c, at = c[channels:], at[taps:] {
		sums := c[done:channels]
		copy(sums, bias[done:])
		for t, from := range at[:taps] {
			run, weights := x[int(from)+done:][:len(sums)], w[t*channels+done:][:len(sums)]
			for j, v := range run {
				sums[j] = fma32(v, weights[j], sums[j])
			}
		}
		clamp(sums, bounds)
	}
}
