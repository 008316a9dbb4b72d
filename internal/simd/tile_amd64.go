package simd

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// TileRows are the rows of a tile.
const TileRows = 4

// MostTileColumns and MostTileColumns32 bound the columns of a tile, in double and in
// single precision.
const (
	MostTileColumns   = 24
	MostTileColumns32 = 48
)

// wide says that registers hold twice as much. It changes no result: each number of a tile
// is the same sum in the same order.
var wide = fast && cpu.X86.HasAVX512F && cpu.X86.HasAVX512VL

// HasTile reports whether there is AddTiles.
func HasTile() bool { return fast }

// TileColumns returns how many columns a tile of AddTiles has on this processor.
func TileColumns() int {
	if wide {
		return MostTileColumns
	}
	return MostTileColumns / 2
}

// TileColumns32 returns how many columns a tile of AddTiles32 has on this processor.
func TileColumns32() int {
	if wide {
		return MostTileColumns32
	}
	return MostTileColumns32 / 2
}

// AddTiles adds a·b to the first columns of the rows of c, which are stride apart, or writes it there. a holds for each
// TileRows rows the columns of its factor, TileRows numbers each, one after another; b its rows, TileColumns
// numbers each, of which columns are a third, two thirds or all.
func AddTiles(write bool, c []float64, stride, rows, columns int, a, b []float64) {
	if wide {
		addTiles(write, c, stride, rows, columns, TileColumns(), a, b, 2*TileRows, &tilesAVX512)
	} else {
		addTiles(write, c, stride, rows, columns, TileColumns(), a, b, TileRows, &tilesAVX2)
	}
}

// AddTiles32 is AddTiles in single precision, with TileColumns32.
func AddTiles32(write bool, c []float32, stride, rows, columns int, a, b []float32) {
	if wide {
		addTiles(write, c, stride, rows, columns, TileColumns32(), a, b, 2*TileRows, &tiles32AVX512)
	} else {
		addTiles(write, c, stride, rows, columns, TileColumns32(), a, b, TileRows, &tiles32AVX2)
	}
}

// tiles write to c one row of a tile or several, of one register, of two and of three: the sum of the rows at to,
// which are apart, and of the product.
type tiles[T float32 | float64] [3]func(c *T, stride int, to *T, apart int, a, b *T, depth, rows int)

// zeros are what a row is added to that is written.
var zeros [MostTileColumns]float64

var (
	tilesAVX2     = tiles[float64]{tileOneAVX2, tileTwoAVX2, tileThreeAVX2}
	tilesAVX512   = tiles[float64]{tileOneAVX512, tileTwoAVX512, tileThreeAVX512}
	tiles32AVX2   = tiles[float32]{tile32OneAVX2, tile32TwoAVX2, tile32ThreeAVX2}
	tiles32AVX512 = tiles[float32]{tile32OneAVX512, tile32TwoAVX512, tile32ThreeAVX512}
)

// addTiles adds to at most so many rows at a time.
func addTiles[T float32 | float64](write bool, c []T, stride, rows, columns, tile int, a, b []T, most int, by *tiles[T]) {
	depth := len(b) / tile
	if depth == 0 || rows == 0 {
		return
	}
	_, _ = c[:(rows-1)*stride+columns], a[:(rows+TileRows-1)/TileRows*TileRows*depth]
	add := by[columns*3/tile-1]
	for i := 0; i < rows; {
		n := min(most, rows-i)
		if left := rows - i - n; n > TileRows && 0 < left && left < TileRows {
			n = TileRows // and the rest by itself: one row or two alone wait for b
		}
		to, apart := &c[i*stride], stride
		if write {
			to, apart = (*T)(unsafe.Pointer(&zeros)), 0
		}
		add(&c[i*stride], stride, to, apart, &a[i*depth], &b[0], depth, n)
		i += n
	}
}

//go:noescape
func tileOneAVX2(c *float64, stride int, to *float64, apart int, a, b *float64, depth, rows int)

//go:noescape
func tileTwoAVX2(c *float64, stride int, to *float64, apart int, a, b *float64, depth, rows int)

//go:noescape
func tileThreeAVX2(c *float64, stride int, to *float64, apart int, a, b *float64, depth, rows int)

//go:noescape
func tileOneAVX512(c *float64, stride int, to *float64, apart int, a, b *float64, depth, rows int)

//go:noescape
func tileTwoAVX512(c *float64, stride int, to *float64, apart int, a, b *float64, depth, rows int)

