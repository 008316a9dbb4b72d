package eigen

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/parallel"
)

// bandMatrix is a symmetric matrix that is 0 beyond panel places from the diagonal: its
// rows from the diagonal on, panel+1 numbers each, 0 beyond the last column.
type bandMatrix struct {
	n    int
	rows []float64
}

const bandWidth = panel + 1

// reduceToBand brings a symmetric matrix a to one of panel places beside the diagonal
// with the same eigenvalues (Bischof, Lang and Sun 2000), and overwrites it. Of a it reads the upper
// triangle, and the blocks of band rows and columns on the diagonal. It takes products of matrices only, where half
// of reduce is products of a matrix and a vector, which wait for the memory.
func reduceToBand(ctx context.Context, a *square) (*bandMatrix, error) {
	n, r := a.size, newReduction(a, panel)
	var tau [panel]float64
	var squares [3][panel * panel]float64
	square := func(i int) blas.Matrix {
		return blas.Matrix{Rows: panel, Cols: panel, Stride: panel, Data: squares[i][:]}
	}
	for from := panel; from < n; from += panel {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		rows := func(x []float64) blas.Matrix {
			return blas.Matrix{Rows: panel, Cols: n - from, Stride: n, Data: x[from:]}
		}
		// With Q = I − VSVᵀ, Y = AVS and M = SᵀVᵀY, QᵀAQ is A − VWᵀ − WVᵀ for W = Y − ½VM.
		v, w, av := rows(r.p), rows(r.p[panel*n:]), rows(r.q)
		triangular(rows(a.data[(from-panel)*n:]), v, tau[:])
		s, vy, m := square(0), square(1), square(2)
		blockReflector(v, tau[:], s.Data)
		r.multiply(av, from, v)
		blas.Gemm(blas.NoTrans, blas.NoTrans, 1, s, av, 0, w)
		blas.Gemm(blas.NoTrans, blas.Trans, 1, v, w, 0, vy)
		blas.Gemm(blas.NoTrans, blas.NoTrans, 1, s, vy, 0, m)
		blas.Gemm(blas.NoTrans, blas.NoTrans, -0.5, m, v, 1, w)
		if err := r.update(ctx, from); err != nil {
			return nil, err
		}
		r.mirror(from)
	}
	b := &bandMatrix{n: a.n, rows: make([]float64, a.n*bandWidth)}
	for i := range a.n {
		copy(b.rows[i*bandWidth:(i+1)*bandWidth], a.data[i*n+i:i*n+a.n])
	}
	return b, nil
}

// mirror writes what is above the diagonal below it, in the blocks of band rows and columns from row from on.
func (r *reduction) mirror(from int) {
	for i := from; i < r.n; i++ {
		for j := max(i/band*band, from); j < i; j++ {
			r.a[i*r.n+j] = r.a[j*r.n+i]
		}
	}
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
		blas.Gemm(blas.NoTrans, t, 1, columns(v, from, in, in+inside), part, 1, columns(sum, 0, out, out+outside))
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
				part := of(c, min(c+tile, n))
				add(sum, lo, c, blas.Trans, part)
				add(sum, c, lo, blas.NoTrans, part)
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

// triangular brings panel rows to lower triangular form by reflectors on the right, and
// writes these to the rows of v.
func triangular(x, v blas.Matrix, tau []float64) {
	for j := range panel {
		reflected := v.Data[j*v.Stride:][:v.Cols]
		clear(reflected)
		tau[j] = 0
		if j >= x.Cols {
			continue
		}
		row := x.Data[j*x.Stride:][j:x.Cols]
		var e float64
		e, tau[j] = reflector(row)
		reflected = reflected[j:]
		copy(reflected, row)
		clear(row)
		row[0] = e
		for l := j + 1; l < panel; l++ {
			y := x.Data[l*x.Stride:][j:x.Cols]
			floats.AddScaled(y, -tau[j]*floats.Dot(y, reflected), reflected)
		}
	}
}

// least returns the smallest eigenvalue, to some 1e-15 of the norm, by bisection: it is above x
// if B − xI has a Cholesky factor.
func (b *bandMatrix) least(ctx context.Context) (float64, error) {
	sums := make([]float64, b.n) // of what is beside the diagonal
	upper := math.Inf(1)
	for i := range b.n {
		upper = min(upper, b.rows[i*bandWidth])
		for k := 1; k < bandWidth && i+k < b.n; k++ {
			x := math.Abs(b.rows[i*bandWidth+k])
			sums[i] += x
			sums[i+k] += x
		}
	}
	lower, norm := upper, 0.0
	for i, sum := range sums {
		d := b.rows[i*bandWidth]
		lower = min(lower, d-sum)
		norm = max(norm, math.Abs(d)+sum)
	}
	work := make([]float64, len(b.rows))
	for upper-lower > eps*norm/4 {
		x := lower + (upper-lower)/2
		if x <= lower || x >= upper {
			break
		}
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if copy(work, b.rows); definite(work, b.n, x) {
			lower = x
		} else {
			upper = x
		}
	}
	return upper, nil
}

// definite says whether B − xI, of the rows of B, has a Cholesky factor. It overwrites them.
func definite(rows []float64, n int, x float64) bool {
	for i := range n {
		row := rows[i*bandWidth : (i+1)*bandWidth]
		pivot := row[0] - x
		if !(pivot > 0) {
			return false
		}
		for k := 1; k < bandWidth && i+k < n; k++ {
			floats.AddScaled(rows[(i+k)*bandWidth:][:bandWidth-k], -row[k]/pivot, row[k:])
		}
	}
	return true
}
