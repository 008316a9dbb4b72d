package simd

import "golang.org/x/sys/cpu"

// fast and wide report whether assembly for AVX2, and for AVX-512, can be used.
var (
	fast = cpu.X86.HasAVX2 && cpu.X86.HasFMA
	wide = fast && cpu.X86.HasAVX512F && cpu.X86.HasAVX512VL
)

var tileRows = rowsOfTile()

func rowsOfTile() int {
	if wide {
		return 8
	}
	return 4
}

// Instructions returns the names of the instruction set extensions in use, or "".
func Instructions() string {
	switch {
	case wide:
		return "AVX-512"
	case fast:
		return "AVX2 and FMA"
	}
	return ""
}

func tile[T Number](add bool, c []T, stride int, a []T, aRow, aDepth int, b []T, bDepth, depth, rows, columns int) {
	plus, registers := 0, columns/(TileColumns[T]()/3)
	if add {
		plus = 1
	}
	switch c := any(c).(type) {
	case []float64:
		a, b := any(a).([]float64), any(b).([]float64)
		if wide {
			tileAVX512(plus, &c[0], stride, &a[0], aRow, aDepth, &b[0], bDepth, depth, rows, registers)
			return
		} else if fast {
			tileAVX2(plus, &c[0], stride, &a[0], aRow, aDepth, &b[0], bDepth, depth, rows, registers)
			return
		}
	case []float32:
		a, b := any(a).([]float32), any(b).([]float32)
		if wide {
			tile32AVX512(plus, &c[0], stride, &a[0], aRow, aDepth, &b[0], bDepth, depth, rows, registers)
			return
		} else if fast {
			tile32AVX2(plus, &c[0], stride, &a[0], aRow, aDepth, &b[0], bDepth, depth, rows, registers)
			return
		}
	}
	plainTile(add, c, stride, a, aRow, aDepth, b, bDepth, depth, rows, columns)
}

func dots(dst, a, rows []float64, at []int) bool {
	n := len(at) &^ 3
	if !fast || len(at) == 0 {
		return fast
	}
	if n > 0 {
		dotsAVX2(&dst[0], &a[0], &rows[0], &at[0], n, len(a))
	}
	if n < len(at) {
		last, f := [4]float64{}, weightedIndices(at[n:], nil)
		dotsAVX2(&last[0], &a[0], &rows[0], &f.at[0], 4, len(a))
		copy(dst[n:], last[:len(at)-n])
	}
	return true
}

func addRows(dst, weights, rows []float64, at []int) bool {
	n := len(at) &^ 3
	if !fast || len(at) == 0 || len(dst)%4 != 0 {
		return len(at) == 0
	}
	if n > 0 && wide && len(dst)%8 == 0 {
		addRowsAVX512(&dst[0], &weights[0], &rows[0], &at[0], n, len(dst))
	} else if n > 0 {
		addRowsAVX2(&dst[0], &weights[0], &rows[0], &at[0], n, len(dst))
	}
	if n < len(at) {
		f := weightedIndices(at[n:], weights[n:])
		addRowsAVX2(&dst[0], &f.x[0], &rows[0], &f.at[0], 4, len(dst))
	}
	return true
}

func symmetricRows(y, x, rows []float64, stride int) bool {
	if fast {
		symmetricRowsAVX2(&y[0], &x[0], &rows[0], stride, len(x))
	}
	return fast
}

func logSum(y, x []float64, sums *[8]float64) int {
	n := roundDown8(len(y))
	switch {
	case n == 0 || !fast:
		return 0
	case wide:
		logSumAVX512(&y[0], &x[0], n, sums)
	default:
		logSumAVX2(&y[0], &x[0], n, sums)
	}
	return n
}

func sweep(v, b, h, inverse, active, step []float64) bool {
	k := len(inverse)
	_, _, _, _, _ = v[k*SweepColumns-1], b[k*SweepColumns-1], h[k*k-1], active[SweepColumns-1], step[SweepColumns-1]
	switch {
	case wide:
		sweepAVX512(&v[0], &b[0], &h[0], &inverse[0], &active[0], &step[0], k)
	case fast:
		const half = SweepColumns / 2
		sweepAVX2(&v[0], &b[0], &h[0], &inverse[0], &active[0], &step[0], k)
		sweepAVX2(&v[half], &b[half], &h[0], &inverse[0], &active[half], &step[half], k)
	}
	return fast
}

func windowsTile(c []float32, stride int, x []float32, at []int32, taps, depth int, w, bias []float32, bounds *[2]float32, width int) {
	switch {
	case wide:
		windowsAVX512(&c[0], stride, &x[0], &at[0], taps, depth, &w[0], &bias[0], bounds, width/16)
	case fast:
		windowsAVX2(&c[0], stride, &x[0], &at[0], taps, depth, &w[0], &bias[0], bounds, width/8)
	default:
		plainWindows(c, stride, x, at, taps, depth, w, bias, bounds, width)
	}
}

func depthwise(c, x []float32, at []int32, windows, taps int, w, bias []float32, bounds *[2]float32) int {
	n := len(bias) &^ 15
	switch {
	case n == 0 || !fast:
		return 0
	case wide:
		depthwiseAVX512(&c[0], &x[0], &at[0], windows, taps, &w[0], &bias[0], bounds, len(bias), n)
	default:
		depthwiseAVX2(&c[0], &x[0], &at[0], windows, taps, &w[0], &bias[0], bounds, len(bias), n)
	}
	return n
}

func descend(z []float64, y, x, u []float32, stride int, floor float64) bool {
	if fast {
		bounds := [...]float64{leastSlope, mostEntry, floor, mostFall, 1}
		descendAVX2(&z[0], &y[0], &x[0], &u[0], len(y), stride, len(z), &bounds[0], least32)
	}
	return fast
}

func gather(u []float32, stride int, y, z, rows []float32, at []int) bool {
	if fast {
		gatherAVX2(&u[0], &y[0], &z[0], &rows[0], &at[0], 4*stride, len(at), 4*len(z))
	}
	return fast
}
