package factor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/descent"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/simd"
)

// Fast is block coordinate descent: each factor in turn moves nearly to its minimum while the others are held.
// It comes to the objective of [Multiplicative] in a fraction of its iterations, to other digits of it, and
// has zeros where that has small numbers. The objective never rises.
type Fast struct{}

func (Fast) Serves(p Parts) error {
	switch {
	case p.Cost != CostFrobenius && p.Cost != CostKL:
		return fmt.Errorf("the solver fast does not support cost %v", p.Cost)
	case p.Basis != BasisFree && p.Basis != BasisConcept:
		return fmt.Errorf("the solver fast does not support basis %v", p.Basis)
	case p.Cost == CostKL && p.Basis == BasisConcept:
		return fmt.Errorf("the solver fast does not support basis %v with cost %v", p.Basis, p.Cost)
	case p.Cost == CostKL && p.HeldOut != nil:
		return fmt.Errorf("the solver fast does not support held-out entries with cost %v", p.Cost)
	case p.Cost == CostKL && p.UnitNorm:
		return fmt.Errorf("the solver fast does not support unit-norm with cost %v", p.Cost)
	}
	for _, one := range p.Penalties {
		name := penaltyName(one)
		_, learned := one.(LearnedGraph)
		switch {
		case one.OnBasis():
			return fmt.Errorf("the solver fast does not support the penalty %s on basis vectors", name)
		case learned:
			return fmt.Errorf("the solver fast does not support the learned graph of the penalty %s", name)
		case p.Basis != BasisFree:
			return fmt.Errorf("the solver fast does not support the penalty %s with basis %v", name, p.Basis)
		}
	}
	switch {
	case len(p.Penalties) == 0:
		return nil
	case p.Cost == CostKL:
		return fmt.Errorf("the solver fast does not support the penalty %v with cost %v", p.Penalties[:1], p.Cost)
	case !p.UnitNorm:
		return fmt.Errorf("the solver fast supports the penalty %v only with unit-norm; otherwise the objective has no minimum", p.Penalties[:1])
	}
	return nil
}

// Start implements [Solver]. It scales the factors.
func (Fast) Start(f *Factorisation) (func(context.Context) error, error) {
	switch {
	case f.parts.Cost == CostKL:
		return startFastKL(f), nil
	case f.parts.Basis == BasisConcept:
		return startFastConcept(f)
	case f.parts.UnitNorm:
		return startFastUnit(f)
	}
	return startFastFree(f), nil
}

// fastFree lowers the Frobenius cost of a free basis. An iteration moves both factors to their minima by
// coordinate descent, from points ahead in the direction of the last iteration; products with the data are
// linear, so those of points ahead cost nothing. An iteration that raises the objective is done again without
// that (Ang and Gillis 2019).
type fastFree struct {
	f *Factorisation
	lead
	u, v, vx, ux   *mat.Dense // the factors and their products with the data, v·X and u·Xᵀ, ahead
	lastVX, lastUX *mat.Dense // the products where the factors were
}

// lead says how far ahead of the last factors an iteration begins.
type lead struct {
	by    float64 // as a share of the last iteration's step
	most  float64 // how far that may grow
	plain bool    // the next iteration begins where the last ended
}

// firstLead begins where the factors are.
var firstLead = lead{by: 0.5, most: 1, plain: true}

// share is by, or 0 where the next iteration is plain.
func (l *lead) share() float64 {
	if l.plain {
		return 0
	}
	return l.by
}

// lowered says that an iteration has lowered the objective: by and most grow.
func (l *lead) lowered(by, most float64) {
	l.by, l.most, l.plain = min(l.most, by*l.by), min(1, most*l.most), false
}

// raised says that an iteration has raised the objective, and is done again.
func (l *lead) raised() { l.most, l.by, l.plain = l.by, l.by/1.5, true }

func startFastFree(f *Factorisation) func(context.Context) error {
	scaleStart(f)
	u, v := f.factors[0], f.factors[1]
	s := &fastFree{f: f, lead: firstLead, u: mat.DenseCopyOf(u), v: algebra.Like(v)}
	s.vx, s.ux, s.lastVX, s.lastUX = algebra.Like(u), algebra.Like(v), algebra.Like(u), algebra.Like(v)
	s.lastUX.Copy(f.Block(1).Linear)
	f.Keep()
	return s.iterate
}

