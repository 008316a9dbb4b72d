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
	if windows == 0 || depthwise(c, x, at, windows, taps, w, bias, bounds) {
		return
	}
	for ; len(c) > 0; c, at = c[channels:], at[taps:] {
		sum := c[:channels]
		copy(sum, bias)
		for t, from := range at[:taps] {
			run, weights := x[from:][:channels], w[t*channels:][:channels]
			for j, v := range run {
				sum[j] += v * weights[j]
			}
		}
		for j, v := range sum {
			sum[j] = min(max(v, bounds[0]), bounds[1])
		}
	}
}
