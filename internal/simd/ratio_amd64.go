package simd

// HasRatioTile reports whether there are RatioTile and its like.
func HasRatioTile() bool { return wide }

// RatioTileRows are the rows of a tile of RatioTile; its columns are MostTileColumns, or
// MostTileColumns32 in single precision.
const RatioTileRows = 8

// RatioLogs and RatioLogs32 are how many sums RatioLogTile and RatioLogTile32 have for each row.
const (
	RatioLogs   = 4
	RatioLogs32 = 8
)

// RatioTile writes the ratios of a tile of x and the product a·b, whose numbers below floor
// count as floor. Rows of ratios are stride apart, those of x xStride. a and b are laid out
// as for AddTiles, a for RatioTileRows rows.
func RatioTile(ratios []float64, stride int, x []float64, xStride int, a, b []float64, floor float64) {
	depth := checkRatioTile(ratios, stride, x, xStride, a, b, MostTileColumns)
	ratioTileAVX512(&ratios[0], stride, &x[0], xStride, &a[0], &b[0], depth, floor)
}

// RatioTile32 is RatioTile in single precision.
func RatioTile32(ratios []float32, stride int, x []float32, xStride int, a, b []float32, floor float32) {
	depth := checkRatioTile(ratios, stride, x, xStride, a, b, MostTileColumns32)
	ratioTile32AVX512(&ratios[0], stride, &x[0], xStride, &a[0], &b[0], depth, floor)
}

// RatioLogTile is RatioTile that also adds to logs, RatioLogs sums for each row, x·log y of the
// ratios y, where 0·log 0 is 0: to the first sum those of the first column, the fifth and so
// on. LogsOf returns what DivideSum does of the rows of one tile after another.
func RatioLogTile(ratios []float64, stride int, x []float64, xStride int, a, b []float64, floor float64, logs []float64) {
	depth := checkRatioTile(ratios, stride, x, xStride, a, b, MostTileColumns)
	_ = logs[:RatioLogs*RatioTileRows]
	ratioLogTileAVX512(&ratios[0], stride, &x[0], xStride, &a[0], &b[0], depth, floor, &logs[0], &constants[0], &logTable.inverse[0])
}

// RatioLogTile32 is RatioLogTile in single precision, of which LogsOf32 returns what DivideSum32 does.
func RatioLogTile32(ratios []float32, stride int, x []float32, xStride int, a, b []float32, floor float32, logs []float64) {
	depth := checkRatioTile(ratios, stride, x, xStride, a, b, MostTileColumns32)
	_ = logs[:RatioLogs32*RatioTileRows]
	ratioLogTile32AVX512(&ratios[0], stride, &x[0], xStride, &a[0], &b[0], depth, floor, &logs[0], &logConstants[0])
}

// LogsOf returns the sum of a row of RatioLogTile.
func LogsOf(logs []float64) float64 { return (logs[0] + logs[1]) + (logs[2] + logs[3]) }

// LogsOf32 returns the sum of a row of RatioLogTile32.
func LogsOf32(logs []float64) float64 {
	return ((logs[0] + logs[4]) + (logs[1] + logs[5])) + ((logs[2] + logs[6]) + (logs[3] + logs[7]))
}

func checkRatioTile[T float32 | float64](ratios []T, stride int, x []T, xStride int, a, b []T, columns int) (depth int) {
	depth = len(b) / columns
	const last = RatioTileRows - 1
	_, _ = ratios[:last*stride+columns], x[:last*xStride+columns]
	_, _ = a[:depth*RatioTileRows], b[:max(depth, 1)*columns]
	return depth
}

//go:noescape
func ratioTileAVX512(ratios *float64, stride int, x *float64, xStride int, a, b *float64, depth int, floor float64)

//go:noescape
func ratioTile32AVX512(ratios *float32, stride int, x *float32, xStride int, a, b *float32, depth int, floor float32)

//go:noescape
func ratioLogTileAVX512(ratios *float64, stride int, x *float64, xStride int, a, b *float64, depth int, floor float64, logs, constants, table *float64)

//go:noescape
func ratioLogTile32AVX512(ratios *float32, stride int, x *float32, xStride int, a, b *float32, depth int, floor float32, logs *float64, constants *[Lanes32]float32)