func (s *fastFree) iterate(ctx context.Context) error {
	f, by := s.f, s.share()
	u, v := f.factors[0], f.factors[1]
	before := f.Objective()
	vx := f.Block(0).Linear
	goAhead(s.v, v, f.kept[1], by)
	goAhead(s.vx, vx, s.lastVX, by)
	algebra.CopyOf(s.lastVX, vx)
	f.Keep()
	if err := f.minimise(ctx, 0, s.u, s.vx, algebra.SelfGram(s.v)); err != nil {
		return err
	}
	ux := f.Block(1).Linear
	goAhead(s.u, u, f.kept[0], s.by)
	goAhead(s.ux, ux, s.lastUX, s.by)
	algebra.CopyOf(s.lastUX, ux)
	if err := f.minimise(ctx, 1, s.v, s.ux, algebra.SelfGram(s.u)); err != nil {
		return err
	}
	if f.Objective() <= before {
		s.lowered(1.02, 1.005)
		return nil
	}

	s.raised()
	f.Restore()
	if err := f.minimise(ctx, 0, u, s.lastVX, algebra.SelfGram(v)); err != nil {
		return err
	}
	b := f.Block(1)
	if err := f.minimise(ctx, 1, v, b.Linear, b.Quadratic); err != nil {
		return err
	}
	if !(f.Objective() <= before) { // by rounding
		f.Restore()
	}
	s.u.Copy(u)
	algebra.CopyOf(s.lastUX, f.Block(1).Linear)
	return nil
}

func (f *Factorisation) minimise(ctx context.Context, i int, from, linear, quadratic *mat.Dense) error {
	err := descent.MinimiseRows(ctx, f.factors[i], from, linear, quadratic, descent.MostSweeps)
	f.Moved(i)
	return err
}

func goAhead(dst, x, last *mat.Dense, by float64) {
	algebra.EachRow(dst, 4, func(r int, to []float64) {
		from, before := x.RawRowView(r)[:len(to)], last.RawRowView(r)[:len(to)]
		for i, x := range from {
			to[i] = x + by*(x-before[i])
		}
	})
}

// scaleStart brings basis vectors to unit length and scales V as a whole to the data, as the multiplicative
// step does by itself.
func scaleStart(f *Factorisation) {
	theta, v := f.factors[0], f.factors[1]
	k, _ := v.Dims()
	swap := func(r int, s float64) { // between both factors
		if s >= algebra.Floor {
			row := theta.RawRowView(r)
			for i := range row {
				row[i] /= s
			}
			algebra.ScaleRow(v, r, s)
		}
	}
	for r := range k {
		swap(r, slices.Max(theta.RawRowView(r)))
	}
	f.Moved(0)
	h := quadratic(f.Block(1))
	for r := range k {
		swap(r, math.Sqrt(max(h.At(r, r), 0)))
	}
	if largest := mat.Max(v); largest > 0 {
		v.Apply(func(_, _ int, x float64) float64 { return algebra.Moved(x, 1/largest) }, v)
	}
	f.Moved(0)
	f.Moved(1)
	for round := range 100 {
		b := f.Block(1)
		by := algebra.Inner(b.Linear, v) / algebra.Inner(quadratic(b), algebra.SelfGram(v))
		if round > 0 && math.Abs(by-1) < 1e-12 {
			return
		}
		if by > 0 && algebra.FiniteNumber(by) {
			v.Scale(by, v)
		}
		f.Moved(1)
		// What is held out is taken for what the factors say, at the scale that they had.
		if f.parts.HeldOut == nil {
			return
		}
	}
}

func quadratic(b Block) *mat.Dense {
	if b.NegativeQuadratic == nil {
		return b.Quadratic
	}
	var h mat.Dense
	h.Sub(b.Quadratic, b.NegativeQuadratic)
	return &h
}

// fastUnit lowers the Frobenius cost of a free basis of unit norm with penalties on the coefficients. Basis
// vectors move exactly: of the u ≥ 0 of length 1 the best is the positive part of X·v_r − Σ_{s≠r} u_s·v_sᵀv_r,
// at length 1. Penalised coefficients move one by one.
type fastUnit struct {
	f        *Factorisation
	order    []int     // of the condensed coefficients
	diagonal []float64 // what the penalties add to the second derivatives in a row of V
}

