package simd

// addBoth does AddBoth, if it can.
func addBoth(y, x, a []float64, stride int, weights, products *[StripRows]float64) bool {
	if !fast || len(y) == 0 {
		return false
	}
	_ = a[(StripRows-1)*stride+len(y)-1]
	if wide {
		addBothAVX512(&y[0], &x[0], &a[0], stride, len(y), weights, products)
	} else {
		half := (*[4]float64)(weights[4:])
		addBothAVX2(&y[0], &x[0], &a[0], stride, len(y), (*[4]float64)(weights[:4]), (*[4]float64)(products[:4]))
		addBothAVX2(&y[0], &x[0], &a[4*stride], stride, len(y), half, (*[4]float64)(products[4:]))
	}
	return true
}

//go:noescape
func addBothAVX512(y, x, a *float64, stride, n int, weights, products *[StripRows]float64)

// addBothAVX2 takes four rows.
//
//go:noescape
func addBothAVX2(y, x, a *float64, stride, n int, weights, products *[4]float64)
