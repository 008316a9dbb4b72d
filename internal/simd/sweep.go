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
	k := len(inverse)
	v, b, h = v[:k*SweepColumns], b[:k*SweepColumns], h[:k*k]
	active, step = active[:SweepColumns], step[:SweepColumns]
	if k == 0 || sweep(v, b, h, inverse, active, step) {
		return
	}
	var sum [SweepColumns]float64
	for r := range k {
		clear(sum[:])
		for s := range k {
			x := h[r*k+s]
			for c, y := range v[s*SweepColumns:][:SweepColumns] {
				sum[c] += x * y
			}
		}
		row, linear, diagonal, by := v[r*SweepColumns:][:SweepColumns], b[r*SweepColumns:][:SweepColumns], h[r*k+r], inverse[r]
		for c, x := range row {
			if math.Float64bits(active[c]) == 0 {
				continue
			}
			delta := max(0, x-(sum[c]-linear[c])*by) - x
			row[c] = x + delta
			step[c] += diagonal * delta * delta
		}
	}
}

// Active is what a column's entry of active is where the column moves.
var Active = math.Float64frombits(math.MaxUint64)