func startFastUnit(f *Factorisation) (func(context.Context) error, error) {
	for _, p := range f.onCoefficients {
		if _, learns := p.(LearningPenalty); learns {
			return nil, errors.New("the solver fast does not support learned penalties")
		}
		if _, ok := p.(CoordinatePenalty); !ok {
			return nil, fmt.Errorf("the solver fast needs a CoordinatePenalty; %T is not one", p)
		}
	}
	u := f.factors[0]
	k, m := u.Dims()
	for r := range k {
		if row := u.RawRowView(r); slices.Max(row) < algebra.Floor {
			for j := range row {
				row[j] = 1 / math.Sqrt(float64(m))
			}
		}
	}
	scaleStart(f)
	s := &fastUnit{f: f}
	seen := make([]bool, f.ties.Groups)
	for _, i := range f.sampleOrder() {
		if g := f.ties.Group[i]; !seen[g] {
			seen[g] = true
			s.order = append(s.order, g)
		}
	}
	if t := f.Terms(1); t != nil {
		s.diagonal = t.Diagonal
	}
	return s.iterate, nil
}

func (s *fastUnit) iterate(ctx context.Context) error {
	f := s.f
	before := f.Objective()
	f.Keep()
	s.turn(ctx, f.factors[0], f.Block(0))
	f.Moved(0)
	if b := f.Block(1); s.diagonal == nil {
		if err := f.minimise(ctx, 1, f.factors[1], b.Linear, b.Quadratic); err != nil {
			return err
		}
	} else {
		s.sweepEntries(ctx, f.factors[1], b)
		f.Moved(1)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if !(f.Objective() <= before) { // by rounding, or beyond what numbers can hold
		f.Restore()
	}
	return nil
}

func rowGradient(theta *mat.Dense, b Block, r int) []float64 {
	k, p := theta.Dims()
	g := mat.NewDense(1, p, nil)
	algebra.Gemm(g, b.Quadratic.Slice(r, r+1, 0, k).(*mat.Dense), algebra.NoTrans, theta, algebra.NoTrans)
	row := g.RawRowView(0)
	floats.Sub(row, b.Linear.RawRowView(r))
	return row
}

func (s *fastUnit) turn(ctx context.Context, u *mat.Dense, b Block) {
	k, _ := u.Dims()
	descent.Sweeps(func() (lowered float64) {
		for r := range k {
			if ctx.Err() != nil {
				return 0
			}
			h := b.Quadratic.At(r, r)
			if h < algebra.LeastDenominator { // no coefficients: all vectors are as good
				continue
			}
			row, c := u.RawRowView(r), rowGradient(u, b, r)
			for j, x := range row {
				c[j] = h*x - c[j]
			}
			lowered += turnVector(row, c)
		}
		return lowered
	})
}

// turnVector sets u to the vector ≥ 0 of length 1 with the largest product with c, which it overwrites, and
// returns what the product gains.
func turnVector(u, c []float64) float64 {
	was, peak := algebra.Dot(c, u), slices.Max(c)
	if peak <= 0 { // the least bad single feature
		if peak <= was {
			return 0
		}
		clear(u)
		u[slices.Index(c, peak)] = 1
		return peak - was
	}
	var square float64
	for j, x := range c {
		c[j] = max(x, 0) / peak
		square += c[j] * c[j]
	}
	length := math.Sqrt(square)
	gain := peak*length - was
	if !(gain > 0) {
		return 0
	}
	for j, x := range c {
		if u[j] = x / length; u[j] < algebra.Floor {
			u[j] = 0
		}
	}
	return gain
}

// sweepEntries moves one coefficient after another to its minimum.
func (s *fastUnit) sweepEntries(ctx context.Context, v *mat.Dense, b Block) {
	k, _ := v.Dims()
	descent.Sweeps(func() (step float64) {
		for r := range k {
			if ctx.Err() != nil {
				return 0
			}
			h, row, g, penalty := b.Quadratic.At(r, r), v.RawRowView(r), rowGradient(v, b, r), s.f.coefficientPenalty(r)
			for _, j := range s.order {
				x, curvature := row[j], h+s.diagonal[j]
				if curvature < algebra.LeastDenominator {
					continue
				}
				y := max(0, x-(g[j]+penalty.Gradient(j))/curvature)
				if y < algebra.Floor {
					y = 0
				}
				if y != x {
					row[j] = y
					penalty.Moved(j, y-x)
					step += curvature * (y - x) * (y - x)
				}
			}
		}
		return step
	})
}

// fastKL lowers the divergence of a free basis by coordinate descent (Hsieh and Dhillon 2011): of each feature, and
// then of each sample, the k entries of its column of the factor go one after another near to the minimum. An
// iteration begins ahead of the last factors; one that raises the objective is done again from these, and where that
// raises it too, by the multiplicative rule.
//
// In one entry z, of a basis vector u of sum 1, the slope of the cost is 1 − a(z), where a = Σ x·u/y falls and is
// convex. The step is Newton's for 1/a(z) = 1, (a − 1)·a/h with h = Σ x·u²/y²: 1/a is concave, so that a step up never
// goes beyond the minimum. Steps are computed in single precision, the objective in double.
type fastKL struct {
	f      *Factorisation
	halves [2]*descent.KLHalf // in U, by features, and in V, by samples
	last   []*mat.Dense       // the factors before the last iteration
	rule   func(context.Context) error
	lead
}

// startFastKL scales each sample's coefficients to where the cost is least.
func startFastKL(f *Factorisation) func(context.Context) error {
	u, v := f.factors[0], f.factors[1]
	features, samples := descent.KLData(f.data)
	s := &fastKL{
		f: f, lead: firstLead,
		halves: [2]*descent.KLHalf{descent.NewKLHalf(features, u, v), descent.NewKLHalf(samples, v, u)},
		last:   []*mat.Dense{algebra.Like(u), algebra.Like(v)},
	}
	s.rule, _ = Multiplicative{}.Start(f)
	f.model.(*plainModel).cost.(*klCost).valueAlone = true // the sweeps have gradients of their own
	before := f.Objective()
	f.Keep()
	s.halves[1].Scale()
	if f.Moved(1); !(f.Objective() <= before) { // numbers that run over
		f.Restore()
	}
	return s.iterate
}

func (s *fastKL) iterate(ctx context.Context) error {
	f := s.f
	before := f.Objective()
	f.Keep()
	if err := s.sweep(ctx, s.share()); err != nil {
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
	for _, again := range []func(context.Context) error{func(ctx context.Context) error { return s.sweep(ctx, 0) }, s.rule} {
		f.Restore()
		if err := again(ctx); err != nil || f.Objective() <= before {
			return err
		}
	}
	f.Restore() // by rounding
	return nil
}

// sweep moves both factors, from ahead of them by a share of the last iteration, where no entry is less than a
// tenth.
func (s *fastKL) sweep(ctx context.Context, by float64) error {
	for i, theta := range s.f.factors {
		if by == 0 {
			break
		}
		for r := range theta.RawMatrix().Rows {
			row, last := theta.RawRowView(r), s.last[i].RawRowView(r)
			for j, x := range row {
				row[j] = max(x+by*(x-last[j]), x/10)
			}
		}
	}
	for i, h := range s.halves {
		if err := h.Sweep(ctx); err != nil {
			return err
		}
		s.f.Moved(i)
	}
	return nil
}

// The most sweeps of an iteration, and after how many iterations everything is computed anew.
const (
	weightSweeps      = 5
	coefficientSweeps = 10
	refreshAfter      = 50
	shrunkShare       = 1e-3
)

// fastConcept lowers the Frobenius cost of a concept basis, which in W is ½·tr(MWKWᵀ) − tr(WBᵀ), M = VVᵀ
// and B = VK (in the papers' orientation VᵀV and KV). The weights w of one sample after another move nearly
// to the minimum of ½κ·wᵀMw − lᵀw over w ≥ 0, κ being the sample's inner product with itself. Within a block
// of samples gradients follow each move; W·K follows once a block is done.
type fastConcept struct {
	f     *Factorisation
	m     *conceptModel
	order []int // of the samples, which is not that of the data
	since int   // iterations since all was computed

	block   *descent.WeightBlock
	largest []float64 // the longest that went into each basis vector since all was computed
}

func startFastConcept(f *Factorisation) (func(context.Context) error, error) {
	m := f.model.(*conceptModel)
	if m.k == nil {
		n, features := m.x.Dims()
		return nil, fmt.Errorf("the solver fast supports a concept basis of at most %d samples, or %d if n ≤ 2m; got n = %d samples of m = %d features: use mu",
			mostFormedForFast, mostFormed, n, features)
	}
	order := f.sampleOrder()
	scaleStart(f)
	k, _ := m.w.Dims()
	s := &fastConcept{f: f, m: m, order: order, block: descent.NewWeightBlock(k), largest: make([]float64, k)}
	m.condense()
	s.restart()
	return s.iterate, nil
}

// sampleOrder orders the samples by their values, so that the answer does not depend on their order.
func (f *Factorisation) sampleOrder() []int {
	n := len(f.ties.Group)
	key := make([]float64, n)
	if f.kernel != nil && f.kernel.samples == nil {
		view.Dense{X: f.kernel.values}.Each(func(i, j int, x float64) {
			if i != j {
				key[i] += x
			}
		})
	} else {
		_, m := f.whole.Dims()
		share := make([]float64, m)
		for j := range share {
			_, share[j] = math.Modf(float64(j+1) * math.Phi)
		}
		if x, ok := f.whole.(view.Dense); ok {
			algebra.EachRow(x.X, 1, func(i int, row []float64) { key[i] = algebra.Dot(row, share) })
		} else {
			f.whole.Each(func(i, j int, v float64) { key[i] += v * share[j] })
		}
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(key[i], key[j]) })
	return order
}

func (s *fastConcept) iterate(ctx context.Context) error {
	f, m := s.f, s.m
	before := f.Objective()
	f.Keep()
	m.basisProducts()
	s.block.SetGram(m.vv)
	moved := s.sweepWeights(ctx, descent.SampleBlocks(s.order, m.k, m.kv, m.w))
	var weighted []int
	for _, i := range s.order {
		if mat.Max(m.w.ColView(i)) > 0 {
			weighted = append(weighted, i)
		}
	}
	some := descent.SampleBlocks(weighted, m.k, m.kv, m.w)
	for sweep := 1; moved && sweep < weightSweeps; sweep++ {
		moved = s.sweepWeights(ctx, some)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	m.haveU = false
	m.h, f.known = nil, false
	m.condense()
	if s.since++; s.since == refreshAfter || s.shrunk() {
		f.Moved(0)
		m.condense()
		s.restart()
	}
	if err := descent.MinimiseRows(ctx, m.v, m.v, m.lin, m.h, coefficientSweeps); err != nil {
		return err
	}
	f.Moved(1)
	if !(f.Objective() <= before) { // by rounding
		f.Restore()
		m.condense()
		s.restart()
	}
	return nil
}

func (s *fastConcept) length(r int) float64 { return math.Sqrt(max(s.m.h.At(r, r), 0)) }

// restart begins to follow W·K from where the model is.
func (s *fastConcept) restart() {
	s.since = 0
	for r := range s.largest {
		s.largest[r] = s.length(r)
	}
}

// shrunk tells whether a basis vector is so short beside the longest that went into it that its part of W·K
// has lost digits.
func (s *fastConcept) shrunk() bool {
	for r, largest := range s.largest {
		if s.length(r) < shrunkShare*largest {
			return true
		}
	}
	return false
}

// sweepWeights goes once over the samples, or until ctx ends, and tells whether any weight has moved.
func (s *fastConcept) sweepWeights(ctx context.Context, blocks []descent.SampleBlock) (moved bool) {
	for _, block := range blocks {
		if ctx.Err() != nil {
			return false
		}
		descent.ReadColumns(s.block.Kw, s.m.kw, block.Samples)
		if s.block.Move(block.Linear, block.Weight, block.Products, len(block.Samples)) {
			moved = true
			s.follow(block)
		}
	}
	return moved
}

// follow brings W and W·K up to date once weights of a block have moved, most of which are 0 and stay so.
func (s *fastConcept) follow(block descent.SampleBlock) {
	k, kw, products, weight := s.m.k.RawMatrix(), s.m.kw.RawMatrix(), block.Products.RawMatrix(), block.Weight.RawMatrix()
	whole := k.Stride == kw.Stride && simd.Width(k.Stride) == k.Stride
	for r := range s.largest {
		moved, by := s.block.At[r], s.block.By[r]
		if len(moved) == 0 {
			continue
		}
		var at []int
		to := s.m.w.RawRowView(r)
		for _, a := range moved {
			i, x := block.Samples[a], weight.Data[a*weight.Stride+r]
			to[i] = x
			s.largest[r] = max(s.largest[r], x*math.Sqrt(products.Data[a*products.Stride+a]))
			at = append(at, i)
		}
		row := kw.Data[r*kw.Stride:]
		if whole {
			simd.AddRows(row[:kw.Stride], by, k.Data, at)
			continue
		}
		for c, i := range at {
			algebra.Axpy(by[c], k.Data[i*k.Stride:][:kw.Cols], row)
		}
	}
}
