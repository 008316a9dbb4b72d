package descent

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/simd"
)

// A problem is swept until a sweep lowers its objective by less than StillShare of what the first one did,
// which is a step of 3 % of the first, and MostSweeps times at most.
const (
	StillShare = 9e-4
	MostSweeps = 20
)

// Sweeps calls sweep, which returns by how much it lowered an objective, until that stands still.
func Sweeps(sweep func() float64) {
	var first float64
	for t := range MostSweeps {
		lowered := sweep()
		if t == 0 {
			first = lowered
		}
		if lowered <= StillShare*first {
			return
		}
	}
}

// MinimiseRows moves the columns of θ, k×p, from the positive part of from, which may be θ, towards the
// minima over θ ≥ 0 of ½·tr(θᵀHθ) − tr(Bᵀθ), H being k×k and positive semidefinite: coordinate descent
// row after row (Cichocki and Phan 2009), in panels of columns side by side. What becomes of a column
// does not depend on the others.
func MinimiseRows(ctx context.Context, theta, from, b, h *mat.Dense, sweeps int) error {
	k, p := theta.Dims()
	quadratic := h.RawMatrix().Data
	inverse := make([]float64, k)
	for r := range inverse {
		if x := quadratic[r*k+r]; x >= algebra.LeastDenominator {
			inverse[r] = 1 / x
		}
	}
	panels := make([]columnPanel, parallel.Cores())
	return parallel.Blocks(ctx, len(panels), p, simd.SweepColumns, func(worker, at, end int) {
		d, size := &panels[worker], k*simd.SweepColumns
		d.v, d.b = slices.Grow(d.v[:0], size)[:size], slices.Grow(d.b[:0], size)[:size]
		for r := range k {
			to, linear := d.v[r*simd.SweepColumns:][:simd.SweepColumns], d.b[r*simd.SweepColumns:][:simd.SweepColumns]
			if end-at < simd.SweepColumns {
				clear(to)
				clear(linear)
			}
			for c, x := range from.RawRowView(r)[at:end] {
				to[c] = max(x, 0)
			}
			copy(linear, b.RawRowView(r)[at:end])
		}
		d.descend(end-at, quadratic, inverse, sweeps)
		for r := range k {
			to := theta.RawRowView(r)[at:end]
			copy(to, d.v[r*simd.SweepColumns:])
			for c, x := range to {
				if x < algebra.Floor {
					to[c] = 0
				}
			}
		}
	})
}

// A columnPanel is a panel of columns of θ and B, k×columns.
type columnPanel struct {
	v, b                []float64
	active, first, step [simd.SweepColumns]float64
}

// descend sweeps the first count columns until each of them stands still.
func (d *columnPanel) descend(count int, h, inverse []float64, sweeps int) {
	clear(d.active[:])
	for c := range count {
		d.active[c] = simd.Active
	}
	for t := range sweeps {
		clear(d.step[:])
		simd.Sweep(d.v, d.b, h, inverse, d.active[:], d.step[:])
		if t == 0 {
			d.first = d.step
		}
		moving := false
		for c, moved := range d.step[:count] {
			if d.active[c] == 0 {
				continue
			}
			if moved <= StillShare*d.first[c] || moved == 0 {
				d.active[c] = 0
			} else {
				moving = true
			}
		}
		if !moving {
			return
		}
	}
}
