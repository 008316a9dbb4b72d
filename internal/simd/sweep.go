package simd

import "math"

// SweepColumns is how many columns Sweep moves side by side, SweepColumns32 how many Sweep32.
const (
	SweepColumns   = 64
	SweepColumns32 = 128
)

// Sweep is one sweep of coordinate descent in SweepColumns problems of k variables,
// min ½vᵀhv − bᵀv over v ≥ 0, each a column of v and b, both k×SweepColumns: row after
// row v_r ← max(0, v_r − (h_r·v − b_r)·inverse_r). h is k×k, inverse holds the inverses
// of its diagonal, or 0 for rows that are to stay. Columns move where all bits of active
// are set, and stay where none is. h_rr·δ² of every row, δ being what v_r has moved by, is
// added to step, of SweepColumns sums. A column's numbers do not depend on the others'.
func Sweep(v, b, h, inverse, active, step []float64) {
	if len(inverse) > 0 && sweep(v, b, h, inverse, active, step) {
		return
	}
	sweepOf(v, b, h, inverse, active[:SweepColumns], step)
}

// Sweep32 is Sweep in single precision, of SweepColumns32 columns.
func Sweep32(v, b, h, inverse, active, step []float32) {
	sweepOf(v, b, h, inverse, active[:SweepColumns32], step)
}

func sweepOf[T float32 | float64](v, b, h, inverse, active, step []T) {
	k, width := len(inverse), len(active)
	v, b, h, step = v[:k*width], b[:k*width], h[:k*k], step[:width]
	var sums [SweepColumns32]T
	sum := sums[:width]
	for r := range k {
		clear(sum)
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

// Active and Active32 are what a column's entry of active is where the column moves.
var (
	Active   = math.Float64frombits(math.MaxUint64)
	Active32 = math.Float32frombits(math.MaxUint32)
)
