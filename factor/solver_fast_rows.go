package factor

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/simd"
)

// A column is swept until a sweep lowers its objective by less than stillShare of what
// the first one did, which is a step of 3 % of the first, and mostSweeps times at most.
const (
	stillShare = 9e-4
	mostSweeps = 20
)

// descentRows moves the columns of θ, k×p, towards the minima over θ ≥ 0 of
// ½·tr(θᵀHθ) − tr(Bᵀθ), H being k×k and positive semidefinite: coordinate descent row
// after row (Cichocki and Phan 2009), in panels of columns side by side. What becomes of
// a column does not depend on the others.
type descentRows struct {
	inverse, v, b []float64
}

// minimise starts from the positive part of from, k×p, and writes to theta, which may be
// from.
func (d *descentRows) minimise(theta, from, b, h *mat.Dense, sweeps int) {
	const width = simd.SweepColumns
	k, p := theta.Dims()
	if len(d.inverse) != k {
		d.inverse, d.v, d.b = make([]float64, k), make([]float64, k*width), make([]float64, k*width)
	}
	for r := range k {
		d.inverse[r] = 0
		if x := h.At(r, r); x >= leastDenominator {
			d.inverse[r] = 1 / x
		}
	}
	for at := 0; at < p; at += width {
		count := min(width, p-at)
		for r := range k {
			to, linear := d.v[r*width:][:width], d.b[r*width:][:width]
			if count < width {
				clear(to)
				clear(linear)
			}
			for c, x := range from.RawRowView(r)[at : at+count] {
				to[c] = max(x, 0)
			}
			copy(linear, b.RawRowView(r)[at:at+count])
		}
		d.sweepPanel(count, h.RawMatrix().Data, sweeps)
		for r := range k {
			to := theta.RawRowView(r)[at : at+count]
			for c, x := range d.v[r*width:][:count] {
				if x < floor {
					x = 0
				}
				to[c] = x
			}
		}
	}
}

// sweepPanel sweeps count columns until each of them stands still.
func (d *descentRows) sweepPanel(count int, h []float64, sweeps int) {
	var active, first, step [simd.SweepColumns]float64
	for c := range count {
		active[c] = simd.Active
	}
	for t := range sweeps {
		clear(step[:])
		simd.Sweep(d.v, d.b, h, d.inverse, active[:], step[:])
		if t == 0 {
			first = step
		}
		moving := false
		for c, s := range step[:count] {
			if math.Float64bits(active[c]) == 0 {
				continue
			}
			if s <= stillShare*first[c] || s == 0 {
				active[c] = 0
			} else {
				moving = true
			}
		}
		if !moving {
			return
		}
	}
}
