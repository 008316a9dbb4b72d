//go:build !native

package blas

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	"github.com/seed4492f2cd/partwise/internal/freelist"
	"github.com/seed4492f2cd/partwise/internal/simd"
)

var ours = func() library {
	if simd.HasTile() {
		return tiled{}
	}
	return gonum.Implementation{}
}()

// tiled is gonum's BLAS but for the product of matrices, which it does tile by
// tile on parts of the factors that are laid out for that and fit the caches
// (Goto and van de Geijn 2008). It stays on one core, as OpenBLAS does in the
// native build: multiply splits large products.
type tiled struct{ gonum.Implementation }

// What is laid out at a time: of a rows×depth, of b depth×columns, which is whole
// tiles in both precisions.
const (
	packRows    = 32 * simd.TileRows
	packColumns = 42 * simd.TileColumns32
	packDepth   = 256
)

// Below fewMultiplications packing the factors costs more than it gains.
const fewMultiplications = 1000

// packed holds panels of both factors as addTile reads them, tile columns at once.
type packed[T float32 | float64] struct {
	a       [packRows * packDepth]T
	b       [packColumns * packDepth]T
	edge    [simd.TileRows * simd.TileColumns32]T
	tile    int
	addTile func(c []T, stride int, a, b []T)
}

var (
	doubles = freelist.List[*packed[float64]]{New: func() *packed[float64] { return &packed[float64]{tile: simd.TileColumns, addTile: simd.AddTile} }}
	singles = freelist.List[*packed[float32]]{New: func() *packed[float32] { return &packed[float32]{tile: simd.TileColumns32, addTile: simd.AddTile32} }}
)

// Dgemm computes C = alpha·op(A)·op(B) + beta·C, see blas.Float64Level3.
func (t tiled) Dgemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	if alpha == 0 || m*n*k < fewMultiplications {
		t.Implementation.Dgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	p := doubles.Get()
	defer doubles.Put(p)
	p.gemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

// Sgemm is Dgemm in single precision, see blas.Float32Level3.
func (t tiled) Sgemm(tA, tB blas.Transpose, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	if alpha == 0 || m*n*k < fewMultiplications {
		t.Implementation.Sgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	p := singles.Get()
	defer singles.Put(p)
	p.gemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

func (p *packed[T]) gemm(tA, tB blas.Transpose, m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int) {
	for i := range m {
		scale(c[i*ldc:][:n], beta)
	}
	for j := 0; j < n; j += packColumns {
		columns := min(packColumns, n-j)
		for d := 0; d < k; d += packDepth {
			depth := min(packDepth, k-d)
			pack(p.b[:], b, ldb, tB != blas.NoTrans, j, columns, d, depth, p.tile)
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
func (p *packed[T]) multiply(c []T, ldc, rows, columns, depth int) {
	for j := 0; j < columns; j += p.tile {
		b := p.b[j*depth:][:p.tile*depth]
		for i := 0; i < rows; i += simd.TileRows {
			a := p.a[i*depth:][:simd.TileRows*depth]
			if i+simd.TileRows <= rows && j+p.tile <= columns {
				p.addTile(c[i*ldc+j:], ldc, a, b)
				continue
			}
			clear(p.edge[:])
			p.addTile(p.edge[:], p.tile, a, b)
			for r := range min(simd.TileRows, rows-i) {
				to := c[(i+r)*ldc+j:][:min(p.tile, columns-j)]
				for s := range to {
					to[s] += p.edge[r*p.tile+s]
				}
			}
		}
	}
}

// scale multiplies x by s; times 0 anything is 0.
func scale[T float32 | float64](x []T, s T) {
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
func pack[T float32 | float64](dst, x []T, stride int, along bool, from, count, deep, depth, tile int) {
	if !along {
		for d := range depth {
			row := x[(deep+d)*stride+from:][:count]
			for l := 0; l < count; l += tile {
				copy(dst[l*depth+d*tile:][:tile], row[l:])
			}
		}
		return
	}
	line := func(l int) []T { return x[(from+l)*stride+deep:][:depth] }
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
