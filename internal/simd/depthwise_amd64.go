package simd

func depthwise(c, x []float32, at []int32, windows, taps int, w, bias []float32, bounds *[2]float32) bool {
	if !fast {
		return false
	}
	f := depthwiseAVX2
	if wide {
		f = depthwiseAVX512
	}
	f(&c[0], &x[0], &at[0], windows, taps, &w[0], &bias[0], bounds, len(bias), mask(len(bias)))
	return true
}

//go:noescape
func depthwiseAVX2(c, x *float32, at *int32, windows, taps int, w, bias *float32, bounds *[2]float32, channels int, mask *int32)

//go:noescape
func depthwiseAVX512(c, x *float32, at *int32, windows, taps int, w, bias *float32, bounds *[2]float32, channels int, mask *int32)
