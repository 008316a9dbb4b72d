package simd

import "math"

// Lanes32 divides the length of rows of Gather and Descend.
const Lanes32 = 8

// Descend performs one sweep of coordinate descent on Σ z − Σ x·log y over z, with y = Σ z_r·u_r. The rows u_r have
// the given stride and the length of y and x, a multiple of Lanes32. With a = Σ x·u_r/y and h = Σ x·u_r²/y² the step
// of an entry is (a − 1)·a/h, Newton's step for 1/a(z) = 1. Entries do not fall below floor or a tenth of their
// value. An entry is unchanged if its step is NaN or leads above 1e6. y is bounded below by 1e-30. Sums are in single
// precision within a segment, and in double over segments. On return y lacks the last entry's step.
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
	mostFall   = 0.1  // least ratio of an entry to its previous value, so that y keeps its digits
	segment    = 1024 // number of values summed in single precision
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

// coordinate adds step·before to y, and adds Σ x·b and Σ x·b² with b = u/y to as and hs, in eight lanes.
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

// Gather copies the rows at[0], at[1], … of rows, which have the length of z, to the columns of u, whose rows have
// the given stride, and writes their inner products with z to y. len(at) must be a multiple of Lanes32, and len(z) a
// value of Width.
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

// SweepColumns is the number of problems that Sweep solves in parallel.
const SweepColumns = 64

// Sweep performs one sweep of coordinate descent on SweepColumns problems with k variables, min ½vᵀhv − bᵀv over v ≥
// 0, each a column of v and b, k×SweepColumns: for each row r, v_r ← max(0, v_r − (h_r·v − b_r)·inverse_r). h is k×k;
// inverse holds the inverses of its diagonal, or 0 for rows to leave unchanged. A column is updated if its entry of
// active is Active, and unchanged if it is 0. For every row h_rr·δ², with δ the change of v_r, is added to the
// column's sum in step. Columns are independent of each other.
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
			if active[c] == 0 { // Active is NaN, so it is not 0
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

// Active marks a column to update: all bits are set.
var Active = math.Float64frombits(math.MaxUint64)
