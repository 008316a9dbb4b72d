package simd

import "unsafe"

// MostTileRows and MostTileColumns are the largest size of a tile of a matrix product on any processor.
const (
	MostTileRows    = 8
	MostTileColumns = 48
)

// TileRows returns the number of rows of a tile on this processor: the number of float64 in a register.
func TileRows() int { return tileRows }

// TileColumns returns the number of columns of a tile on this processor: three registers.
func TileColumns[T Number]() int {
	var x T
	return 3 * 8 * tileRows / int(unsafe.Sizeof(x))
}

// WholeColumns returns columns rounded up to whole registers: the numbers that Tile reads of each row of b.
func WholeColumns[T Number](columns int) int {
	register := TileColumns[T]() / 3
	return (columns + register - 1) / register * register
}

// Tile computes c = a·b, plus c if add is set, for a c of at most one tile. a has the strides aRow between rows and
// aDepth along the depth; b has the row stride bDepth. Each entry of the product is summed in the order of the depth.
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
