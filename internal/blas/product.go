package blas

import (
	"gonum.org/v1/gonum/blas"

	"github.com/seed4492f2cd/partwise/internal/freelist"
	"github.com/seed4492f2cd/partwise/internal/parallel"
)

// Number is what matrices hold.
type Number interface{ float32 | float64 }

// implementation is a library's product of matrices, see blas.Float64Level3.
type implementation[T Number] func(tA, tB blas.Transpose, m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int)

// A product of parallel.Few multiplications or more is split over the cores. Its parts, of
// partMultiplications or more, are the same on any number of cores: columns of c, or its
// rows where it is taller than wide, or, for a small c of long factors, parts of the sum,
// which are added in their order.
const (
	partMultiplications = 1 << 18
	mostParts           = 32
	// Each part lays out the other factor anew, which is little beside this many rows or
	// columns. A unit is whole tiles in both precisions, or what is laid out at a time.
	leastRows, rowUnit    = 64, 8
	leastColumns          = 192
	leastDepth, depthUnit = 1024, 256
	small                 = 1 << 16
)

// ColumnUnit columns are whole tiles in both precisions.
const ColumnUnit = 48

// product is one under way. It is kept for the next, so that none allocates.
type product[T Number] struct {
	multiply      implementation[T]
	tA, tB        blas.Transpose
	m, n, k       int
	alpha, beta   T
	a, b, c       []T
	lda, ldb, ldc int
	split         parallel.Split
	sums          []T // of the parts of a sum
	// What does part i.
	rows, columns, depth func(i int)
}

func productsBy[T Number](multiply implementation[T]) *freelist.List[*product[T]] {
	return &freelist.List[*product[T]]{New: func() *product[T] {
		p := &product[T]{multiply: multiply}
		p.rows = func(i int) {
			lo, hi := p.split.At(i)
			p.multiply(p.tA, p.tB, hi-lo, p.n, p.k, p.alpha, p.a[place(p.tA, lo, 0, p.lda):], p.lda, p.b, p.ldb, p.beta, p.c[lo*p.ldc:], p.ldc)
		}
		p.columns = func(i int) {
			lo, hi := p.split.At(i)
			p.multiply(p.tA, p.tB, p.m, hi-lo, p.k, p.alpha, p.a, p.lda, p.b[place(p.tB, 0, lo, p.ldb):], p.ldb, p.beta, p.c[lo:], p.ldc)
		}
		p.depth = func(i int) {
			lo, hi := p.split.At(i)
			p.multiply(p.tA, p.tB, p.m, p.n, hi-lo, p.alpha, p.a[place(p.tA, 0, lo, p.lda):], p.lda, p.b[place(p.tB, lo, 0, p.ldb):], p.ldb, 0, p.sums[i*p.m*p.n:], p.n)
		}
		return p
	}}
}

// place returns where the entry of op(x) at a row and a column is.
func place(t blas.Transpose, row, column, stride int) int {
	if t != blas.NoTrans {
		row, column = column, row
	}
	return row*stride + column
}

var (
	products64 = productsBy(ours.Dgemm)
	products32 = productsBy(ours.Sgemm)
)

// ofPrecision returns the one of both that is an L.
func ofPrecision[L any](double, single any) L {
	if l, ok := double.(L); ok {
		return l
	}
	return single.(L)
}

// multiply computes c = alpha·op(a)·op(b) + beta·c on all cores that are free, or on the
// caller's alone where it is fewer than few multiplications.
func multiply[T Number](few int, tA, tB blas.Transpose, m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int) {
	products := ofPrecision[*freelist.List[*product[T]]](products64, products32)
	p := products.Get()
	defer products.Put(p)
	if m*n*k < few {
		p.multiply(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	p.do(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

// shared is the library with products on all cores.
type shared struct{ library }

// Dgemm computes C = alpha·op(A)·op(B) + beta·C, see blas.Float64Level3.
func (shared) Dgemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	multiply(parallel.Few, tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

// Sgemm is Dgemm in single precision, see blas.Float32Level3.
func (shared) Sgemm(tA, tB blas.Transpose, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	multiply(parallel.Few, tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

func (p *product[T]) do(tA, tB blas.Transpose, m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int) {
	p.tA, p.tB, p.m, p.n, p.k, p.alpha, p.beta = tA, tB, m, n, k, alpha, beta
	p.a, p.b, p.c, p.lda, p.ldb, p.ldc = a, b, c, lda, ldb, ldc
	parts := min(m*n*k/partMultiplications, mostParts)
	switch {
	case m*n <= small && k >= 2*leastDepth:
		p.split = parallel.Even(k, depthUnit, max(k/parts, leastDepth))
		if size := p.split.Parts() * m * n; cap(p.sums) < size {
			p.sums = make([]T, size)
		}
		parallel.Do(p.split.Parts(), p.depth)
		p.add()
	case n >= m:
		p.split = parallel.Even(n, ColumnUnit, max(n/parts, leastColumns))
		parallel.Do(p.split.Parts(), p.columns)
	default:
		p.split = parallel.Even(m, rowUnit, max(m/parts, leastRows))
		parallel.Do(p.split.Parts(), p.rows)
	}
	p.a, p.b, p.c = nil, nil, nil
}

// add adds the parts of the sum to beta·c.
func (p *product[T]) add() {
	for r := range p.m {
		row := p.c[r*p.ldc:][:p.n]
		if p.beta == 0 {
			clear(row)
		}
		for j := range row {
			row[j] *= p.beta
		}
		for i := range p.split.Parts() {
			for j, x := range p.sums[(i*p.m+r)*p.n:][:p.n] {
				row[j] += x
			}
		}
	}
}
