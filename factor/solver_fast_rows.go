package factor

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/freelist"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/simd"
)

// A column is swept until a sweep lowers its objective by less than stillShare of what
// the first one did, which is a step of 3 % of the first, and mostSweeps times at most.
const (
	stillShare = 9e-4
	mostSweeps = 20
)

// minimiseRows moves the columns of θ, k×p, from the positive part of from, which may be θ,
// towards the minima over θ ≥ 0 of ½·tr(θᵀHθ) − tr(Bᵀθ), H being k×k and positive
// semidefinite: coordinate descent row after row (Cichocki and Phan 2009), in panels of
// columns side by side. What becomes of a column does not depend on the others.
func minimiseRows(theta, from, b, h *mat.Dense, sweeps int) {
	const width = simd.SweepColumns
	k, p := theta.Dims()
	inverse := make([]float64, k)
	for r := range inverse {
		if x := h.At(r, r); x >= leastDenominator {
			inverse[r] = 1 / x
		}
	}
	parallel.Do(parallel.Count(p, width), func(i int) {
		at := i * width
		count := min(width, p-at)
		d := panels.Get()
		defer panels.Put(d)
		d.v = slices.Grow(d.v[:0], k*width)[:k*width]
		d.b = slices.Grow(d.b[:0], k*width)[:k*width]
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
		d.sweep(count, h.RawMatrix().Data, inverse, sweeps)
		for r := range k {
			to := theta.RawRowView(r)[at : at+count]
			for c, x := range d.v[r*width:][:count] {
				if x < floor {
					x = 0
				}
				to[c] = x
			}
		}
	})
}

// A columnPanel is a panel of columns of θ and B, k×simd.SweepColumns.
type columnPanel struct{ v, b []float64 }

var panels = freelist.List[*columnPanel]{New: func() *columnPanel { return &columnPanel{} }}

// sweep sweeps the first count columns until each of them stands still.
func (d *columnPanel) sweep(count int, h, inverse []float64, sweeps int) {
	var active, first, step [simd.SweepColumns]float64
	for c := range count {
		active[c] = simd.Active
	}
	for t := range sweeps {
		clear(step[:])
		simd.Sweep(d.v, d.b, h, inverse, active[:], step[:])
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
