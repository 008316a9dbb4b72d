package simd

// AddBoth does the two products of four rows of a symmetric matrix, which lie stride apart in a: it
// adds to y the rows, each times its weight, and to sums the rows' inner products with x, which is as
// long as y. Each number is read once for both.
func AddBoth(y, x, a []float64, stride int, weights, sums *[4]float64) {
	x = x[:len(y)]
	from := addBoth(y, x, a, stride, weights, sums)
	r0, r1, r2, r3 := a[:len(y)], a[stride:][:len(y)], a[2*stride:][:len(y)], a[3*stride:][:len(y)]
	s0, s1, s2, s3 := sums[0], sums[1], sums[2], sums[3]
	for c := from; c < len(y); c++ {
		y[c] += (weights[0]*r0[c] + weights[1]*r1[c]) + (weights[2]*r2[c] + weights[3]*r3[c])
		s0 += r0[c] * x[c]
		s1 += r1[c] * x[c]
		s2 += r2[c] * x[c]
		s3 += r3[c] * x[c]
	}
	*sums = [4]float64{s0, s1, s2, s3}
}
