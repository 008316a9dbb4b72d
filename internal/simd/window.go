package simd

// WindowTile returns the number of windows of a tile of [Windows] on this processor, and the largest number of columns.
func WindowTile() (windows, columns int) { return tileRows, TileColumns[float32]() }

// Windows computes a convolution of one group with bias and clipping. A window is taps runs of depth numbers of x,
// and w is taps·depth × columns:
//
//	c[r·stride + j] = min(max(bias[j] + Σ x[at(r, t) + d]·w[t·depth + d, j], bounds[0]), bounds[1])
//
// at holds the offsets of the runs in x by tiles of [WindowTile] windows: the first run of each window of a tile,
// then the second of each, and so on. The last tile is padded with valid offsets. columns is at most the
// number from WindowTile. Rows of w and bias are padded to [WholeColumns]. The caller must ensure that runs are within x.
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

// clamp limits numbers to the bounds. NaN is unchanged.
func clamp(x []float32, bounds *[2]float32) {
	for j, v := range x {
		if v < bounds[0] {
			x[j] = bounds[0]
		} else if v > bounds[1] {
			x[j] = bounds[1]
		}
	}
}

// Depthwise computes a depthwise convolution with bias and clipping. A window is taps runs of len(bias) channels of
// x:
//
//	c[r·channels + j] = min(max(bias[j] + Σ x[at[r·taps + t] + j]·w[t·channels + j], bounds[0]), bounds[1])
//
// The caller must ensure that runs are within x.
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
