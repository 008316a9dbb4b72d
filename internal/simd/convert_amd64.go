package simd

// toSingle, toDouble and largest do the first numbers of what their namesakes do, and return
// how many.
func toSingle(dst []float32, x []float64, scale float64) int {
	n := len(x) &^ 3
	if !fast || n == 0 {
		return 0
	}
	toSingleAVX2(&dst[0], &x[0], n, scale, Least32)
	return n
}

func toDouble(dst []float64, x []float32, scale float64) int {
	n := len(x) &^ 3
	if !fast || n == 0 {
		return 0
	}
	toDoubleAVX2(&dst[0], &x[0], n, scale)
	return n
}

func largest(x []float64) (int, float64) {
	n := len(x) &^ 15
	if !fast || n == 0 {
		return 0, 0
	}
	return n, largestAVX2(&x[0], n)
}

//go:noescape
func toSingleAVX2(dst *float32, x *float64, n int, scale, least float64)

//go:noescape
func toDoubleAVX2(dst *float64, x *float32, n int, scale float64)

//go:noescape
func largestAVX2(x *float64, n int) float64
