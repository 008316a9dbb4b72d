package simd

import "math"

// SweepColumns is how many columns Sweep moves side by side.
const SweepColumns = 64

// Sweep is one sweep of coordinate descent in SweepColumns problems of k variables,
// min ½vᵀhv − bᵀv over v ≥ 0, each a column of v and b, both k×SweepColumns: row after
// row v_r ← max(0, v_r − (h_r·v − b_r)·inverse_r). h is k×k, inverse holds the inverses
// of its diagonal, or 0 for rows that are to stay. Columns move where all bits of active
// are set, and stay where none is. h_rr·δ² of every row, δ being what v_r has moved by, is
// added to step, of SweepColumns sums. A column's numbers do not depend on the others'.
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
