package factor

import (
	"cmp"
	"context"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/topk"
)

// How many samples are selected for each basis vector: all that have weights, as long as
// they are at most allSelected, with freshSelected others; of more than these firstSelected.
const (
	allSelected   = 256
	freshSelected = 32
	firstSelected = 64
	// selectedSweeps is how often an iteration goes over the selected samples at most.
	selectedSweeps = 10
)

// fastSelected is [fastConcept] of samples whose inner products are not formed, where
// a sweep over all samples is the work of many products with the data. What matters of W is
// U = W·X, which lies in the cone of the samples, and few samples span the faces where
// minima lie: their number goes with the features, not the samples. So an iteration computes
// the gradient in all weights by one product with the data, selects the samples that have
// weights and those whose weights lower the objective most, and sweeps over these. As long
// as more samples have weights than are selected, two numbers scale the weights of the
// others in each basis vector: one those with a gradient above 0, which mostly become 0 at
// once, and one the rest.
//
// As in [fastFree] iterations begin ahead of the last factors, but for W, and an iteration
// that raises the objective is done again without that.
type fastSelected struct {
	f *Factorisation
	m *conceptModel
	lead

	place []int     // of each sample in the order of sampleOrder
	size  []float64 // of each sample, ‖x‖²

	u, q         *mat.Dense // W·X and v·X̃, k×m
	v, lin       *mat.Dense // ahead: the coefficients, and u·X̃ᵀ
	aheadU       *mat.Dense // and u
	aheadQ       *mat.Dense // and q
	lastU, lastQ *mat.Dense // of the iteration before
	lastLin      *mat.Dense

	gains    []float64
	selected []int // samples, in their order
	isIn     []bool
	rows     selectedRows
	weight   *mat.Dense // of the selected samples, samples × k, and their inner products with q
	linear   *mat.Dense
	products []*mat.Dense // of the samples of each block
	block    *weightBlock
	others   [2]scaledWeights
	hasOther bool // samples that are not selected have weights
}

// scaledWeights are weights that are multiplied by a number for each basis vector.
type scaledWeights struct {
	part  *mat.Dense // the part of U that they make, k×m
	size  []float64  // of its rows
	scale []float64
}

// thinWeights leaves each basis vector the firstSelected samples that have most weight in it, with the
// sum of all weights, where more samples have weights than are selected: most iterations then move the
// weights of all that have any, and need not scale those of others. It is for random weights: others it
// would make worse.
func thinWeights(w *mat.Dense, order []int) {
	k, _ := w.Dims()
	if withWeights := len(haveWeights(nil, w, order)); withWeights <= allSelected*k {
		return
	}
	type weight struct {
		of    float64
		place int // in the order
	}
	parallel.Do(k, func(r int) {
		row := w.RawRowView(r)
		var most []weight
		var all, kept float64
		for place, i := range order {
			all += row[i]
			most = topk.Insert(most, firstSelected, weight{row[i], place}, func(a, b weight) int {
				return cmp.Or(cmp.Compare(b.of, a.of), a.place-b.place)
			})
		}
		clear(row)
		for _, one := range most {
			kept += one.of
		}
		if kept == 0 {
			return
		}
		for _, one := range most {
			row[order[one.place]] = one.of * (all / kept)
		}
	})
}

func startFastSelected(f *Factorisation, m *conceptModel, order []int) func(context.Context) error {
	n, _ := m.x.dims()
	u := mat.DenseCopyOf(m.vectors())
	s := &fastSelected{
		f: f, m: m, lead: firstLead(), place: make([]int, n), size: squaredLengths(m.x),
		u: u, q: like(u), v: like(m.v), lin: like(m.v), aheadU: like(u), aheadQ: like(u),
		lastU: mat.DenseCopyOf(u), lastQ: like(u), lastLin: like(m.v),
		gains: make([]float64, n), isIn: make([]bool, n), block: newWeightBlock(u.RawMatrix().Rows),
	}
	for at, i := range order {
		s.place[i] = at
	}
	switch x := m.x.(type) {
	case denseData:
		s.rows = &selectedDense{x: x.x}
	case *sparseData:
		s.rows = &selectedSparse{x: x.x}
	}
	m.xt.timesCoefficients(s.q, m.v)
	s.lastQ.Copy(s.q)
	m.condense()
	s.lastLin.Copy(m.lin)
	f.Keep()
	return s.iterate
}

