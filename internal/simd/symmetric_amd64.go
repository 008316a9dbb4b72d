package simd

func addBoth(y, x, a []float64, stride int, weights, sums *[4]float64) int {
	n := len(y) &^ 3
	if !fast || n == 0 {
		return 0
	}
	_ = a[3*stride+n-1]
	addBothAVX2(&y[0], &x[0], &a[0], stride, n, weights, sums)
	return n
}

//go:noescape
func addBothAVX2(y, x, a *float64, stride, n int, weights, sums *[4]float64)
