package simd

// WindowTile is how [Windows] computes on this processor: so many windows at a time, and
// so many numbers of each. Both are 0 where there is no assembly.
func WindowTile() (windows, columns int) { return windowTile() }

// Windows computes a convolution of one group: of each window, taps runs of depth numbers
// of x, its product with w, taps·depth × columns, and with bias the sum, which is kept
// within the bounds:
//
//	c[r·stride + j] = min(max(bias[j] + Σ x[at(r, t) + d]·w[t·depth + d, j], bounds[0]), bounds[1])
//
// At holds the offsets of the runs in x, tile windows of [WindowTile] at a time: the first
// run of each, the second of each, …; what is missing of the last tile has offsets of runs too.
// Columns are at most those of the tile. w and bias have as many as [WindowColumns] says,
// in rows one after another. The caller answers for it that runs lie within x.
func Windows(c []float32, stride, columns int, x []float32, at []int32, windows, taps, depth int, w, bias []float32, bounds *[2]float32) {
	tile, _ := WindowTile()
	width := WindowColumns(columns)
	if windows == 0 || taps == 0 || depth == 0 {
		panic("simd: empty windows")
	}
	tiles := (windows + tile - 1) / tile
	_, _, _, _ = c[:(windows-1)*stride+columns], at[:tiles*tile*taps], w[:taps*depth*width], bias[:width]
	for i := range tiles {
		windowsTile(&c[i*tile*stride], stride, columns, &x[0], &at[i*tile*taps], taps, depth, &w[0], &bias[0], bounds, min(tile, windows-i*tile))
	}
}
