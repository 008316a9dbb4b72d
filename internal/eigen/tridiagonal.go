package eigen

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/simd"
)

// The reduction to tridiagonal form updates the matrix after every panel of reflectors. It reads the upper triangle in
// bands of rows, divided into strips of rows and tiles of columns that fit a cache. The sizes do not depend on the number
// of cores.
const (
	panel     = 32
	band      = 64
	strip     = simd.StripRows
	tile      = 512
	bandParts = 4 // number of partial sums of a matrix-vector product
)

// tridiagonal is the decomposition QTQᵀ of a symmetric matrix, with T tridiagonal and Q the product of n−1 Householder
// reflectors I − τvvᵀ, the first on the left.
type tridiagonal struct {
	n    int
	d, e []float64 // diagonal and off-diagonal of T, n and n−1 values
	tau  []float64
	v    *square // row i holds v of reflector i from column i+1 on, and 0 before
	// blocks holds the result of blockReflector for each panel.
	blocks [][panel * panel]float64
}

// square is an n×n matrix padded with zeros to size×size, where size is a multiple of strip.
type square struct {
	n, size int
	data    []float64
}

func newSquare(n int) *square {
	size := parallel.Count(n, strip) * strip
	return &square{n: n, size: size, data: make([]float64, size*size)}
}

// reduce reduces a symmetric matrix to tridiagonal form (Dongarra, Sorensen and Hammarling 1989). Entries must be of
// magnitude about 1 or less. It reads the upper triangle of a and overwrites a.
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

// reflectors returns the vectors v of panel b as rows, from the column after b·panel on.
func (t *tridiagonal) reflectors(b int) blas.Matrix {
	start := b * panel
	return blas.Matrix{Rows: min(panel, t.n-1-start), Cols: t.n - 1 - start, Stride: t.v.size, Data: t.v.data[start*t.v.size+start+1:]}
}

// reduction is the state of reduce. The rows of p are panel vectors v, then panel vectors w, such that the reflectors
// of the panel turn A into A − Σ(vwᵀ + wvᵀ). q is a buffer for the same rows with w first.
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

// halve prepares the matrix from row from on for multiplyVector: it halves the diagonal and clears the lower triangle of
// the strip×strip blocks on it.
func (r *reduction) halve(from int) {
	r.scaleDiagonal(from, 0.5)
	for i := from; i < r.n; i++ {
		clear(r.a[i*r.n+max(i/strip*strip, from) : i*r.n+i])
	}
}

// scaleDiagonal multiplies the diagonal from row from on by by.
func (r *reduction) scaleDiagonal(from int, by float64) {
	for i := from; i < r.n; i++ {
		r.a[i*r.n+i] *= by
	}
}

// column computes the reflector of column i, the reflector number count of its panel, and clears the column in the
// matrix.
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
	// One pass multiplies the earlier pairs by v and subtracts them from the next column of the panel.
	var weights, products [2 * panel]float64
	next := r.q[:n] // a dummy if this is the last column of the panel
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
		floats.Scale(tau, w)
		addScaled(w, -tau/2*elementary.Dot(w, v), v)
	}
}

// pair returns v and w of reflector l of the panel.
func (r *reduction) pair(l int) (v, w []float64) {
	return r.p[l*r.n:][:r.n], r.p[(panel+l)*r.n:][:r.n]
}

// addPairs adds the first count vectors v and w, times their weights, to y, and writes their inner products with x to
// products. x must be 0 before column from; y is valid from there on.
func (r *reduction) addPairs(y, x []float64, weights, products *[2 * panel]float64, count, from int) {
	n := r.n
	clear(products[:])
	var part [strip]float64
	for c := from / strip * strip; c < n; c += tile {
		end := min(c+tile, n)
		for side := 0; side < 2*panel; side += panel {
			for l := side; l < side+count; l += strip {
				simd.AddBoth(y[c:end], x[c:end], r.p[l*n+c:], n, (*[strip]float64)(weights[l:]), &part)
				floats.Add(products[l:l+strip], part[:])
			}
		}
	}
}

// negligible is the length of a column that counts as 0 relative to entries of about 1.
const negligible = 1e-100

// reflector replaces x, with len(x) ≥ 1, by v with v_0 = 1 such that I − τvvᵀ maps x to (e, 0, 0, …).
func reflector(x []float64) (e, tau float64) {
	alpha, rest := x[0], elementary.Norm(x[1:])
	x[0] = 1
	if !(rest > negligible) {
		clear(x[1:])
		return alpha, 0
	}
	e = -math.Copysign(elementary.Hypot(alpha, rest), alpha)
	floats.Scale(1/(alpha-e), x[1:])
	return e, (e - alpha) / e
}

// multiplyVector computes y = vA for the matrix from row and column from on, as prepared by halve. v must be 0 before
// from.
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
		floats.Add(row, r.sums[part*n+from:][:n-from])
	}
}

// addBand adds the product of v with band b of the upper triangle, and with its transpose, to sum.
func (r *reduction) addBand(sum, v []float64, b, from int) {
	n := r.n
	lo, hi := max(b*band, from/strip*strip), min((b+1)*band, n)
	var products [strip]float64
	for c := lo; c < n; c += tile {
		end := min(c+tile, n)
		for i := lo; i < min(hi, end); i += strip {
			at := max(c, i)
			simd.AddBoth(sum[at:end], v[at:end], r.a[i*n+at:], n, (*[strip]float64)(v[i:]), &products)
			floats.Add(sum[i:i+strip], products[:])
		}
	}
}

// update subtracts the panel's Σ(vwᵀ + wvᵀ) from the upper triangle of the matrix from row and column from on. The lower
// triangle is undefined afterwards.
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

// blockReflector writes to s, with row stride panel, the lower triangular Sᵀ such that I − VSVᵀ is the product of the
// reflectors I − τvvᵀ of the rows of v (Schreiber and Van Loan 1989).
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

// rotate multiplies the rows of z, c×n, eigenvectors of T, by Qᵀ, which gives eigenvectors of the matrix.
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
