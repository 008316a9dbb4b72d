//go:build !amd64

package simd

// Without assembly every loop uses plain Go.

const tileRows = 4

func Instructions() string { return "" }

func tile[T Number](add bool, c []T, stride int, a []T, aRow, aDepth int, b []T, bDepth, depth, rows, columns int) {
	plainTile(add, c, stride, a, aRow, aDepth, b, bDepth, depth, rows, columns)
}

func windowsTile(c []float32, stride int, x []float32, at []int32, taps, depth int, w, bias []float32, bounds *[2]float32, width int) {
	plainWindows(c, stride, x, at, taps, depth, w, bias, bounds, width)
}

func dots(dst, a, rows []float64, at []int) bool                             { return false }
func addRows(dst, weights, rows []float64, at []int) bool                    { return false }
func symmetricRows(y, x, rows []float64, stride int) bool                    { return false }
func logSum(y, x []float64, sums *[8]float64) int                            { return 0 }
func sweep(v, b, h, inverse, active, step []float64) bool                    { return false }
func descend(z []float64, y, x, u []float32, stride int, floor float64) bool { return false }
func gather(u []float32, stride int, y, z, rows []float32, at []int) bool    { return false }
func depthwise(c, x []float32, at []int32, windows, taps int, w, bias []float32, bounds *[2]float32) int {
	return 0
}
