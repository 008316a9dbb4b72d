//go:build !native

package blas

import (
	"context"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	"github.com/seed4492f2cd/partwise/internal/freelist"
	"github.com/seed4492f2cd/partwise/internal/parallel"
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
	packColumns = 5 * simd.MostTileColumns32
	packDepth   = 256
)

// loops are those of one precision, see internal/simd.
type loops[T float32 | float64] struct {
	tile       int // its columns
	addTiles   func(write bool, c []T, stride, rows, columns int, a, b []T)
	interleave func(dst []T, tile int, x []T, stride, lines, depth int)
	addRowTile func(tile, x []T, stride int, b []T, columns int)
	addToSums  func(sums, a, x []T, stride, depth int)
	addSums    func(c []T, stride int, sums []T)
}

// packed holds panels of both factors as addTiles reads them, tile columns at once.
type packed[T float32 | float64] struct {
	loops[T]
	a    [packRows * packDepth]T
	b    [packColumns * packDepth]T
	edge [packRows * simd.MostTileColumns32]T
	sums [simd.RowTileRows * simd.MostTileColumns32]T // of timesRows
	logs [ratioSamples * simd.RatioLogs32]float64     // of Ratios
}

func packedFor[T float32 | float64](l loops[T]) *freelist.List[*packed[T]] {
	return &freelist.List[*packed[T]]{New: func() *packed[T] { return &packed[T]{loops: l} }}
}

var (
	doubles = packedFor(loops[float64]{simd.TileColumns(), simd.AddTiles, simd.Interleave, simd.AddRowTile, simd.AddToSums, simd.AddSums})
	singles = packedFor(loops[float32]{simd.TileColumns32(), simd.AddTiles32, simd.Interleave32, simd.AddRowTile32, simd.AddToSums32, simd.AddSums32})
)

