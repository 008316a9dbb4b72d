package eigen

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/simd"
)

// The reduction to tridiagonal form updates the matrix after every panel of reflectors,
// and goes over its upper triangle by bands of rows and, within one, tiles of columns
// that fit a cache. None depends on the number of cores.
const (
	panel     = 32
	band      = 64
	tile      = 512
	bandParts = 4 // sums that a product of matrix and vector is split into
)

// tridiagonal is a symmetric matrix as QTQᵀ, T tridiagonal and Q the product of n−1
// reflectors I − τvvᵀ, the first on the left.
type tridiagonal struct {
	n    int
	d, e []float64 // T's diagonal and, n−1, what is beside it
	tau  []float64
	v    []float64 // n×n, v of reflector i in row i from i+1 on, 0 before
}

// reduce brings a symmetric matrix a, n×n, with numbers near 1 or below, to tridiagonal
// form (Dongarra, Sorensen and Hammarling 1989), and overwrites it. Of a the upper triangle
// is read, and the blocks of band rows and columns on the diagonal.
func reduce(ctx context.Context, n int, a []float64) (*tridiagonal, error) {
	t := &tridiagonal{n: n, d: make([]float64, n), e: make([]float64, max(n-1, 0)), tau: make([]float64, max(n-1, 0)), v: a}
	r := newReduction(n, 1, a)
	for start := 0; start < n; start += panel {
		end := min(start+panel, n)
		for i := start; i < end; i++ {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			r.column(t, i, 2*(i-start))
		}
		if end < n {
			r.update(end)
		}
	}
	return t, nil
}

// reduction is a reduction under way. Of a panel's reflectors v and the vectors w with
// A − Σ(vwᵀ + wvᵀ) the matrix that they leave, p holds v, w, v, w, … as rows and q w, v, ….
type reduction struct {
	n    int
	a    []float64
	p, q []float64
	sums []float64
}

// newReduction returns one whose products of the matrix have k vectors.
func newReduction(n, k int, a []float64) *reduction {
	return &reduction{n: n, a: a, p: make([]float64, 2*panel*n), q: make([]float64, 2*panel*n), sums: make([]float64, bandParts*k*n)}
}

// column finds the reflector of column i, after so many rows of p, and clears what is
// left of it in the matrix.
func (r *reduction) column(t *tridiagonal, i, rows int) {
	n := r.n
	x := r.a[i*n : i*n+n]
	var coefficients [2 * panel]float64
	g := coefficients[:rows]
	for l := range g {
		g[l] = r.q[l*n+i]
	}
	r.subtract(g, i, x)
	t.d[i] = x[i]
	clear(x[:i+1])
	if i == n-1 {
		return
	}
	v := x[i+1:]
	t.e[i], t.tau[i] = reflector(v)
	row := func(x []float64) blas.Matrix {
		return blas.Matrix{Rows: 1, Cols: n - i - 1, Stride: n, Data: x}
	}
	p, q := r.p[rows*n:(rows+2)*n], r.q[rows*n:(rows+2)*n]
	clear(p)
	if tau := t.tau[i]; tau != 0 {
		w := p[n+i+1:]
		r.multiply(row(w), i+1, row(v))
		if rows > 0 {
			blas.Gemv(blas.NoTrans, 1, blas.Matrix{Rows: rows, Cols: n - i - 1, Stride: n, Data: r.q[i+1:]}, v, 0, g)
			r.subtract(g, i+1, p[n:])
		}
		floats.Scale(tau, w)
		floats.AddScaled(w, -tau/2*floats.Dot(w, v), v)
		copy(p[i+1:n], v)
	}
	copy(q[:n], p[n:])
	copy(q[n:], p[:n])
}

// subtract takes the rows of p, each times its weight, from x, from place i on.
func (r *reduction) subtract(weights []float64, i int, x []float64) {
	if len(weights) > 0 {
		blas.Gemv(blas.Trans, -1, blas.Matrix{Rows: len(weights), Cols: r.n - i, Stride: r.n, Data: r.p[i:]}, weights, 1, x[i:])
	}
}

// negligible is the length of a column below which it counts for 0, beside numbers near 1.
const negligible = 1e-100

// reflector turns x, of length 1 or more, into v with v_0 = 1 such that I − τvvᵀ turns x
// into (e, 0, 0, …).
func reflector(x []float64) (e, tau float64) {
	alpha, rest := x[0], floats.Norm(x[1:], 2)
	x[0] = 1
	if !(rest > negligible) {
		clear(x[1:])
		return alpha, 0
	}
	e = -math.Copysign(math.Hypot(alpha, rest), alpha)
	floats.Scale(1/(alpha-e), x[1:])
	return e, (e - alpha) / e
}

