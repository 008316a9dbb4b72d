package factor

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/simd"
)

// fastKL lowers the divergence of a free basis by coordinate descent (Hsieh and Dhillon
// 2011): of each feature, and then of each sample, the k entries of its column of the
// factor go one after another near to the minimum of the cost in that entry. An iteration
// begins ahead of the last factors, in the direction of the last iteration; one that
// raises the objective is done again from the last factors, and there each column whose
// cost rises takes a multiplicative step instead.
//
// In one entry z, of a basis vector u of sum 1, the slope of the cost is 1 − a(z), where
// a = Σ x·u/y falls and is convex. Newton's step for 1/a(z) = 1, (a − 1)·a/h with h = Σ
// x·u²/y², is longer than that for a(z) = 1 where it leads up, and shorter where it leads
// down. 1/a is concave, so that a step up never goes beyond the minimum.
//
// Steps are computed in single precision, of columns and basis vectors that are scaled
// to sums of 1, and the objective in double.
type fastKL struct {
	f      *Factorisation
	halves [2]*klHalf   // in U, by features, and in V, by samples
	last   []*mat.Dense // the factors before the last iteration
	lead
}

const (
	klFloor = 1e-16 // least entry of a column of sum 1: one of 0 has no multiplicative step
	klPanel = 32    // columns at a time
)

// startFastKL makes ready to lower the divergence. Each sample's coefficients are scaled
// to where the cost is least.
func startFastKL(f *Factorisation) func(context.Context) error {
	u, v := f.Factors()[0], f.Factors()[1]
	features, samples := klData(f.data)
	s := &fastKL{
		f: f, lead: firstLead(),
		halves: [2]*klHalf{newKLHalf(features, u, v), newKLHalf(samples, v, u)},
		last:   []*mat.Dense{like(u), like(v)},
	}
	if m, ok := f.model.(*plainModel); ok {
		if c, ok := m.cost.(*klCost); ok {
			c.valueAlone = true // the sweeps have gradients of their own
		}
	}
	before := f.Objective()
	f.Keep()
	s.halves[1].scale()
	if f.Moved(1); !(f.Objective() <= before) { // numbers that run over
		f.Restore()
	}
	return s.iterate
}

func (s *fastKL) iterate(ctx context.Context) error {
	f := s.f
	before := f.Objective()
	f.Keep()
	if err := s.sweep(ctx, s.share(), false); err != nil {
		return err
	}
	if f.Objective() <= before {
		s.lowered(1.1, 1.01)
		for i := range s.last {
			s.last[i].Copy(f.kept[i])
		}
		return nil
	}
	s.raised()
	f.Restore()
	if err := s.sweep(ctx, 0, true); err != nil {
		return err
	}
	if f.Objective() > before { // by rounding
		f.Restore()
	}
	return nil
}

// sweep moves both factors. With guard no column's cost rises.
func (s *fastKL) sweep(ctx context.Context, by float64, guard bool) error {
	if by > 0 {
		for i, theta := range s.f.Factors() {
			aheadKL(theta, s.last[i], by)
		}
	}
	for i, h := range s.halves {
		if err := h.sweep(ctx, guard); err != nil {
			return err
		}
		s.f.Moved(i)
	}
	return nil
}

// aheadKL moves theta by a share of its way from last, but to no less than a tenth.
func aheadKL(theta, last *mat.Dense, by float64) {
	k, _ := theta.Dims()
	for r := range k {
		row, from := theta.RawRowView(r), last.RawRowView(r)
		for i, x := range row {
			row[i] = max(x+by*(x-from[i]), x/10)
		}
	}
}

// klRows are the columns' data: by samples the rows of X, by features its columns.
type klRows struct {
	totals []float64  // Σ x of each
	dense  *mat.Dense // or nil
	turned bool       // they are the columns of dense
	stored *CSR       // or nil
}

// klData returns the data by features and by samples.
func klData(d data) (features, samples klRows) {
	n, m := d.dims()
	features.totals, samples.totals = make([]float64, m), make([]float64, n)
	d.each(func(i, j int, x float64) {
		features.totals[j] += x
		samples.totals[i] += x
	})
	if sparse, ok := d.(*sparseData); ok {
		features.stored, samples.stored = sparse.byFeature().CSR, sparse.x
	} else {
		whole := d.matrix().(*mat.Dense)
		features.dense, features.turned, samples.dense = whole, true, whole
	}
	return features, samples
}

