package simd

// HasRatioTile reports whether there is RatioTile.
func HasRatioTile() bool { return wide }

// RatioTileRows are the rows of a tile of RatioTile; its columns are MostTileColumns.
const RatioTileRows = 8

// RatioTile writes the ratios of a tile of x and the product a·b, whose numbers below floor
// count as floor. Rows of ratios are stride apart, those of x xStride. a and b are laid out
// as for AddTiles, a for RatioTileRows rows.
func RatioTile(ratios []float64, stride int, x []float64, xStride int, a, b []float64, floor float64) {
	depth := checkRatioTile(ratios, stride, x, xStride, a, b)
	ratioTileAVX512(&ratios[0], stride, &x[0], xStride, &a[0], &b[0], depth, floor)
}

// RatioLogTile is RatioTile that also adds to logs, four sums for each row, x·log y of the
// ratios y, where 0·log 0 is 0: to the first sum those of the first column, the fifth and so
// on. LogsOf returns what DivideSum does of the rows of one tile after another.
func RatioLogTile(ratios []float64, stride int, x []float64, xStride int, a, b []float64, floor float64, logs []float64) {
	depth := checkRatioTile(ratios, stride, x, xStride, a, b)
	_ = logs[:4*RatioTileRows]
	ratioLogTileAVX512(&ratios[0], stride, &x[0], xStride, &a[0], &b[0], depth, floor, &logs[0], &constants[0], &logTable.inverse[0])
}

// LogsOf returns the sum of a row of RatioLogTile.
func LogsOf(logs []float64) float64 { return (logs[0] + logs[1]) + (logs[2] + logs[3]) }

func checkRatioTile(ratios []float64, stride int, x []float64, xStride int, a, b []float64) (depth int) {
	depth = len(b) / MostTileColumns
	const last = RatioTileRows - 1
	_, _ = ratios[:last*stride+MostTileColumns], x[:last*xStride+MostTileColumns]
	_, _ = a[:depth*RatioTileRows], b[:max(depth, 1)*MostTileColumns]
	return depth
}

//go:noescape
func ratioTileAVX512(ratios *float64, stride int, x *float64, xStride int, a, b *float64, depth int, floor float64)

//go:noescape
func ratioLogTileAVX512(ratios *float64, stride int, x *float64, xStride int, a, b *float64, depth int, floor float64, logs, constants, table *float64)
