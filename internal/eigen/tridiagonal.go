package eigen

import (
	"context"
	"math"

	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/simd"
)

// The reduction to tridiagonal form updates the matrix after every panel of reflectors,
// and goes over its upper triangle by bands of rows and, within one, strips of rows and tiles of
// columns that fit a cache. None depends on the number of cores.
const (
	panel     = 32
	band      = 64
	strip     = simd.StripRows
	tile      = 512
	bandParts = 4 // sums that a product of matrix and vector is split into
)

// tridiagonal is a symmetric matrix as QTQᵀ, T tridiagonal and Q the product of n−1
// reflectors I − τvvᵀ, the first on the left.
type tridiagonal struct {
	n    int
	d, e []float64 // T's diagonal and, n−1, what is beside it
	tau  []float64
	v    *square // v of reflector i in row i from i+1 on, 0 before
	// For every panel of reflectors what blockReflector writes.
	blocks [][panel * panel]float64
}

// square is an n×n matrix in rows of size numbers, n filled up to whole strips; as many rows lie there, and
// what is beyond n is 0.
type square struct {
	n, size int
	data    []float64
}

func newSquare(n int) *square {
	size := parallel.Count(n, strip) * strip
	return &square{n: n, size: size, data: make([]float64, size*size)}
}

// reduce brings a symmetric matrix a with numbers near 1 or below to tridiagonal form (Dongarra,
// Sorensen and Hammarling 1989), and overwrites it. Of a the upper triangle is read.
func reduce(ctx context.Context, a *square) (*tridiagonal, error) {
	n := a.n
	t := &tridiagonal{n: n, d: make([]float64, n), e: make([]float64, max(n-1, 0)), tau: make([]float64, max(n-1, 0)), v: a}
	r := newReduction(a)
	r.halve(0)
	for start := 0; start < n; start += panel {
		end := min(start+panel, n)
		for i := start; i < end; i++ {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			r.column(t, i, i-start)
		}
		if end < n {
			r.scaleDiagonal(end, 2)
			if err := r.update(ctx, end); err != nil {
				return nil, err
			}
			r.halve(end)
		}
	}
	t.blocks = make([][panel * panel]float64, parallel.Count(n-1, panel))
	parallel.DoWork(n*n*panel/2, len(t.blocks), func(b int) {
		v := t.reflectors(b)
		blockReflector(v, t.tau[b*panel:], t.blocks[b][:])
	})
	return t, nil
}

// reflectors returns the v of a panel, from its first reflector's column on.
func (t *tridiagonal) reflectors(b int) blas.Matrix {
	start := b * panel
	return blas.Matrix{Rows: min(panel, t.n-1-start), Cols: t.n - 1 - start, Stride: t.v.size, Data: t.v.data[start*t.v.size+start+1:]}
}

// reduction is a reduction under way. Of a panel's reflectors v and the vectors w with
// A − Σ(vwᵀ + wvᵀ) the matrix that they leave, p holds as rows panel places for v and as many for w. q has room for
// as many, those of w first.
type reduction struct {
	n    int       // the size of the matrix
	a    []float64 // the matrix
	p, q []float64
	sums []float64
}

func newReduction(a *square) *reduction {
	n := a.size
	return &reduction{n: n, a: a.data, p: make([]float64, 2*panel*n), q: make([]float64, 2*panel*n), sums: make([]float64, bandParts*n)}
}

// halve leaves half of the diagonal from row from on, and of the blocks on it, strips of rows and columns, the
// upper triangle: as multiplyVector reads them.
func (r *reduction) halve(from int) {
	r.scaleDiagonal(from, 0.5)
	for i := from; i < r.n; i++ {
		clear(r.a[i*r.n+max(i/strip*strip, from) : i*r.n+i])
	}
}

// scaleDiagonal multiplies the diagonal from row from on.
func (r *reduction) scaleDiagonal(from int, by float64) {
	for i := from; i < r.n; i++ {
		r.a[i*r.n+i] *= by
	}
}

// column finds the reflector of column i, after so many others of its panel, and clears what is
// left of it in the matrix.
func (r *reduction) column(t *tridiagonal, i, count int) {
	n := r.n
	x := r.a[i*n : i*n+n]
	if count == 0 {
		x[i] *= 2
	} else {
		v, w := r.pair(count - 1)
		addScaled(x[i:], -w[i], v[i:])
		addScaled(x[i:], -v[i], w[i:])
	}
	t.d[i] = x[i]
	clear(x[:i+1])
	if i == t.n-1 {
		return
	}
	t.e[i], t.tau[i] = reflector(x[i+1:])
	v, w := r.pair(count)
	clear(v)
	clear(w)
	tau := t.tau[i]
	if tau != 0 {
		copy(v, x)
		r.multiplyVector(w, x, i+1)
	}
	// While the pairs before this one are multiplied by v, the next column of the panel is rid of them.
	var weights, products [2 * panel]float64
	next := r.q[:n] // or what nothing is added to
	if count+1 < panel {
		next = r.a[(i+1)*n:][:n]
		next[i+1] *= 2
		for l := range count {
			v, w := r.pair(l)
			weights[l], weights[panel+l] = -w[i+1], -v[i+1]
		}
	}
	r.addPairs(next, x, &weights, &products, count, i+1)
	if tau != 0 {
		for l := range count {
			weights[l], weights[panel+l] = -products[panel+l], -products[l]
		}
		r.addPairs(w, x, &weights, &products, count, i+1)
		v, w = v[i+1:], w[i+1:]
		scale(w, tau)
		addScaled(w, -tau/2*elementary.Dot(w, v), v)
	}
}

