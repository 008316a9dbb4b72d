package simd

// WindowTile returns the windows that [Windows] computes at a time on this processor, and most numbers of each.
func WindowTile() (windows, columns int) { return tileRows, TileColumns[float32]() }

// Windows computes a convolution of one group: of each window, taps runs of depth numbers of x, its product
// with w, taps·depth × columns, and with bias the sum, which is kept within the bounds:
//
//	c[r·stride + j] = min(max(bias[j] + Σ x[at(r, t) + d]·w[t·depth + d, j], bounds[0]), bounds[1])
//
// At holds the offsets of the runs in x, tile windows of [WindowTile] at a time: the first
// run of each, the second of each, …; what is missing of the last tile has offsets of runs too.
// Columns are at most those of the tile. w and bias have as many as [WholeColumns] says,
// in rows one after another. The caller answers for it that runs lie within x.
func Windows(c []float32, stride, columns int, x []float32, at []int32, windows, taps, depth int, w, bias []float32, bounds *[2]float32) {
	width := WholeColumns[float32](columns)
	if windows == 0 || taps == 0 || depth == 0 {
		panic("simd: empty windows")
	}
	tiles := (windows + tileRows - 1) / tileRows
	_, _, _, _ = c[:(windows-1)*stride+columns], at[:tiles*tileRows*taps], w[:taps*depth*width], bias[:width]
	var edge [MostTileRows * MostTileColumns]float32
	for i := range tiles {
		to, runs, some := c[i*tileRows*stride:], at[i*tileRows*taps:], min(tileRows, windows-i*tileRows)
		if some == tileRows && columns == width {
			windowsTile(to, stride, x, runs, taps, depth, w, bias, bounds, width)
			continue
		}
		windowsTile(edge[:], width, x, runs, taps, depth, w, bias, bounds, width)
		for r := range some {
			copy(to[r*stride:][:columns], edge[r*width:])
		}
	}
}

// plainWindows is windowsTile in plain Go.
func plainWindows(c []float32, stride int, x []float32, at []int32, taps, depth int, w, bias []float32, bounds *[2]float32, width int) {
	for r := range tileRows {
		sums := c[r*stride:][:width]
		copy(sums, bias)
		for t := range taps {
			for d, v := range x[at[t*tileRows+r]:][:depth] {
				for j, weight := range w[(t*depth+d)*width:][:width] {
					sums[j] = fma32(v, weight, sums[j])
				}
			}
		}
		clamp(sums, bounds)
	}
}

// clamp keeps numbers within bounds; one that is none stays.
func clamp(x []float32, bounds *[2]float32) {
	for j, v := range x {
		if v < bounds[0] {
			x[j] = bounds[0]
		} else if v > bounds[1] {
			x[j] = bounds[1]
		}
	}
}

// Depthwise computes a convolution of each channel with itself: of each window, taps runs
// of as many numbers as bias has, which are channels,
//
//	c[r·channels + j] = min(max(bias[j] + Σ x[at[r·taps + t] + j]·w[t·channels + j], bounds[0]), bounds[1])
//
// The caller answers for it that runs lie within x.
func Depthwise(c, x []float32, at []int32, taps int, w, bias []float32, bounds *[2]float32) {
	channels := len(bias)
	windows := len(at) / taps
	c, w = c[:windows*channels], w[:taps*channels]
	if windows == 0 {
		return
	}
	done := depthwise(c, x, at, windows, taps, w, bias, bounds)
	if done == channels {
		return
	}
	for ; len(c) > 0; c, at = c[channels:], at[taps:] {
		sums := c[done:channels]
		copy(sums, bias[done:])
		for t, from := range at[:taps] {
			run, weights := x[int(from)+done:][:len(sums)], w[t*channels+done:][:len(sums)]
			for j, v := range run {
				sums[j] = fma32(v, weights[j], sums[j])
			}
		}
		clamp(sums, bounds)
	}
}