func (s *fastSelected) iterate(ctx context.Context) error {
	f, m, by := s.f, s.m, s.share()
	before := f.Objective()
	goAhead(s.v, m.v, f.kept[1], by)
	goAhead(s.aheadQ, s.q, s.lastQ, by)
	s.lastQ.Copy(s.q)
	f.Keep()
	s.lastU.Copy(s.u)
	copyOf(s.lastLin, m.lin)

	if err := s.moveWeights(ctx, selfGram(s.v), s.aheadQ); err != nil {
		return err
	}
	goAhead(s.aheadU, s.u, s.lastU, s.by)
	goAhead(s.lin, m.lin, s.lastLin, s.by)
	if err := minimiseRows(ctx, m.v, s.v, s.lin, selfGram(s.aheadU), mostSweeps); err != nil {
		return err
	}
	f.Moved(1)
	if f.Objective() <= before {
		s.lowered(1.02, 1.005)
	} else {
		s.raised()
		s.back()
		if err := s.moveWeights(ctx, selfGram(m.v), s.lastQ); err != nil {
			return err
		}
		if err := minimiseRows(ctx, m.v, m.v, m.lin, m.h, mostSweeps); err != nil {
			return err
		}
		f.Moved(1)
		if !(f.Objective() <= before) { // by rounding
			s.back()
		}
	}
	m.xt.timesCoefficients(s.q, m.v)
	return nil
}

// back goes back to the last factors.
func (s *fastSelected) back() {
	s.f.Restore()
	s.u.Copy(s.lastU)
	s.m.lin.Copy(s.lastLin)
	s.m.setVectors(s.u)
}

// moveWeights moves W and U towards the minimum of ½·tr(gram·U·Uᵀ) − tr(U·qᵀ).
func (s *fastSelected) moveWeights(ctx context.Context, gram, q *mat.Dense) error {
	m := s.m
	residual := like(s.u)
	gemm(residual, gram, noTrans, s.u, noTrans)
	residual.Sub(residual, q)
	gradient := m.kv
	m.x.timesBasis(gradient, residual)
	s.choose(gradient, gram)
	if len(s.selected) == 0 {
		return nil
	}
	s.gather(q)
	if s.hasOther {
		s.split(gradient)
	}
	var first float64
	s.rows.follow(s.u)
	for t := range selectedSweeps {
		step, err := s.sweep(ctx, gram)
		if err != nil {
			return err
		}
		if s.hasOther {
			s.rows.finish(s.u)
			for i := range s.others {
				step += s.others[i].move(s.u, gram, q)
			}
			s.rows.follow(s.u)
		}
		if t == 0 {
			first = step
		}
		if step <= stillShare*first {
			break
		}
	}
	s.spread(gradient)
	m.xt.timesBasis(m.lin, s.u)
	m.setVectors(s.u)
	s.f.known = false
	return nil
}

// choose selects the samples whose weights are moved.
func (s *fastSelected) choose(gradient, gram *mat.Dense) {
	w := s.m.w
	k, n := w.Dims()
	const width = 1024
	parallel.Do(parallel.Count(n, width), func(part int) {
		lo, hi := part*width, min((part+1)*width, n)
		gains, isIn := s.gains[lo:hi], s.isIn[lo:hi]
		clear(gains)
		clear(isIn)
		for r := range k {
			curvature := gram.At(r, r)
			if !(curvature >= leastDenominator) {
				curvature = 0
			}
			slopes := gradient.RawRowView(r)[lo:hi]
			for a, x := range w.RawRowView(r)[lo:hi] {
				if x != 0 {
					isIn[a] = true
				} else if slopes[a] >= 0 {
					continue
				}
				if c := curvature * s.size[lo+a]; c >= leastDenominator {
					by := max(-x, -slopes[a]/c)
					gains[a] = max(gains[a], -by*(slopes[a]+0.5*c*by))
				}
			}
		}
	})
	withWeights := 0
	for _, in := range s.isIn {
		if in {
			withWeights++
		}
	}
	most := freshSelected * k
	if s.hasOther = withWeights > allSelected*k; s.hasOther {
		clear(s.isIn)
		most = firstSelected * k
	}
	s.selected = s.selected[:0]
	for i, gain := range s.gains {
		if gain > 0 && !s.isIn[i] {
			s.selected = append(s.selected, i)
		}
	}
	if len(s.selected) > most {
		slices.SortFunc(s.selected, func(i, j int) int {
			return cmp.Or(cmp.Compare(s.gains[j], s.gains[i]), cmp.Compare(s.place[i], s.place[j]))
		})
		s.selected = s.selected[:most]
	}
	for i, in := range s.isIn {
		if in {
			s.selected = append(s.selected, i)
		}
	}
	for _, i := range s.selected {
		s.isIn[i] = true
	}
	slices.SortFunc(s.selected, func(i, j int) int { return cmp.Compare(s.place[i], s.place[j]) })
}

