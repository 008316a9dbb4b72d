package simd

import "unsafe"

// MostTileRows and MostTileColumns are what a tile of a product of matrices has at most on any processor.
const (
	MostTileRows    = 8
	MostTileColumns = 48
)

// TileRows returns how many rows a tile has on this processor: as many as a register holds numbers of 8 bytes.
func TileRows() int { return tileRows }

// TileColumns returns how many columns a tile has on this processor: those of three registers.
func TileColumns[T Number]() int {
	var x T
	return 3 * 8 * tileRows / int(unsafe.Sizeof(x))
}

// WholeColumns returns columns to whole registers: so many numbers Tile reads of each row of b.
func WholeColumns[T Number](columns int) int {
	register := TileColumns[T]() / 3
	return (columns + register - 1) / register * register
}

// Tile writes to c, a tile or less, the product a·b of the given depth, or adds it. The numbers of a are aRow
// apart from row to row, and aDepth along the depth; a row of b is bDepth behind the one before. A number of the
// product is added up in the order of the depth, from 0 on.
func Tile[T Number](add bool, c []T, stride int, a []T, aRow, aDepth int, b []T, bDepth, depth, rows, columns int) {
	width := WholeColumns[T](columns)
	_, _ = a[(rows-1)*aRow+(depth-1)*aDepth], b[(depth-1)*bDepth+width-1]
	if columns == width {
		_ = c[(rows-1)*stride+columns-1]
		tile(add, c, stride, a, aRow, aDepth, b, bDepth, depth, rows, width)
		return
	}
	var edge [MostTileRows * MostTileColumns]T
	tile(false, edge[:], width, a, aRow, aDepth, b, bDepth, depth, rows, width)
	for r := range rows {
		to, sums := c[r*stride:][:columns], edge[r*width:][:columns]
		if !add {
			copy(to, sums)
			continue
		}
		for j, x := range sums {
			to[j] += x
		}
	}
}

// plainTile is tile in plain Go.
func plainTile[T Number](add bool, c []T, stride int, a []T, aRow, aDepth int, b []T, bDepth, depth, rows, columns int) {
	for r := range rows {
		var sums [MostTileColumns]T
		for d := range depth {
			x := a[r*aRow+d*aDepth]
			for j, y := range b[d*bDepth:][:columns] {
				sums[j] = fma(x, y, sums[j])
			}
		}
		to := c[r*stride:][:columns]
		for j, sum := range sums[:columns] {
			if add {
				sum += to[j]
			}
			to[j] = sum
		}
	}
}
