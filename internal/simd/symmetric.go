package simd

// StripRows are the rows of a matrix that AddBoth takes at a time.
const StripRows = 8

// AddBoth does the two products of StripRows rows of a symmetric matrix, which lie stride apart in a: it
// adds to y the rows, each times its weight, and writes to products the rows' inner products with x. Each
// number is read once for both. x is as long as y, a multiple of StripRows.
func AddBoth(y, x, a []float64, stride int, weights, products *[StripRows]float64) {
	x = x[:len(y)]
	if addBoth(y, x, a, stride, weights, products) {
		return
	}
	for r := 0; r < StripRows; r += 4 {
		r0, r1, r2, r3 := a[r*stride:][:len(y)], a[(r+1)*stride:][:len(y)], a[(r+2)*stride:][:len(y)], a[(r+3)*stride:][:len(y)]
		w0, w1, w2, w3 := weights[r], weights[r+1], weights[r+2], weights[r+3]
		var p0, p1, p2, p3 float64
		for c, v := range x {
			y[c] += (w0*r0[c] + w1*r1[c]) + (w2*r2[c] + w3*r3[c])
			p0 += r0[c] * v
			p1 += r1[c] * v
			p2 += r2[c] * v
			p3 += r3[c] * v
		}
		products[r], products[r+1], products[r+2], products[r+3] = p0, p1, p2, p3
	}
}
