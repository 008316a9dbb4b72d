package simd

// StripRows are the rows of a matrix that AddBoth takes at a time.
const StripRows = 8

// AddBoth does the two products of StripRows rows of a symmetric matrix, which lie stride apart in a: it adds to y
// the rows, each times its weight, one after another, and writes to products the rows' inner products with x,
// in eight lanes. x is as long as y, a multiple of StripRows.
func AddBoth(y, x, a []float64, stride int, weights, products *[StripRows]float64) {
	x = x[:len(y)]
	if len(y) == 0 {
		*products = [StripRows]float64{}
		return
	}
	_ = a[(StripRows-1)*stride+len(y)-1]
	if addBoth(y, x, a, stride, weights, products) {
		return
	}
	for r, w := range weights {
		row := a[r*stride:][:len(y)]
		var s [8]float64
		for c, v := range row {
			y[c] = fma(w, v, y[c])
			s[c%8] = fma(x[c], v, s[c%8])
		}
		products[r] = sumOfLanes(&s)
	}
}
