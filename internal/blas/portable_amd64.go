//go:build !native

package blas

import (
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"

	"github.com/seed4492f2cd/partwise/internal/simd"
)

func init() {
	if simd.HasTile() {
		blas64.Use(tiled{})
	}
}

// tiled is gonum's BLAS but for the product of matrices, which it does tile by
// tile on parts of the factors that are laid out for that and fit the caches
// (Goto and van de Geijn 2008). It stays on one core, as OpenBLAS does in the
// native build: trials run side by side.
type tiled struct{ gonum.Implementation }

// What is laid out at a time: of a rows×depth, of b depth×columns.
const (
	packRows    = 32 * simd.TileRows
	packColumns = 84 * simd.TileColumns
	packDepth   = 256
)

// Below so many multiplications laying out costs more than it gains.
const fewMultiplications = 1000

type packed struct {
	a    [packRows * packDepth]float64
	b    [packColumns * packDepth]float64
	edge [simd.TileRows * simd.TileColumns]float64
}

var pool = sync.Pool{New: func() any { return new(packed) }}

// Dgemm computes C = alpha·op(A)·op(B) + beta·C, see blas.Float64Level3.
func (t tiled) Dgemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	if alpha == 0 || m*n*k < fewMultiplications {
		t.Implementation.Dgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	for i := range m {
		scale(c[i*ldc:][:n], beta)
	}
	p := pool.Get().(*packed)
	defer pool.Put(p)
	for j := 0; j < n; j += packColumns {
		columns := min(packColumns, n-j)
		for d := 0; d < k; d += packDepth {
			depth := min(packDepth, k-d)
			pack(p.b[:], b, ldb, tB != blas.NoTrans, j, columns, d, depth, simd.TileColumns)
			for i := 0; i < m; i += packRows {
				rows := min(packRows, m-i)
				pack(p.a[:], a, lda, tA == blas.NoTrans, i, rows, d, depth, simd.TileRows)
				scale(p.a[:(rows+simd.TileRows-1)/simd.TileRows*simd.TileRows*depth], alpha)
				p.multiply(c[i*ldc+j:], ldc, rows, columns, depth)
			}
		}
	}
}

// multiply adds the product of what is laid out to c.
func (p *packed) multiply(c []float64, ldc, rows, columns, depth int) {
	for j := 0; j < columns; j += simd.TileColumns {
		b := p.b[j*depth:][:simd.TileColumns*depth]
		for i := 0; i < rows; i += simd.TileRows {
			a := p.a[i*depth:][:simd.TileRows*depth]
			if i+simd.TileRows <= rows && j+simd.TileColumns <= columns {
				simd.AddTile(c[i*ldc+j:], ldc, a, b)
				continue
			}
			clear(p.edge[:])
			simd.AddTile(p.edge[:], simd.TileColumns, a, b)
			for r := range min(simd.TileRows, rows-i) {
				to := c[(i+r)*ldc+j:][:min(simd.TileColumns, columns-j)]
				for s := range to {
					to[s] += p.edge[r*simd.TileColumns+s]
				}
			}
		}
	}
}

// scale multiplies x by s; times 0 anything is 0.
func scale(x []float64, s float64) {
	switch s {
	case 0:
		clear(x)
	case 1:
	default:
		for i := range x {
			x[i] *= s
		}
	}
}

// pack lays out lines from, …, from+count-1 of a factor (rows of the left one,
// columns of the right one), a tile's lines at a time: their first numbers from
// deep on, their second, …; what is left there for lines beyond the last does no
// harm. A line lies along a row of x, or else down a column.
func pack(dst, x []float64, stride int, along bool, from, count, deep, depth, tile int) {
	if !along {
		for d := range depth {
			row := x[(deep+d)*stride+from:][:count]
			for l := 0; l < count; l += tile {
				copy(dst[l*depth+d*tile:][:tile], row[l:])
			}
		}
		return
	}
	line := func(l int) []float64 { return x[(from+l)*stride+deep:][:depth] }
	for l := 0; l < count; l += tile {
		out := dst[l*depth:][:tile*depth]
		s, lines := 0, min(tile, count-l)
		for ; s+4 <= lines; s += 4 {
			x0, x1, x2, x3 := line(l+s), line(l+s+1), line(l+s+2), line(l+s+3)
			for d, v := range x0 {
				to := out[d*tile+s:][:4]
				to[0], to[1], to[2], to[3] = v, x1[d], x2[d], x3[d]
			}
		}
		for ; s < lines; s++ {
			for d, v := range line(l + s) {
				out[d*tile+s] = v
			}
		}
	}
}
