package factor

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/blas"
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
func minimiseRows(ctx context.Context, theta, from, b, h *mat.Dense, sweeps int) error {
	k, _ := theta.Dims()
	ones := make([]float64, k)
	for r := range ones {
		ones[r] = 1
	}
	return sweepDouble.minimise(ctx, theta, from, b, h.RawMatrix().Data, ones, 1, sweeps)
}

// minimiseRowsSingle is minimiseRows in single precision. Row r of θ is scaled by a power of 2 so that
// H has a diagonal near 1, and all of θ and B so that the largest of B is.
func minimiseRowsSingle(ctx context.Context, theta, from, b, h *mat.Dense, sweeps int) error {
	k, _ := theta.Dims()
	scale, largest, scaled := make([]float64, k), make([]float64, k), make([]float32, k*k)
	eachRow(b, 4, func(r int, row []float64) {
		scale[r] = powerOf2(-exponentOf(max(h.At(r, r), leastDenominator)) / 2)
		largest[r] = scale[r] * simd.Largest(row)
	})
	for r, s := range scale {
		for c, x := range h.RawRowView(r) {
			scaled[r*k+c] = float32(s * scale[c] * x)
		}
	}
	return sweepSingle.minimise(ctx, theta, from, b, scaled, scale, powerOf2(-exponentOf(slices.Max(largest))), sweeps)
}

// sweeping is what minimiseRows takes of one precision, see internal/simd.
type sweeping[T blas.Number] struct {
	columns int // of a panel
	active  T
	sweep   func(v, b, h, inverse, active, step []T)
	read    func(dst []T, x []float64, scale float64)
	write   func(dst []float64, x []T, scale float64)
	panels  *freelist.List[*columnPanel[T]]
}

var (
	sweepDouble = sweeping[float64]{
		simd.SweepColumns, simd.Active, simd.Sweep,
		func(dst, x []float64, _ float64) { copy(dst, x) }, func(dst, x []float64, _ float64) { copy(dst, x) },
		panels[float64](),
	}
	sweepSingle = sweeping[float32]{simd.SweepColumns32, simd.Active32, simd.Sweep32, simd.ToSingle, simd.ToDouble, panels[float32]()}
)

func panels[T blas.Number]() *freelist.List[*columnPanel[T]] {
	return &freelist.List[*columnPanel[T]]{New: func() *columnPanel[T] { return new(columnPanel[T]) }}
}

// A columnPanel is a panel of columns of θ and B, k×columns.
type columnPanel[T blas.Number] struct {
	v, b                []T
	active, first, step [simd.SweepColumns32]T
}

// minimise is minimiseRows. h is H with rows and columns times scale, and θ is scale·by times what
// minimises with it.
func (s sweeping[T]) minimise(ctx context.Context, theta, from, b *mat.Dense, h []T, scale []float64, by float64, sweeps int) error {
	k, p := theta.Dims()
	inverse := make([]T, k)
	for r := range inverse {
		if x := h[r*k+r]; float64(x) >= leastDenominator {
			inverse[r] = 1 / x
		}
	}
	return parallel.Blocks(ctx, 0, p, s.columns, func(_, at, end int) {
		count := end - at
		d := s.panels.Get()
		defer s.panels.Put(d)
		d.v = slices.Grow(d.v[:0], k*s.columns)[:k*s.columns]
		d.b = slices.Grow(d.b[:0], k*s.columns)[:k*s.columns]
		for r := range k {
			to, linear := d.v[r*s.columns:][:s.columns], d.b[r*s.columns:][:s.columns]
			if count < s.columns {
				clear(to)
				clear(linear)
			}
			s.read(to[:count], from.RawRowView(r)[at:end], by/scale[r])
			for c, x := range to[:count] {
				to[c] = max(x, 0)
			}
			s.read(linear[:count], b.RawRowView(r)[at:end], by*scale[r])
		}
		s.descend(d, count, h, inverse, sweeps)
		for r := range k {
			to := theta.RawRowView(r)[at:end]
			s.write(to, d.v[r*s.columns:][:count], scale[r]/by)
			for c, x := range to {
				if x < floor {
					to[c] = 0
				}
			}
		}
	})
}

// descend sweeps the first count columns until each of them stands still.
func (s sweeping[T]) descend(d *columnPanel[T], count int, h, inverse []T, sweeps int) {
	active, step := d.active[:s.columns], d.step[:s.columns]
	clear(active)
	for c := range count {
		active[c] = s.active
	}
	for t := range sweeps {
		clear(step)
		s.sweep(d.v, d.b, h, inverse, active, step)
		if t == 0 {
			d.first = d.step
		}
		moving := false
		for c, moved := range step[:count] {
			if active[c] == 0 {
				continue
			}
			if moved <= stillShare*d.first[c] || moved == 0 {
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