// gather takes the selected samples and their weights.
func (s *fastSelected) gather(q *mat.Dense) {
	k, _ := s.u.Dims()
	count := len(s.selected)
	s.rows.take(s.selected)
	s.weight, s.linear = resized(s.weight, count, k), resized(s.linear, count, k)
	for a, i := range s.selected {
		to := s.weight.RawRowView(a)
		for r := range to {
			to[r] = s.m.w.At(r, i)
		}
	}
	s.rows.times(s.linear, q)
	blocks := parallel.Count(count, blockSamples)
	s.products = slices.Grow(s.products[:0], blocks)[:blocks]
	parallel.Do(blocks, func(at int) { s.products[at] = s.rows.products(at) })
}

// part returns the rows of a block.
func part(a *mat.Dense, at int) *mat.Dense {
	r, c := a.Dims()
	return a.Slice(at*blockSamples, min((at+1)*blockSamples, r), 0, c).(*mat.Dense)
}

// split makes the parts of U that other samples make.
func (s *fastSelected) split(gradient *mat.Dense) {
	k, _ := s.u.Dims()
	for t := range s.others {
		if o := &s.others[t]; o.part == nil {
			o.part, o.size, o.scale = like(s.u), make([]float64, k), make([]float64, k)
		}
	}
	falling, staying := s.others[0].part, s.others[1].part
	weights := s.m.pos
	parallel.Do(k, func(r int) {
		to, slopes := weights.RawRowView(r), gradient.RawRowView(r)
		for i, x := range s.m.w.RawRowView(r) {
			if s.isIn[i] || !(slopes[i] > 0) {
				x = 0
			}
			to[i] = x
		}
	})
	s.m.x.timesCoefficients(falling, weights)
	staying.Sub(s.u, falling)
	s.rows.add(staying, -1, s.weight)
	for _, o := range s.others {
		for r := range k {
			row := o.part.RawRowView(r)
			o.size[r], o.scale[r] = dot(row, row), 1
		}
	}
}

// move moves the scales, and u with them, and returns how much that lowers the objective,
// twice.
func (o *scaledWeights) move(u, gram, q *mat.Dense) (step float64) {
	for r, size := range o.size {
		curvature := gram.At(r, r) * size
		if o.scale[r] == 0 || !(curvature >= leastDenominator) {
			continue
		}
		part := o.part.RawRowView(r)
		slope := -dot(q.RawRowView(r), part)
		for c, h := range gram.RawRowView(r) {
			slope += h * dot(u.RawRowView(c), part)
		}
		to := max(0, o.scale[r]-slope/curvature)
		by := to - o.scale[r]
		axpy(by, part, u.RawRowView(r))
		step += curvature * by * by
		o.scale[r] = to
	}
	return step
}

// sweep goes once over the selected samples, and returns about how much that lowers the
// objective, twice.
func (s *fastSelected) sweep(ctx context.Context, gram *mat.Dense) (step float64, err error) {
	b := s.block
	b.setGram(gram)
	for at, products := range s.products {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		weight, linear := part(s.weight, at), part(s.linear, at)
		count, k := weight.Dims()
		s.rows.timesOf(b.kw.Slice(0, count, 0, k).(*mat.Dense), at)
		moves, by := b.move(linear, weight, products, count)
		if len(moves) == 0 {
			continue
		}
		s.rows.addOf(at, moves, b.change.Slice(0, len(moves), 0, k).(*mat.Dense))
		step += by
	}
	return step, nil
}

// spread writes the weights to W, and computes U anew, so that it keeps the rounding of no
// weights that it had.
func (s *fastSelected) spread(gradient *mat.Dense) {
	m := s.m
	k, n := m.w.Dims()
	parallel.DoWork(4*k*n, k, func(r int) {
		w := m.w.RawRowView(r)
		if s.hasOther {
			falling, staying := s.others[0].scale[r], s.others[1].scale[r]
			slopes := gradient.RawRowView(r)
			for i, x := range w {
				if x == 0 {
					continue
				}
				if slopes[i] > 0 {
					w[i] = moved(x, falling)
				} else {
					w[i] = moved(x, staying)
				}
			}
		}
		for a, i := range s.selected {
			w[i] = s.weight.At(a, r)
		}
	})
	if s.hasOther {
		m.x.timesCoefficients(s.u, m.w)
	} else {
		s.u.Zero()
		s.rows.add(s.u, 1, s.weight)
	}
}

// resized returns an r×c matrix, in buf where there is room.
func resized(buf *mat.Dense, r, c int) *mat.Dense {
	var data []float64
	if buf != nil {
		data = buf.RawMatrix().Data
	}
	return mat.NewDense(r, c, slices.Grow(data[:0], r*c)[:r*c])
}