// pair returns v and w of a reflector of the panel.
func (r *reduction) pair(l int) (v, w []float64) {
	return r.p[l*r.n:][:r.n], r.p[(panel+l)*r.n:][:r.n]
}

// addPairs adds to y so many pairs, each v and each w times its weight, and writes to products their inner
// products with x, which is 0 before column from. From there on y counts.
func (r *reduction) addPairs(y, x []float64, weights, products *[2 * panel]float64, count, from int) {
	n := r.n
	clear(products[:])
	var part [strip]float64
	for c := from / strip * strip; c < n; c += tile {
		end := min(c+tile, n)
		for side := 0; side < 2*panel; side += panel {
			for l := side; l < side+count; l += strip {
				simd.AddBoth(y[c:end], x[c:end], r.p[l*n+c:], n, (*[strip]float64)(weights[l:]), &part)
				add(products[l:l+strip], part[:])
			}
		}
	}
}

// negligible is the length of a column below which it counts for 0, beside numbers near 1.
const negligible = 1e-100

// reflector turns x, of length 1 or more, into v with v_0 = 1 such that I − τvvᵀ turns x into (e, 0, 0, …).
func reflector(x []float64) (e, tau float64) {
	alpha, rest := x[0], elementary.Norm(x[1:])
	x[0] = 1
	if !(rest > negligible) {
		clear(x[1:])
		return alpha, 0
	}
	e = -math.Copysign(elementary.Hypot(alpha, rest), alpha)
	scale(x[1:], 1/(alpha-e))
	return e, (e - alpha) / e
}

// multiplyVector computes y = vA with what is left of the matrix from row and column from on,
// as halve leaves it. v is 0 before.
func (r *reduction) multiplyVector(y, v []float64, from int) {
	n := r.n
	first, bands := from/band, parallel.Count(n, band)
	parallel.DoWork((n-from)*(n-from), bandParts, func(part int) {
		sum := r.sums[part*n : (part+1)*n]
		clear(sum[from/strip*strip:])
		for b := first + part; b < bands; b += bandParts {
			r.addBand(sum, v, b, from)
		}
	})
	row := y[from:n]
	copy(row, r.sums[from:n])
	for part := 1; part < bandParts; part++ {
		add(row, r.sums[part*n+from:][:n-from])
	}
}

// addBand adds to sum what a band of the upper triangle, and its transpose, times v are.
func (r *reduction) addBand(sum, v []float64, b, from int) {
	n := r.n
	lo, hi := max(b*band, from/strip*strip), min((b+1)*band, n)
	var products [strip]float64
	for c := lo; c < n; c += tile {
		end := min(c+tile, n)
		for i := lo; i < min(hi, end); i += strip {
			at := max(c, i)
			simd.AddBoth(sum[at:end], v[at:end], r.a[i*n+at:], n, (*[strip]float64)(v[i:]), &products)
			add(sum[i:i+strip], products[:])
		}
	}
}

// update subtracts a panel's Σ(vwᵀ + wvᵀ) from the upper triangle of what is left of the matrix from row and
// column from on. What it leaves below is open.
func (r *reduction) update(ctx context.Context, from int) error {
	n := r.n
	copy(r.q, r.p[panel*n:])
	copy(r.q[panel*n:], r.p[:panel*n])
	part := func(x []float64) blas.Matrix {
		return blas.Matrix{Rows: 2 * panel, Cols: n - from, Stride: n, Data: x[from:]}
	}
	left := blas.Matrix{Rows: n - from, Cols: n - from, Stride: n, Data: r.a[from*n+from:]}
	return blas.MultiplyUpper(ctx, blas.Trans, blas.NoTrans, -1, part(r.p), part(r.q), 1, left)
}

// blockReflector writes to s, in rows of panel, Sᵀ, lower triangular, with I − VSVᵀ the
// product of the reflectors I − τvvᵀ whose v are the rows of v (Schreiber and Van Loan 1989).
func blockReflector(v blas.Matrix, tau, s []float64) {
	var gram [panel * panel]float64
	blas.Gemm(blas.NoTrans, blas.Trans, 1, v, v, 0, blas.Matrix{Rows: v.Rows, Cols: v.Rows, Stride: panel, Data: gram[:]})
	clear(s)
	for j, tau := range tau[:v.Rows] {
		s[j*panel+j] = tau
		for l := range j {
			addScaled(s[j*panel:j*panel+j], -tau*gram[j*panel+l], s[l*panel:l*panel+j])
		}
	}
}

// rotate turns the rows of z, c×n, eigenvectors of T, into those of the matrix.
func (t *tridiagonal) rotate(ctx context.Context, c int, z []float64) error {
	zv, zvs := make([]float64, c*panel), make([]float64, c*panel)
	for b := len(t.blocks) - 1; b >= 0; b-- {
		if err := ctx.Err(); err != nil {
			return err
		}
		v := t.reflectors(b)
		part := blas.Matrix{Rows: c, Cols: v.Cols, Stride: t.n, Data: z[b*panel+1:]}
		columns := func(x []float64, rows int) blas.Matrix {
			return blas.Matrix{Rows: rows, Cols: v.Rows, Stride: panel, Data: x}
		}
		blas.Gemm(blas.NoTrans, blas.Trans, 1, part, v, 0, columns(zv, c))
		blas.Gemm(blas.NoTrans, blas.NoTrans, 1, columns(zv, c), columns(t.blocks[b][:], v.Rows), 0, columns(zvs, c))
		blas.Gemm(blas.NoTrans, blas.NoTrans, -1, columns(zvs, c), v, 1, part)
	}
	return nil
}
