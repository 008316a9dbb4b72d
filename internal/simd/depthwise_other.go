//go:build !amd64

package simd

func depthwise(c, x []float32, at []int32, windows, taps int, w, bias []float32, bounds *[2]float32) bool {
	return false
}
