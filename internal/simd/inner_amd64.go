package simd

// InnerRows are the rows of each factor that a tile of InnerProducts multiplies.
const InnerRows = 4

// InnerProducts writes to sums the inner products of up to InnerRows rows of a with as many of b, a row of a after
// another: each is of 16 sums, of every sixteenth product with one rounding each, that are added up in
// pairs. Rows are lda and ldb apart, and depth numbers long. So many numbers of ahead, which a later tile
// multiplies, are asked for meanwhile.
func InnerProducts(sums *[InnerRows * InnerRows]float32, a []float32, rowsA, lda int, b []float32, rowsB, ldb, depth int, ahead []float32) {
	_, _ = a[:(rowsA-1)*lda+depth], b[:(rowsB-1)*ldb+depth]
	next := &a[0]
	if len(ahead) > 0 {
		next = &ahead[0]
	}
	if wide {
		innerAVX512(sums, &a[0], rowsA, lda, &b[0], rowsB, ldb, depth, next)
	} else {
		innerAVX2(sums, &a[0], rowsA, lda, &b[0], rowsB, ldb, depth)
	}
}

//go:noescape
func innerAVX512(sums *[InnerRows * InnerRows]float32, a *float32, rowsA, lda int, b *float32, rowsB, ldb, depth int, ahead *float32)

//go:noescape
func innerAVX2(sums *[InnerRows * InnerRows]float32, a *float32, rowsA, lda int, b *float32, rowsB, ldb, depth int)