//go:noescape
func tileThreeAVX512(c *float64, stride int, to *float64, apart int, a, b *float64, depth, rows int)

//go:noescape
func tile32OneAVX2(c *float32, stride int, to *float32, apart int, a, b *float32, depth, rows int)

//go:noescape
func tile32TwoAVX2(c *float32, stride int, to *float32, apart int, a, b *float32, depth, rows int)

//go:noescape
func tile32ThreeAVX2(c *float32, stride int, to *float32, apart int, a, b *float32, depth, rows int)

//go:noescape
func tile32OneAVX512(c *float32, stride int, to *float32, apart int, a, b *float32, depth, rows int)

//go:noescape
func tile32TwoAVX512(c *float32, stride int, to *float32, apart int, a, b *float32, depth, rows int)

//go:noescape
func tile32ThreeAVX512(c *float32, stride int, to *float32, apart int, a, b *float32, depth, rows int)

// HasRowTile reports whether there is AddRowTile.
func HasRowTile() bool { return wide }

// RowTileRows are the rows of the tile of AddRowTile.
const RowTileRows = 8

// AddRowTile adds a·b to a tile of RowTileRows rows of columns numbers, one after
// another, as AddTiles does. a are rows that are stride apart in x. Columns are two to six sixths of
// MostTileColumns.
func AddRowTile(tile, x []float64, stride int, b []float64, columns int) {
	addRowTile(tile, x, stride, b, columns, rowTiles[columns*6/MostTileColumns-2])
}

// AddRowTile32 is AddRowTile in single precision, with MostTileColumns32.
func AddRowTile32(tile, x []float32, stride int, b []float32, columns int) {
	addRowTile(tile, x, stride, b, columns, rowTiles32[columns*6/MostTileColumns32-2])
}

type rowTile[T float32 | float64] func(tile, x *T, stride int, b *T, depth int)

// rowTiles are those of one register, of one and a half, and so on to three.
var (
	rowTiles   = [...]rowTile[float64]{rowTileOneAVX512, rowTileOneHalfAVX512, rowTileTwoAVX512, rowTileTwoHalfAVX512, rowTileThreeAVX512}
	rowTiles32 = [...]rowTile[float32]{rowTile32OneAVX512, rowTile32OneHalfAVX512, rowTile32TwoAVX512, rowTile32TwoHalfAVX512, rowTile32ThreeAVX512}
)

func addRowTile[T float32 | float64](tile, x []T, stride int, b []T, columns int, add rowTile[T]) {
	depth := len(b) / columns
	if depth == 0 {
		return
	}
	_, _ = tile[:RowTileRows*columns], x[:(RowTileRows-1)*stride+depth]
	add(&tile[0], &x[0], stride, &b[0], depth)
}

//go:noescape
func rowTileOneAVX512(tile, x *float64, stride int, b *float64, depth int)

//go:noescape
func rowTileOneHalfAVX512(tile, x *float64, stride int, b *float64, depth int)

//go:noescape
func rowTileTwoAVX512(tile, x *float64, stride int, b *float64, depth int)

//go:noescape
func rowTileTwoHalfAVX512(tile, x *float64, stride int, b *float64, depth int)

//go:noescape
func rowTileThreeAVX512(tile, x *float64, stride int, b *float64, depth int)

//go:noescape
func rowTile32OneAVX512(tile, x *float32, stride int, b *float32, depth int)

//go:noescape
func rowTile32OneHalfAVX512(tile, x *float32, stride int, b *float32, depth int)

//go:noescape
func rowTile32TwoAVX512(tile, x *float32, stride int, b *float32, depth int)

//go:noescape
func rowTile32TwoHalfAVX512(tile, x *float32, stride int, b *float32, depth int)

//go:noescape
func rowTile32ThreeAVX512(tile, x *float32, stride int, b *float32, depth int)

// AddToSums adds a·x to sums, which are rows of TileColumns numbers, one row of x after
// another: each number of sums is what one product after another is added to. a holds for each
// TileRows rows the columns of its factor, as for AddTiles; the depth rows of x are stride apart.
func AddToSums(sums, a, x []float64, stride, depth int) {
	if wide {
		addToSums(sums, a, x, stride, depth, TileColumns(), sumsAVX512, twoSumsAVX512)
	} else {
		addToSums(sums, a, x, stride, depth, TileColumns(), sumsAVX2, nil)
	}
}

