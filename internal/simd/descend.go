package simd

import "math"

// Lanes32 is what the lengths of rows of Gather and Descend are to be multiples of.
const Lanes32 = 8

// Descend moves the entries of z one after another nearly to where Σ z − Σ x·log y is least in each, but not
// below floor nor a tenth of what they were. y = Σ z_r·u_r follows; the rows u_r are stride apart and as long
// as y and x, a multiple of Lanes32. With a = Σ x·u_r/y and h = Σ x·u_r²/y² a step is (a − 1)·a/h, what
// Newton's method makes of 1/a(z) = 1. An entry whose step is no number, or leads beyond 1e6, stays.
// Quotients are those of y ≥ 1e-30; the values of a segment are added up in single precision, and what the
// segments come to in double. y is left without the last entry's step.
func Descend(z []float64, y, x, u []float32, stride int, floor float64) {
	x = x[:len(y)]
	if len(z) == 0 || len(y) == 0 {
		return
	}
	_ = u[(len(z)-1)*stride+len(y)-1]
	if !descend(z, y, x, u, stride, floor) {
		descendPlain(z, y, x, u, stride, floor)
	}
}

const (
	least32    = 1e-30
	mostEntry  = 1e6
	leastSlope = 1e-300
	mostFall   = 0.1  // share of an entry that a step leaves, so that y keeps its digits
	segment    = 1024 // values
)

func descendPlain(z []float64, y, x, u []float32, stride int, floor float64) {
	var step float32
	before := u[:len(y)]
	for r, old := range z {
		row := u[r*stride:][:len(y)]
		var as, hs [4]float64
		for from := 0; from < len(y); from += segment {
			to := min(from+segment, len(y))
			coordinate(&as, &hs, y[from:to], x[from:to], before[from:to], row[from:to], step)
		}
		a, h := (as[0]+as[1])+(as[2]+as[3]), (hs[0]+hs[1])+(hs[2]+hs[3])
		step, before = 0, row
		next := old + (a-1)/(h/max(a, leastSlope))
		if next <= mostEntry {
			z[r] = max(next, mostFall*old, floor)
			step = float32(z[r] - old)
		}
	}
}

// coordinate adds step·before to y, and Σ x·b and Σ x·b² of b = u/y to as and hs, from eight lanes.
func coordinate(as, hs *[4]float64, y, x, before, u []float32, step float32) {
	var a, h [Lanes32]float32
	for len(y) >= Lanes32 && len(x) >= Lanes32 && len(before) >= Lanes32 && len(u) >= Lanes32 {
		for l := range Lanes32 {
			y[l] = fma32(step, before[l], y[l])
			by := y[l]
			if !(by > least32) {
				by = least32
			}
			b := u[l] / by
			xb := x[l] * b
			a[l] += xb
			h[l] = fma32(b, xb, h[l])
		}
		y, x, before, u = y[Lanes32:], x[Lanes32:], before[Lanes32:], u[Lanes32:]
	}
	for l := range Lanes32 {
		as[l%4] += float64(a[l])
		hs[l%4] += float64(h[l])
	}
}

// Gather lays out the rows at[0], at[1], … of rows, which are as long as z, as columns of
// u, whose rows are stride apart, and writes their inner products with z to y. There are a
// multiple of Lanes32 of them, and z is of a multiple of Lanes.
func Gather(u []float32, stride int, y, z, rows []float32, at []int) {
	y = y[:len(at)]
	if len(at) == 0 || len(z) == 0 {
		clear(y)
		return
	}
	_ = u[(len(z)-1)*stride+len(at)-1]
	for _, i := range at {
		_ = rows[i*len(z):][:len(z)]
	}
	if gather(u, stride, y, z, rows, at) {
		return
	}
	for p, i := range at {
		var sum float32
		for r, v := range rows[i*len(z):][:len(z)] {
			u[r*stride+p] = v
			sum = fma32(z[r], v, sum)
		}
		y[p] = sum
	}
}

// SweepColumns is how many columns Sweep moves side by side.
const SweepColumns = 64

// Sweep is one sweep of coordinate descent in SweepColumns problems of k variables, min ½vᵀhv − bᵀv over v ≥
// 0, each a column of v and b, both k×SweepColumns: row after row v_r ← max(0, v_r − (h_r·v −
// b_r)·inverse_r). h is k×k, inverse holds the inverses of its diagonal, or 0 for rows that are to stay.
// Columns move where all bits of active are set, and stay where none is. h_rr·δ² of every row, δ being what
// v_r has moved by, is added to step, of SweepColumns sums. A column's numbers do not depend on the others'.
func Sweep(v, b, h, inverse, active, step []float64) {
	const width = SweepColumns
	k := len(inverse)
	if k > 0 && sweep(v, b, h, inverse, active, step) {
		return
	}
	for r := range k {
		var sum [width]float64
		for s := range k {
			x := h[r*k+s]
			for c, y := range v[s*width:][:width] {
				sum[c] = fma(x, y, sum[c])
			}
		}
		row, linear, diagonal, by := v[r*width:][:width], b[r*width:][:width], h[r*k+r], inverse[r]
		for c, x := range row {
			if active[c] == 0 { // all bits set are no number
				continue
			}
			moved := fma(-(sum[c] - linear[c]), by, x)
			if !(moved > 0) {
				moved = 0
			}
			delta := moved - x
			row[c] = x + delta
			step[c] = fma(diagonal, delta*delta, step[c])
		}
	}
}

// Active marks a column that moves.
var Active = math.Float64frombits(math.MaxUint64)
