package simd

// HasRatioRows reports whether there are RatioRows and its like.
func HasRatioRows() bool { return wide }

// RatioLogs and RatioLogs32 are how many sums LogRows and LogRows32 have for each row.
const (
	RatioLogs   = 4
	RatioLogs32 = 8
)

// RatioRows writes the ratios of the columns of rows of x to the product a·b, whose numbers below floor
// count as floor. Rows of ratios are stride apart, those of x xStride. a and b are laid out
// as for AddTiles, b for MostTileColumns columns, which is how many rows of ratios have: behind those of x
// they are 0. There is a row, a column and a number of depth at least.
func RatioRows(ratios []float64, stride int, x []float64, xStride, rows, columns int, a, b []float64, floor float64) {
	depth := checkRatioRows(ratios, stride, x, xStride, rows, columns, a, b, MostTileColumns)
	ratioRowsAVX512(&ratios[0], stride, &x[0], xStride, first(columns), &a[0], &b[0], depth, rows, floor)
}

// RatioRows32 is RatioRows in single precision, of MostTileColumns32 columns.
func RatioRows32(ratios []float32, stride int, x []float32, xStride, rows, columns int, a, b []float32, floor float32) {
	depth := checkRatioRows(ratios, stride, x, xStride, rows, columns, a, b, MostTileColumns32)
	ratioRows32AVX512(&ratios[0], stride, &x[0], xStride, first(columns), &a[0], &b[0], depth, rows, floor)
}

// LogRows adds to logs, RatioLogs sums for each row, x·log y of the ratios y that RatioRows has
// written, where 0·log 0 is 0: to the first sum those of the first column, the fifth and so on. Columns
// are a multiple of RatioLogs, or none. LogsOf returns what DivideSum does of the rows of one tile after another.
func LogRows(logs, ratios []float64, stride int, x []float64, xStride, rows, columns int) {
	checkRows(ratios, stride, x, xStride, rows, columns, MostTileColumns)
	_ = logs[:RatioLogs*rows]
	logRowsAVX512(&ratios[0], stride, &x[0], xStride, first(columns), &logs[0], rows, &constants[0], &logTable.inverse[0])
}

// LogRows32 is LogRows in single precision, of which LogsOf32 returns what DivideSum32 does.
func LogRows32(logs []float64, ratios []float32, stride int, x []float32, xStride, rows, columns int) {
	checkRows(ratios, stride, x, xStride, rows, columns, MostTileColumns32)
	_ = logs[:RatioLogs32*rows]
	logRows32AVX512(&ratios[0], stride, &x[0], xStride, first(columns), &logs[0], rows, &logConstants[0])
}

// LogsOf returns the sum of a row of LogRows.
func LogsOf(logs []float64) float64 { return (logs[0] + logs[1]) + (logs[2] + logs[3]) }

// LogsOf32 returns the sum of a row of LogRows32.
func LogsOf32(logs []float64) float64 {
	return ((logs[0] + logs[4]) + (logs[1] + logs[5])) + ((logs[2] + logs[6]) + (logs[3] + logs[7]))
}

// first is a mask of so many numbers.
func first(columns int) uint { return 1<<columns - 1 }

func checkRatioRows[T float32 | float64](ratios []T, stride int, x []T, xStride, rows, columns int, a, b []T, tile int) (depth int) {
	checkRows(ratios, stride, x, xStride, rows, columns, tile)
	depth = len(b) / tile
	_, _ = a[:(rows+TileRows-1)/TileRows*TileRows*depth], b[:max(depth, 1)*tile]
	return depth
}

func checkRows[T float32 | float64](ratios []T, stride int, x []T, xStride, rows, columns, tile int) {
	_, _ = ratios[:(rows-1)*stride+tile], x[:(rows-1)*xStride+columns]
}

//go:noescape
func ratioRowsAVX512(ratios *float64, stride int, x *float64, xStride int, mask uint, a, b *float64, depth, rows int, floor float64)

//go:noescape
func ratioRows32AVX512(ratios *float32, stride int, x *float32, xStride int, mask uint, a, b *float32, depth, rows int, floor float32)

//go:noescape
func logRowsAVX512(ratios *float64, stride int, x *float64, xStride int, mask uint, logs *float64, rows int, constants, table *float64)

//go:noescape
func logRows32AVX512(ratios *float32, stride int, x *float32, xStride int, mask uint, logs *float64, rows int, constants *[Lanes32]float32)