// klHalf moves the columns of theta, k×p, while other, k×q, is held.
type klHalf struct {
	x            klRows
	theta, other *mat.Dense
	k, p, q      int
	sums         []float64 // of other's rows
	width        int       // k, or the q of dense data, in whole lanes
	// unit is other with rows of sum 1: k rows of dense data; of sparse data its q columns
	// and one of zeros.
	unit    []float32
	laid    []float32 // all columns of data that are laid out once, or nil
	workers []*klWorker
}

// klWorker is what one goroutine needs.
type klWorker struct {
	x, y, u []float32 // columns' values; of sparse data what they pick of unit
	at      []int
	z       []float64 // klPanel×k
	z32     []float32
	exact   []float64 // a column of dense data
	ratios  []float64
}

func newKLHalf(x klRows, theta, other *mat.Dense) *klHalf {
	h := &klHalf{x: x, theta: theta, other: other}
	h.k, h.p = theta.Dims()
	_, h.q = other.Dims()
	h.sums = make([]float64, h.k)
	if x.stored != nil {
		h.width = simd.Width(h.k)
		h.unit = make([]float32, (h.q+1)*h.width)
	} else {
		h.width = lanes32(h.q)
		h.unit = make([]float32, h.k*h.width)
		if kept(h.p, h.width) {
			h.laid = make([]float32, h.p*h.width)
			for lo := 0; lo < h.p; lo += klPanel {
				h.layOut(h.laid[lo*h.width:], lo, min(lo+klPanel, h.p))
			}
		}
	}
	h.workers = make([]*klWorker, parallel.Cores())
	return h
}

func lanes32(n int) int { return (n + simd.Lanes32 - 1) / simd.Lanes32 * simd.Lanes32 }

func (h *klHalf) newWorker() *klWorker {
	w := &klWorker{z: make([]float64, klPanel*h.k), z32: make([]float32, max(klPanel*h.k, simd.Width(h.k)))}
	if h.x.stored == nil {
		w.y = make([]float32, klPanel*h.width)
		if h.laid == nil {
			w.x = make([]float32, klPanel*h.width)
		}
	}
	return w
}

// scale brings each column to where its cost is least.
func (h *klHalf) scale() {
	h.readOther()
	z := make([]float64, h.k)
	for i := range h.p {
		h.take(z, i, i+1)
		h.put(z, i)
	}
}

// sweep moves each entry once. With guard the cost of no column rises.
func (h *klHalf) sweep(ctx context.Context, guard bool) error {
	h.readOther()
	return parallel.Blocks(ctx, len(h.workers), h.p, klPanel, func(worker, lo, hi int) {
		if h.workers[worker] == nil {
			h.workers[worker] = h.newWorker()
		}
		w := h.workers[worker]
		h.take(w.z, lo, hi)
		if h.x.stored != nil {
			h.sparsePanel(w, lo, hi)
		} else {
			h.densePanel(w, lo, hi)
		}
		if guard {
			h.guard(w, lo, hi)
			return
		}
		for c := range hi - lo {
			h.put(w.z[c*h.k:][:h.k], lo+c)
		}
	})
}

// readOther makes unit of other.
func (h *klHalf) readOther() {
	rowSums(h.sums, h.other)
	for r, sum := range h.sums {
		by := 1 / max(sum, leastDenominator)
		if h.x.stored != nil {
			for j, x := range h.other.RawRowView(r) {
				h.unit[j*h.width+r] = float32(x * by)
			}
		} else {
			to := h.unit[r*h.width:]
			for j, x := range h.other.RawRowView(r) {
				to[j] = float32(x * by)
			}
		}
	}
}

// take writes columns of theta to z, column by column, each brought to the sum at which its
// cost is least, which is 1.
func (h *klHalf) take(z []float64, lo, hi int) {
	for r, s := range h.sums {
		for c, x := range h.theta.RawRowView(r)[lo:hi] {
			z[c*h.k+r] = x * s
		}
	}
	for c := range hi - lo {
		var sum float64
		column := z[c*h.k:][:h.k]
		for _, x := range column {
			sum += x
		}
		by := 1 / max(sum, leastDenominator)
		for r := range column {
			column[r] *= by
		}
	}
}

// put writes column i of theta, but for entries of which other has no row.
func (h *klHalf) put(z []float64, i int) {
	for r, s := range h.sums {
		if s >= leastDenominator {
			h.theta.Set(r, i, moved(z[r]*h.x.totals[i]/s, 1))
		}
	}
}