// Dgemm computes C = alpha·op(A)·op(B) + beta·C, see blas.Float64Level3.
func (t tiled) Dgemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	if alpha == 0 || m*n*k < fewMultiplications {
		t.Implementation.Dgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	p := doubles.Get()
	defer doubles.Put(p)
	p.product(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

// Sgemm is Dgemm in single precision, see blas.Float32Level3.
func (t tiled) Sgemm(tA, tB blas.Transpose, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	if alpha == 0 || m*n*k < fewMultiplications {
		t.Implementation.Sgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	if alpha == 1 && beta == 0 && tA == blas.NoTrans && tB != blas.NoTrans && alongRows(m, n) && leastInnerDepth <= k && k <= mostInnerDepth {
		innerProducts(m, n, k, a, lda, b, ldb, c, ldc)
		return
	}
	p := singles.Get()
	defer singles.Put(p)
	p.product(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

// product computes C as Dgemm does, the way that suits its shape.
func (p *packed[T]) product(tA, tB blas.Transpose, m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int) {
	if alpha == 1 && tA == blas.NoTrans && tB != blas.NoTrans && simd.HasRowTile() {
		if alongRows(m, n) {
			rows := n / simd.RowTileRows * simd.RowTileRows
			p.timesRows(m, rows, k, a, lda, b, ldb, beta, c, ldc, 1)
			if n -= rows; n == 0 {
				return
			}
			b, c = b[rows*ldb:], c[rows:]
		} else if alongRows(n, m) {
			rows := m / simd.RowTileRows * simd.RowTileRows
			p.timesRows(n, rows, k, b, ldb, a, lda, beta, c, 1, ldc)
			if m -= rows; m == 0 {
				return
			}
			a, c = a[rows*lda:], c[rows*ldc:]
		}
	}
	if alpha == 1 && tB == blas.NoTrans && m <= mostRowFactor && n >= leastColumns && k >= packDepth {
		p.sumOfRows(tA, m, n, k, a, lda, b, ldb, beta, c, ldc)
		return
	}
	p.gemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

func (p *packed[T]) gemm(tA, tB blas.Transpose, m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int) {
	write := beta == 0
	if !write {
		scaleRows(c, ldc, m, n, beta)
	}
	for j := 0; j < n; j += packColumns {
		columns := min(packColumns, n-j)
		for d := 0; d < k; d += packDepth {
			depth := min(packDepth, k-d)
			p.pack(p.b[:], b, ldb, tB != blas.NoTrans, j, columns, d, depth, p.tile)
			for i := 0; i < m; i += packRows {
				rows := min(packRows, m-i)
				p.pack(p.a[:], a, lda, tA == blas.NoTrans, i, rows, d, depth, simd.TileRows)
				scale(p.a[:wholeTiles(rows)*depth], alpha)
				p.multiply(write && d == 0, c[i*ldc+j:], ldc, rows, columns, depth, p.a[:], p.b[:])
			}
		}
	}
}

// mostRowFactor is of how many rows a factor of timesRows or sumOfRows is at most: then what is
// read of b for each tile of them stays in the nearest cache.
const mostRowFactor = 2 * simd.MostTileColumns

// alongRows tells whether timesRows takes less time than gemm for a factor of few rows and one of
// many: where these are far more, or more and whole tiles, so that none is left for gemm.
func alongRows(few, many int) bool {
	if few > mostRowFactor {
		return false
	}
	return many >= max(leastRows, 4*few) || many > few && many >= 2*simd.RowTileRows && many%simd.RowTileRows == 0
}

// timesRows computes c = a·bᵀ + beta·c, as gemm does and to the same bytes, for a long b of
// whole tiles of rows and a few rows of a. Only a is laid out; b is read once, from its
// beginning to its end. The rows of c are down apart and its columns across, of which one is 1: where
// down is, cᵀ = b·aᵀ lies there row by row.
func (p *packed[T]) timesRows(m, n, k int, a []T, lda int, b []T, ldb int, beta T, c []T, down, across int) {
	sums := p.sums[:]
	switch {
	case beta == 0: // nothing of c is read
	case across == 1:
		scaleRows(c, down, m, n, beta)
	default:
		scaleRows(c, across, n, m, beta)
	}
	tiles, tile := narrowTiles(m, p.tile)
	most := len(p.b) / (tiles * tile) / packDepth * packDepth // of the depth, laid out at a time
	for d := 0; d < k; d += most {
		deep := min(most, k-d)
		// Parts of packDepth, each of all tiles.
		for e := 0; e < deep; e += packDepth {
			clear(p.b[tiles*tile*e:][:tiles*tile*min(packDepth, deep-e)])
			p.pack(p.b[tiles*tile*e:], a, lda, true, 0, m, d+e, min(packDepth, deep-e), tile)
		}
		for j := 0; j < n; j += simd.RowTileRows {
			for t := range tiles {
				rows := max(0, min(tile, m-t*tile))
				part := c[t*tile*down+j*across:]
				switch {
				case beta == 0 && d == 0:
					clear(sums[:simd.RowTileRows*tile])
				case across != 1:
					for i := range simd.RowTileRows {
						copy(sums[i*tile:], part[i*across:][:rows])
					}
				default:
					for r := range rows {
						for i, x := range part[r*down:][:simd.RowTileRows] {
							sums[i*tile+r] = x
						}
					}
				}
				for e := 0; e < deep; e += packDepth {
					depth := min(packDepth, deep-e)
					p.addRowTile(sums, b[j*ldb+d+e:], ldb, p.b[tiles*tile*e+t*tile*depth:][:tile*depth], tile)
				}
				if across != 1 {
					for i := range simd.RowTileRows {
						copy(part[i*across:][:rows], sums[i*tile:])
					}
				} else {
					for r := range rows {
						to := part[r*down:][:simd.RowTileRows]
						for i := range to {
							to[i] = sums[i*tile+r]
						}
					}
				}
			}
		}
	}
}

// narrowTiles returns as few tiles for m rows as there can be, as narrow as they can be: of one register
// to three, in halves; three hold most.
func narrowTiles(m, most int) (tiles, tile int) {
	half := most / 6
	tiles = (m + most - 1) / most
	return tiles, max(2, (m+tiles*half-1)/(tiles*half)) * half
}

// sumRows rows of b are read side by side by sumOfRows.
const sumRows = 32

// sumOfRows computes c = op(a)·b + beta·c, as gemm does and to the same bytes, for few rows of
// c, of p.tile columns or more. Only a is laid out; b is read where it lies, sumRows rows side by side from
// their beginnings to their ends, and added to sums of all of c. These are added to c where gemm does
// so, after packDepth rows. The last tile of columns ends with b, and may have some of the tile before it.
func (p *packed[T]) sumOfRows(tA blas.Transpose, m, n, k int, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int) {
	scaleRows(c, ldc, m, n, beta)
	rows := wholeTiles(m)
	left := p.a[:rows*sumRows]
	most := len(p.b) / (rows * p.tile) * p.tile // columns, whose sums there is room for
	for j := 0; j < n; j += most {
		columns := min(most, n-j)
		sums := p.b[:rows*((columns+p.tile-1)/p.tile*p.tile)]
		for d := 0; d < k; d += packDepth {
			clear(sums)
			for e := d; e < min(d+packDepth, k); e += sumRows {
				depth := min(sumRows, k-e)
				p.pack(left, a, lda, tA == blas.NoTrans, 0, m, e, depth, simd.TileRows)
				for s := 0; s < columns; s += p.tile {
					at := min(j+s, n-p.tile)
					p.addToSums(sums[s*rows:][:rows*p.tile], left, b[e*ldb+at:], ldb, depth)
				}
			}
			for s := 0; s < columns; s += p.tile {
				again := j + s - min(j+s, n-p.tile) // columns of the tile before it
				if again == 0 {
					p.addSums(c[j+s:], ldc, sums[s*rows:][:m*p.tile])
					continue
				}
				for r := range m {
					to := c[r*ldc+j+s:][:p.tile-again]
					for i, x := range sums[s*rows+r*p.tile+again:][:len(to)] {
						to[i] += x
					}
				}
			}
		}
	}
}

// multiply adds to c the product of the rows that are laid out in left and the columns that
// are laid out in right, or writes it there.
func (p *packed[T]) multiply(write bool, c []T, ldc, rows, columns, depth int, left, right []T) {
	for j := 0; j < columns; j += p.tile {
		b := right[j*depth:][:p.tile*depth]
		wide, register := min(p.tile, columns-j), p.tile/3
		if wide%register == 0 {
			p.addTiles(write, c[j:], ldc, rows, wide, left, b)
			continue
		}
		p.addTiles(true, p.edge[:], p.tile, rows, (wide/register+1)*register, left, b)
		for r := range rows {
			to := c[r*ldc+j:][:wide]
			if write {
				copy(to, p.edge[r*p.tile:])
				continue
			}
			for s, x := range p.edge[r*p.tile:][:wide] {
				to[s] += x
			}
		}
	}
}

// scaleRows scales the first columns of the rows of c, which are stride apart.
func scaleRows[T float32 | float64](c []T, stride, rows, columns int, s T) {
	for i := range rows {
		scale(c[i*stride:][:columns], s)
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
func (l loops[T]) pack(dst, x []T, stride int, along bool, from, count, deep, depth, tile int) {
	if along {
		for at := 0; at < count; at += tile {
			l.packAlong(dst[at*depth:][:tile*depth], x[(from+at)*stride+deep:], stride, min(tile, count-at), depth, tile)
		}
		return
	}
	for d := 0; d < depth; d += packRowsAtOnce {
		rows := x[(deep+d)*stride+from:]
		many := min(packRowsAtOnce, depth-d)
		for at := 0; at < count; at += tile {
			out := dst[at*depth+d*tile:]
			switch {
			case tile > simd.TileRows && at+tile <= count:
				simd.CopyRows(out, rows[at:], stride, tile, many)
				continue
			case tile == simd.TileRows && at+tile <= count:
				for r := range many {
					*(*[simd.TileRows]T)(out[r*tile:]) = [simd.TileRows]T(rows[r*stride+at:])
				}
				continue
			}
			for r := range many {
				copy(out[r*tile:][:tile], rows[r*stride+at:][:min(tile, count-at)])
			}
		}
	}
}

// packRowsAtOnce are read side by side, so that each is read from end to end.
const packRowsAtOnce = 16

// packDeep numbers of all lines of a tile, side by side, stay in the nearest cache.
const packDeep = 64

// packAlong is pack of one tile, whose lines are rows of x.
func (l loops[T]) packAlong(out, x []T, stride, lines, depth, tile int) {
	for d := 0; d < depth; d += packDeep {
		deep := min(packDeep, depth-d)
		for s := 0; s < lines; s += 4 {
			l.interleave(out[d*tile+s:], tile, x[s*stride+d:], stride, min(4, lines-s), deep)
		}
	}
}

// width returns the number of columns, to whole tiles.
func (k *Kept[T]) width(tile int) int { return (k.columns + tile - 1) / tile * tile }

// layOut lays out all of op(b), packDepth rows at a time.
func (k *Kept[T]) layOut() {
	p := packedOf[T]()
	if p == nil {
		return
	}
	defer p.put()
	width := k.width(p.tile)
	k.laid = make([][]T, parallel.Count(k.rows, packDepth))
	const work = 8 // multiplications take as long as a number
	parallel.DoWork(work*width*k.rows, len(k.laid), func(part int) {
		d := part * packDepth
		depth := min(packDepth, k.rows-d)
		laid := make([]T, width*depth)
		p.pack(laid, k.b.Data, max(1, k.b.Stride), k.t != NoTrans, 0, k.columns, d, depth, p.tile)
		k.laid[part] = laid
	})
}

// laidLeft lays out all of op(a), rows×deep, as layOut does op(b), in left where there is room.
func laidLeft[T Number](left []T, tA Transpose, a Of[T], rows, deep int) []T {
	tiles := packedOf[T]()
	defer tiles.put()
	height := wholeTiles(rows)
	left = roomFor(left, height*deep)
	for d := 0; d < deep; d += packDepth {
		tiles.pack(left[d*height:], a.Data, max(1, a.Stride), tA == NoTrans, 0, rows, d, min(packDepth, deep-d), simd.TileRows)
	}
	return left
}

// wholeTiles is how many rows are laid out.
func wholeTiles(rows int) int { return (rows + simd.TileRows - 1) / simd.TileRows * simd.TileRows }

// part computes c, the columns of op(a)·op(b) from lo on, which is the first of a tile. left is from laidLeft.
func (k *Kept[T]) part(left []T, c Of[T], lo int) {
	tiles := packedOf[T]()
	defer tiles.put()
	height := wholeTiles(c.Rows)
	for d := 0; d < k.rows; d += packDepth {
		depth := min(packDepth, k.rows-d)
		for i := 0; i < c.Rows; i += packRows {
			tiles.multiply(d == 0, c.Data[i*c.Stride:], c.Stride, min(packRows, c.Rows-i), c.Cols, depth, left[d*height+i*depth:], k.laid[d/packDepth][lo*depth:])
		}
	}
}

// bothLaid has room for what is laid out of both factors of MultiplyUpper at a time: packDepth
// columns of op(a) and rows of op(b).
type bothLaid struct{ left, right []float64 }

var bothRooms = freelist.List[*bothLaid]{New: func() *bothLaid { return new(bothLaid) }}

// upperByTiles is MultiplyUpper where factors are laid out: both once, for all of c.
func upperByTiles(ctx context.Context, tA, tB Transpose, alpha float64, a, b Matrix, beta float64, c Matrix) (done bool, err error) {
	if !simd.HasTile() {
		return false, nil
	}
	room := bothRooms.Get()
	defer bothRooms.Put(room)
	n, k := c.Rows, a.Cols
	if tA != NoTrans {
		k = a.Rows
	}
	units := parallel.Count(n, ColumnUnit)
	room.left = roomFor(room.left, units*ColumnUnit*min(packDepth, k))
	room.right = roomFor(room.right, units*ColumnUnit*min(packDepth, k))
	for d := 0; d < k; d += packDepth {
		if err := ctx.Err(); err != nil {
			return true, err
		}
		depth := min(packDepth, k-d)
		const work = 8 // multiplications take as long as a number that is laid out
		parallel.DoWork(2*work*n*depth, units, func(unit int) {
			tiles := packedOf[float64]()
			defer tiles.put()
			from := unit * ColumnUnit
			lines := min(ColumnUnit, n-from)
			left := room.left[from*depth:][:ColumnUnit*depth]
			tiles.pack(left, a.Data, max(1, a.Stride), tA == NoTrans, from, lines, d, depth, simd.TileRows)
			scale(left, alpha)
			tiles.pack(room.right[from*depth:], b.Data, max(1, b.Stride), tB != NoTrans, from, lines, d, depth, tiles.tile)
		})
		parallel.DoWork(n*n/2*depth, units, func(unit int) {
			tiles := packedOf[float64]()
			defer tiles.put()
			from := (units - 1 - unit) * ColumnUnit // the longest columns first
			columns := min(ColumnUnit, n-from)
			rows := from + columns
			write := beta == 0 && d == 0
			if !write && d == 0 {
				scaleRows(c.Data[from:], c.Stride, rows, columns, beta)
			}
			for i := 0; i < rows; i += packRows {
				tiles.multiply(write, c.Data[i*c.Stride+from:], c.Stride, min(packRows, rows-i), columns, depth, room.left[i*depth:], room.right[from*depth:])
			}
		})
	}
	return true, nil
}

// packedOf returns room for factors of one precision, or nil where none are laid out.
func packedOf[T Number]() *packed[T] {
	if !simd.HasTile() {
		return nil
	}
	return packedList[T]().Get()
}

// put gives it back.
func (p *packed[T]) put() { packedList[T]().Put(p) }

func packedList[T Number]() *freelist.List[*packed[T]] {
	return ofPrecision[*freelist.List[*packed[T]]](doubles, singles)
}