// AddToSums32 is AddToSums in single precision, with TileColumns32.
func AddToSums32(sums, a, x []float32, stride, depth int) {
	if wide {
		addToSums(sums, a, x, stride, depth, TileColumns32(), sums32AVX512, twoSums32AVX512)
	} else {
		addToSums(sums, a, x, stride, depth, TileColumns32(), sums32AVX2, nil)
	}
}

// addToSums adds to TileRows rows after another, or to twice as many where there is two.
func addToSums[T float32 | float64](sums, a, x []T, stride, depth, columns int, one, two func(sums, a, x *T, stride, depth int)) {
	rows := len(sums) / columns / TileRows * TileRows
	if depth == 0 || rows == 0 {
		return
	}
	_, _ = a[:rows*depth], x[:(depth-1)*stride+columns]
	i := 0
	for ; two != nil && i+2*TileRows <= rows; i += 2 * TileRows {
		two(&sums[i*columns], &a[i*depth], &x[0], stride, depth)
	}
	for ; i < rows; i += TileRows {
		one(&sums[i*columns], &a[i*depth], &x[0], stride, depth)
	}
}

//go:noescape
func sumsAVX2(sums, a, x *float64, stride, depth int)

//go:noescape
func sumsAVX512(sums, a, x *float64, stride, depth int)

//go:noescape
func twoSumsAVX512(sums, a, x *float64, stride, depth int)

//go:noescape
func sums32AVX2(sums, a, x *float32, stride, depth int)

//go:noescape
func sums32AVX512(sums, a, x *float32, stride, depth int)

//go:noescape
func twoSums32AVX512(sums, a, x *float32, stride, depth int)

// AddSums adds sums, rows of TileColumns numbers one after another, to rows of c, which are stride apart.
func AddSums(c []float64, stride int, sums []float64) {
	addSums(c, stride, sums, TileColumns(), addSumsAVX2)
}

// AddSums32 is AddSums in single precision, with TileColumns32.
func AddSums32(c []float32, stride int, sums []float32) {
	addSums(c, stride, sums, TileColumns32(), addSums32AVX2)
}

func addSums[T float32 | float64](c []T, stride int, sums []T, columns int, add func(c *T, stride int, sums *T, rows, columns int)) {
	if rows := len(sums) / columns; rows > 0 {
		_ = c[:(rows-1)*stride+columns]
		add(&c[0], stride, &sums[0], rows, columns)
	}
}

//go:noescape
func addSumsAVX2(c *float64, stride int, sums *float64, rows, columns int)

//go:noescape
func addSums32AVX2(c *float32, stride int, sums *float32, rows, columns int)

// Interleave writes one line of numbers to four, stride apart in x, side by side: dst holds the
// first number of each, then, tile numbers later, the second of each, and so on to depth. For lines that are
// missing to four it has the last one again.
func Interleave(dst []float64, tile int, x []float64, stride, lines, depth int) {
	interleave(dst, tile, x, stride, lines, depth, depth&^1, interleaveAVX2)
}

// Interleave32 is Interleave in single precision.
func Interleave32(dst []float32, tile int, x []float32, stride, lines, depth int) {
	interleave(dst, tile, x, stride, lines, depth, depth&^7, interleave32AVX2)
}

// interleave leaves as many numbers of each line as are whole to first.
func interleave[T float32 | float64](dst []T, tile int, x []T, stride, lines, depth, whole int, first func(dst *T, tile int, x *T, stride, lines, depth int)) {
	if whole > 0 {
		_, _ = dst[:(whole-1)*tile+4], x[:(lines-1)*stride+whole]
		first(&dst[0], tile, &x[0], stride, lines, whole)
	}
	for d := whole; d < depth; d++ {
		for s := range 4 {
			dst[d*tile+s] = x[min(s, lines-1)*stride+d]
		}
	}
}

//go:noescape
func interleaveAVX2(dst *float64, tile int, x *float64, stride, lines, depth int)

//go:noescape
func interleave32AVX2(dst *float32, tile int, x *float32, stride, lines, depth int)

// CopyRows copies the first width numbers of rows that are stride apart in x to dst, one
// after another. They take a multiple of 32 bytes.
func CopyRows[T float32 | float64](dst, x []T, stride, width, rows int) {
	if rows > 0 && width > 0 {
		_, _ = dst[:rows*width], x[:(rows-1)*stride+width]
		size := int(unsafe.Sizeof(x[0]))
		copyRowsAVX2(unsafe.Pointer(&dst[0]), unsafe.Pointer(&x[0]), size*stride, size*width, rows)
	}
}

//go:noescape
func copyRowsAVX2(dst, x unsafe.Pointer, stride, width, rows int)