// guard writes columns of theta; one whose cost would rise takes a multiplicative step.
func (h *klHalf) guard(w *klWorker, lo, hi int) {
	old := make([]float64, h.k)
	for i := lo; i < hi; i++ {
		mat.Col(old, i, h.theta)
		before, _, _ := h.cost(w, i)
		h.put(w.z[(i-lo)*h.k:][:h.k], i)
		if after, _, _ := h.cost(w, i); !(after <= before) {
			h.theta.SetCol(i, old)
			h.multiply(w, i)
		}
	}
}

// multiply takes a multiplicative step of column i.
func (h *klHalf) multiply(w *klWorker, i int) {
	_, ratios, at := h.cost(w, i)
	for r, s := range h.sums {
		row := h.other.RawRowView(r)
		var sum float64
		for p, x := range ratios {
			j := p
			if at != nil {
				j = at[p]
			}
			sum += x * row[j]
		}
		h.theta.Set(r, i, moved(h.theta.At(r, i), sum/max(s, leastDenominator)))
	}
}

// cost returns the cost of column i, but for a constant, and the ratios x/y, which are those
// at certain places or of all.
func (h *klHalf) cost(w *klWorker, i int) (cost float64, ratios []float64, at []int) {
	var x []float64
	if h.x.stored != nil {
		at, x = h.x.stored.Row(i)
	} else {
		if len(w.exact) < h.q {
			w.exact = make([]float64, h.q)
		}
		x = w.exact[:h.q]
		if h.x.turned {
			mat.Col(x, i, h.x.dense)
		} else {
			x = h.x.dense.RawRowView(i)
		}
	}
	if len(w.ratios) < len(x) {
		w.ratios = make([]float64, len(x))
	}
	y := w.ratios[:len(x)]
	clear(y)
	for r, s := range h.sums {
		v, row := h.theta.At(r, i), h.other.RawRowView(r)
		cost += v * s
		if at == nil {
			axpy(v, row, y)
			continue
		}
		for p, j := range at {
			y[p] += v * row[j]
		}
	}
	return cost + simd.DivideSum(y, x, floor), y, at
}

// layOut writes columns of dense data, each brought to a sum of 1.
func (h *klHalf) layOut(dst []float32, lo, hi int) {
	var by [klPanel]float64
	for c, total := range h.x.totals[lo:hi] {
		by[c] = 1 / max(total, leastDenominator)
	}
	if h.x.turned {
		for j := range h.q {
			for c, x := range h.x.dense.RawRowView(j)[lo:hi] {
				dst[c*h.width+j] = float32(x * by[c])
			}
		}
		return
	}
	for c := range hi - lo {
		to, by := dst[c*h.width:], by[c]
		for j, x := range h.x.dense.RawRowView(lo + c) {
			to[j] = float32(x * by)
		}
	}
}

func (h *klHalf) densePanel(w *klWorker, lo, hi int) {
	x := w.x
	if h.laid != nil {
		x = h.laid[lo*h.width:]
	} else {
		h.layOut(x, lo, hi)
	}
	for i, x := range w.z[:(hi-lo)*h.k] {
		w.z32[i] = float32(x)
	}
	blas.Multiply(noTrans, noTrans, 1,
		blas.Of[float32]{Rows: hi - lo, Cols: h.k, Stride: h.k, Data: w.z32},
		blas.Of[float32]{Rows: h.k, Cols: h.width, Stride: h.width, Data: h.unit}, 0,
		blas.Of[float32]{Rows: hi - lo, Cols: h.width, Stride: h.width, Data: w.y})
	for c := range hi - lo {
		from, to := c*h.width, (c+1)*h.width
		simd.Descend(w.z[c*h.k:][:h.k], w.y[from:to], x[from:to], h.unit, h.width, klFloor)
	}
}

func (h *klHalf) sparsePanel(w *klWorker, lo, hi int) {
	for c := range hi - lo {
		cols, vals := h.x.stored.Row(lo + c)
		z := w.z[c*h.k:][:h.k]
		if len(cols) == 0 {
			clear(z)
			continue
		}
		size := lanes32(len(cols))
		if len(w.x) < size {
			w.x, w.y, w.u, w.at = make([]float32, size), make([]float32, size), make([]float32, size*h.width), make([]int, size)
		}
		by := 1 / max(h.x.totals[lo+c], leastDenominator) // values that are stored may be 0
		for p, x := range vals {
			w.x[p], w.at[p] = float32(x*by), cols[p]
		}
		for p := len(vals); p < size; p++ {
			w.x[p], w.at[p] = 0, h.q
		}
		for r, x := range z {
			w.z32[r] = float32(x)
		}
		simd.Gather(w.u, size, w.y, w.z32[:h.width], h.unit, w.at[:size])
		simd.Descend(z, w.y[:size], w.x[:size], w.u, size, klFloor)
	}
}
