package simd

// The size of a tile, in double and in single precision.
const (
	TileRows      = 4
	TileColumns   = 12
	TileColumns32 = 24
)

// HasTile reports whether there is AddTile.
func HasTile() bool { return fast }

// AddTile adds a·b to the tile of c that begins at its first number, whose rows
// are stride apart. a holds the columns of its factor, TileRows numbers each,
// one after another; b the rows of its, TileColumns numbers each.
func AddTile(c []float64, stride int, a, b []float64) {
	depth := len(a) / TileRows
	_, _ = c[:(TileRows-1)*stride+TileColumns], b[:depth*TileColumns]
	if depth > 0 {
		tileAVX2(&c[0], stride, &a[0], &b[0], depth)
	}
}

//go:noescape
func tileAVX2(c *float64, stride int, a, b *float64, depth int)

// AddTile32 is AddTile in single precision, with TileColumns32.
func AddTile32(c []float32, stride int, a, b []float32) {
	depth := len(a) / TileRows
	_, _ = c[:(TileRows-1)*stride+TileColumns32], b[:depth*TileColumns32]
	if depth > 0 {
		tile32AVX2(&c[0], stride, &a[0], &b[0], depth)
	}
}

//go:noescape
func tile32AVX2(c *float32, stride int, a, b *float32, depth int)
