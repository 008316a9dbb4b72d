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

// panel is the number of reflectors after which the reduction to tridiagonal form updates the rest of the matrix.
const panel = 32

// mostSums is the largest number of parts of a matrix-vector product.
const mostSums = 16

// tridiagonal is the decomposition QTQᵀ of a symmetric matrix, with T tridiagonal and Q the product of n−1 Householder
// reflectors I − τvvᵀ, the first on the left.
type tridiagonal struct {
	n    int
	d, e []float64 // diagonal and off-diagonal of T, n and n−1 values
	tau  []float64
	v    blas.Matrix // row i holds v of reflector i from column i+1 on, and 0 before
	// blocks holds the result of blockReflector for each panel.
	blocks [][panel * panel]float64
}

// reduce reduces a symmetric matrix to tridiagonal form (Dongarra, Sorensen and Hammarling 1989). Entries must be of
// magnitude about 1 or less. It overwrites a, a result of scaled.
func reduce(ctx context.Context, a blas.Matrix) (*tridiagonal, error) {
	n := a.Rows
	a.Data = a.Data[:cap(a.Data)]
	t := &tridiagonal{n: n, d: make([]float64, n), e: make([]float64, max(n-1, 0)), tau: make([]float64, max(n-1, 0)), v: a}
	// The rows of left are the panel's vectors v, then its vectors w, such that its reflectors turn A into
	// A − Σ(vwᵀ + wvᵀ). The rows of right are the same with w first.
	left, right, sums := make([]float64, 2*panel*n), make([]float64, 2*panel*n), make([]float64, mostSums*a.Stride)
	for start := 0; start < n; start += panel {
		end := min(start+panel, n)
		for i := start; i < end; i++ {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			t.column(i, i-start, left, sums)
		}
		half := panel * n
		copy(right, left[half:])
		copy(right[half:], left[:half])
		part := func(x []float64) blas.Matrix {
			return blas.Matrix{Rows: 2 * panel, Cols: n - end, Stride: n, Data: x[end:]}
		}
		if end < n {
			rest := blas.Matrix{Rows: n - end, Cols: n - end, Stride: a.Stride, Data: a.Data[end*a.Stride+end:]}
			blas.MultiplyUpper(ctx, blas.Trans, blas.NoTrans, -1, part(left), part(right), 1, rest) //nolint:errcheck // the next column checks ctx
		}
	}
	t.blocks = make([][panel * panel]float64, parallel.Count(n-1, panel))
	parallel.DoWork(n*n*panel/2, len(t.blocks), func(b int) {
		blockReflector(t.reflectors(b), t.tau[b*panel:], t.blocks[b][:])
	})
	return t, nil
}

// reflectors returns the vectors v of panel b as rows, from the column after b·panel on.
func (t *tridiagonal) reflectors(b int) blas.Matrix {
	start := b * panel
	return blas.Matrix{Rows: min(panel, t.n-1-start), Cols: t.n - 1 - start, Stride: t.v.Stride, Data: t.v.Data[start*t.v.Stride+start+1:]}
}

// column computes the reflector of column i, the reflector number count of its panel, and clears the column in the
// matrix. It writes the reflector's v and w to pairs. sums is a buffer.
func (t *tridiagonal) column(i, count int, pairs, sums []float64) {
	n, stride := t.n, t.v.Stride
	pair := func(l, from int) (v, w []float64) {
		return pairs[l*n+from : (l+1)*n], pairs[(panel+l)*n+from : (panel+l+1)*n]
	}
	row := t.v.Data[i*stride:][:stride]
	for l := range count {
		v, w := pair(l, i)
		floats.AddScaled(row[i:n], -w[0], v)
		floats.AddScaled(row[i:n], -v[0], w)
	}
	t.d[i] = row[i]
	clear(row[:i+1])
	if i == n-1 {
		return
	}
	x := row[i+1 : n]
	t.e[i], t.tau[i] = reflector(x)
	v, w := pair(count, i+1)
	copy(v, x)
	tau := t.tau[i]
	if tau == 0 {
		clear(v)
		clear(w)
		return
	}
	parts := min(n*n/parallel.Few+1, mostSums)
	parallel.Do(parts, func(p int) {
		sum := sums[p*stride:][:stride]
		clear(sum)
		for r := (i+1)&^3 + 4*p; r < n; r += 4 * parts {
			simd.SymmetricRows(sum[r:], row[r:], t.v.Data[r*(stride+1):], stride)
		}
	})
	copy(w, sums[i+1:])
	for p := 1; p < parts; p++ {
		floats.Add(w, sums[p*stride+i+1:][:len(w)])
	}
	for l := range count {
		earlier, other := pair(l, i+1)
		along, across := elementary.Dot(earlier, v), elementary.Dot(other, v)
		floats.AddScaled(w, -across, earlier)
		floats.AddScaled(w, -along, other)
	}
	floats.Scale(tau, w)
	floats.AddScaled(w, -tau/2*elementary.Dot(w, v), v)
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

// blockReflector writes to s, with row stride panel, the lower triangular Sᵀ such that I − VSVᵀ is the product of the
// reflectors I − τvvᵀ of the rows of v (Schreiber and Van Loan 1989).
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