// multiply computes y = vA of the rows of v with what is left of the matrix from row
// and column from on.
func (r *reduction) multiply(y blas.Matrix, from int, v blas.Matrix) {
	n, k := r.n, v.Rows
	first, last := from/band, (n-1)/band
	columns := func(x blas.Matrix, from, lo, hi int) blas.Matrix {
		return blas.Matrix{Rows: k, Cols: hi - lo, Stride: x.Stride, Data: x.Data[lo-from:]}
	}
	// add adds to columns out of a sum the product of columns in of v and a part of the
	// matrix.
	add := func(sum blas.Matrix, out, in int, t blas.Transpose, part blas.Matrix) {
		inside, outside := part.Rows, part.Cols
		if t == blas.Trans {
			inside, outside = outside, inside
		}
		x, y := columns(v, from, in, in+inside), columns(sum, 0, out, out+outside)
		if k == 1 {
			other := blas.Trans
			if t == blas.Trans {
				other = blas.NoTrans
			}
			blas.Gemv(other, 1, part, x.Data, 1, y.Data)
			return
		}
		blas.Gemm(blas.NoTrans, t, 1, x, part, 1, y)
	}
	// addBoth adds the products with a part of rows lo to hi and with its transpose, of columns from c
	// on, to the sum.
	addBoth := func(sum blas.Matrix, lo, c int, part blas.Matrix) {
		if k == 1 {
			x, w := v.Data[c-from:][:part.Cols], v.Data[lo-from:]
			for ; part.Rows >= 4; part.Rows, part.Data, lo, w = part.Rows-4, part.Data[4*part.Stride:], lo+4, w[4:] {
				simd.AddBoth(sum.Data[c:][:part.Cols], x, part.Data, part.Stride, (*[4]float64)(w), (*[4]float64)(sum.Data[lo:]))
			}
			if part.Rows == 0 {
				return
			}
		}
		add(sum, lo, c, blas.Trans, part)
		add(sum, c, lo, blas.NoTrans, part)
	}
	parallel.DoWork((n-from)*(n-from)*k, bandParts, func(part int) {
		sum := blas.Matrix{Rows: k, Cols: n, Stride: n, Data: r.sums[part*k*n : (part+1)*k*n]}
		clear(sum.Data)
		for b := first + part; b <= last; b += bandParts {
			lo, hi := max(b*band, from), min((b+1)*band, n)
			of := func(column, end int) blas.Matrix {
				return blas.Matrix{Rows: hi - lo, Cols: end - column, Stride: n, Data: r.a[lo*n+column:]}
			}
			add(sum, lo, lo, blas.NoTrans, of(lo, hi))
			for c := hi; c < n; c += tile {
				end := min(c+tile, n)
				addBoth(sum, lo, c, of(c, end))
			}
		}
	})
	for l := range k {
		row := y.Data[l*y.Stride:][:n-from]
		copy(row, r.sums[l*n+from:])
		for part := 1; part < bandParts; part++ {
			floats.Add(row, r.sums[(part*k+l)*n+from:][:n-from])
		}
	}
}

// update subtracts a panel's Σ(vwᵀ + wvᵀ) from what is left of the matrix from row and
// column from on.
func (r *reduction) update(from int) {
	n := r.n
	first, bands := from/band, parallel.Count(n, band)
	parallel.DoWork((n-from)*(n-from)*panel, bands-first, func(b int) {
		lo, hi := max((first+b)*band, from), min((first+b+1)*band, n)
		part := func(x []float64, columns int) blas.Matrix {
			return blas.Matrix{Rows: 2 * panel, Cols: columns, Stride: n, Data: x[lo:]}
		}
		blas.Gemm(blas.Trans, blas.NoTrans, -1, part(r.p, hi-lo), part(r.q, n-lo), 1, blas.Matrix{Rows: hi - lo, Cols: n - lo, Stride: n, Data: r.a[lo*n+lo:]})
	})
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
			floats.AddScaled(s[j*panel:j*panel+j], -tau*gram[j*panel+l], s[l*panel:l*panel+j])
		}
	}
}

// rotate turns the rows of z, c×n, eigenvectors of T, into those of the matrix.
func (t *tridiagonal) rotate(ctx context.Context, c int, z []float64) error {
	n := t.n
	if n < 2 {
		return nil
	}
	var s [panel * panel]float64
	zv, zvs := make([]float64, c*panel), make([]float64, c*panel)
	for start := (n - 2) / panel * panel; start >= 0; start -= panel {
		if err := ctx.Err(); err != nil {
			return err
		}
		k, length := min(panel, n-1-start), n-start-1
		v := blas.Matrix{Rows: k, Cols: length, Stride: n, Data: t.v[start*n+start+1:]}
		part := blas.Matrix{Rows: c, Cols: length, Stride: n, Data: z[start+1:]}
		columns := func(x []float64, rows int) blas.Matrix {
			return blas.Matrix{Rows: rows, Cols: k, Stride: panel, Data: x}
		}
		blockReflector(v, t.tau[start:], s[:])
		blas.Gemm(blas.NoTrans, blas.Trans, 1, part, v, 0, columns(zv, c))
		blas.Gemm(blas.NoTrans, blas.NoTrans, 1, columns(zv, c), columns(s[:], k), 0, columns(zvs, c))
		blas.Gemm(blas.NoTrans, blas.NoTrans, -1, columns(zvs, c), v, 1, part)
	}
	return nil
}
