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
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/simd"
)

// Fast is block coordinate descent: it minimises approximately over each factor in turn with the others fixed. It
// reaches the objective of [Multiplicative] in a fraction of the iterations, with other factors: small entries become
// exact zeros. The objective never rises. See Cichocki and Phan 2009; for the divergence, Hsieh and Dhillon 2011.
type Fast struct{}

// Serves implements [Solver].
func (Fast) Serves(p Parts) error {
	var what string
	switch kl := p.Cost == CostKL; {
	case p.Cost != CostFrobenius && !kl:
		what = fmt.Sprintf("cost %v", p.Cost)
	case p.Orthogonal != OrthogonalityNone:
		what = "orthogonal: " + p.Orthogonal.String()
	case p.Basis == BasisRankOne || p.Basis == BasisTri:
		what = fmt.Sprintf("basis %v", p.Basis)
	case kl && p.Basis == BasisConcept:
		what = fmt.Sprintf("basis %v with cost %v", p.Basis, p.Cost)
	case p.UnitNorm && p.Basis == BasisSemi:
		what = fmt.Sprintf("unit-norm with basis %v", p.Basis)
	case kl && p.HeldOut != nil:
		what = fmt.Sprintf("held-out entries with cost %v", p.Cost)
	case kl && p.UnitNorm:
		what = fmt.Sprintf("unit-norm with cost %v", p.Cost)
	}
	switch {
	case !p.EntryWeights:
	case !p.Basis.free():
		what = fmt.Sprintf("missing values or weights of entries with basis %v", p.Basis)
	case p.UnitNorm || len(p.Penalties) > 0:
		what = "missing values or weights of entries with unit-norm or penalties; use mu"
	}
	elastic := p.Cost == CostFrobenius && p.Basis.free() && !p.UnitNorm && p.Weighting == WeightingEqual &&
		!slices.ContainsFunc(p.Penalties, func(one Penalty) bool { return !isElastic(one) }) &&
		slices.ContainsFunc(p.Penalties, Penalty.OnBasis) && slices.ContainsFunc(p.Penalties, func(one Penalty) bool { return !one.OnBasis() })
	for _, one := range p.Penalties {
		name := "the penalty " + penaltyName(one)
		_, learned := one.(LearnedGraph)
		_, joint := one.(Orthogonal)
		switch {
		case what != "" || elastic:
		case isElastic(one) && one.OnBasis():
			return fmt.Errorf("the solver fast supports %s only with l1 or l2 on the coefficients, cost frobenius, a free basis, no unit-norm and no other penalty", name)
		case joint:
			what = name + ", which joins basis vectors"
		case one.OnBasis():
			what = name + " on basis vectors"
		case learned:
			what = "the learned graph of " + name
		case p.Basis != BasisFree:
			what = fmt.Sprintf("%s with basis %v", name, p.Basis)
		case p.Cost == CostKL:
			what = fmt.Sprintf("%s with cost %v", name, p.Cost)
		case !p.UnitNorm:
			return fmt.Errorf("the solver fast supports %s only with unit-norm; otherwise the objective has no minimum", name)
		}
	}
	if what != "" {
		return fmt.Errorf("the solver fast does not support %s", what)
	}
	return nil
}

// Start implements [Solver]. It rescales the initial factors.
func (Fast) Start(f *Factorisation) (func(context.Context) error, error) {
	switch {
	case f.parts.EntryWeights:
		return startFastWeighted(f), nil
	case f.parts.Cost == CostKL:
		return startFastKL(f), nil
	case f.parts.Basis == BasisConcept:
		return startFastConcept(f)
	case f.parts.UnitNorm:
		return startFastUnit(f)
	}
	if f.onCoefficients != nil && slices.ContainsFunc(f.ties.Weight, func(w float64) bool { return w != 1 }) {
		return nil, errors.New("the solver fast does not support penalties with weights of samples")
	}
	return startFastFree(f), nil
}

// fastFree minimises the Frobenius cost of a free basis. An iteration minimises over both factors by coordinate descent,
// starting from points extrapolated along the last iteration (Ang and Gillis 2019). Products with the data are linear,
// so the products of extrapolated points cost nothing. An iteration that raises the objective is repeated without
// extrapolation.
type fastFree struct {
	f *Factorisation
	extrapolation
	u, v, vx, ux   *mat.Dense // extrapolated factors and products with the data, v·X and u·Xᵀ
	lastVX, lastUX *mat.Dense // the products at the previous factors
}

type extrapolation struct {
	by    float64 // length, as a fraction of the last iteration's step
	most  float64 // upper bound of by
	plain bool    // the next iteration is not extrapolated
}

// firstLead does not extrapolate the first iteration.
var firstLead = extrapolation{by: 0.5, most: 1, plain: true}

// momentum returns by, or 0 if the next iteration is plain.
func (l *extrapolation) momentum() float64 {
	if l.plain {
		return 0
	}
	return l.by
}

// lowered lets by and most grow after an iteration that lowered the objective.
func (l *extrapolation) lowered(by, most float64) {
	l.by, l.most, l.plain = min(l.most, by*l.by), min(1, most*l.most), false
}

// raised shrinks by and most after an iteration that raised the objective and is repeated.
func (l *extrapolation) raised() { l.most, l.by, l.plain = l.by, l.by/1.5, true }

func startFastFree(f *Factorisation) func(context.Context) error {
	scaleStart(f)
	u, v := f.factors[0], f.factors[1]
	s := &fastFree{f: f, extrapolation: firstLead, u: mat.DenseCopyOf(u), v: algebra.Like(v)}
	s.vx, s.ux, s.lastVX, s.lastUX = algebra.Like(u), algebra.Like(v), algebra.Like(u), algebra.Like(v)
	s.lastUX.Copy(f.Block(1).Linear)
	f.Keep()
	return s.iterate
}

func (s *fastFree) iterate(ctx context.Context) (err error) {
	defer guard.Catch(&err)
	f, by := s.f, s.momentum()
	u, v := f.factors[0], f.factors[1]
	before := f.Objective()
	vx := f.Block(0).Linear
	extrapolate(s.v, v, f.saved[1], by)
	extrapolate(s.vx, vx, s.lastVX, by)
	s.lastVX.Copy(vx)
	f.Keep()
	f.minimise(ctx, 0, s.u, s.vx, algebra.SelfGram(s.v))
	ux := f.Block(1).Linear
	extrapolate(s.u, u, f.saved[0], s.by)
	extrapolate(s.ux, ux, s.lastUX, s.by)
	s.lastUX.Copy(ux)
	f.minimise(ctx, 1, s.v, s.ux, algebra.SelfGram(s.u))
	if f.Objective() <= before {
		s.lowered(1.02, 1.005)
		return nil
	}

	s.raised()
	f.Restore()
	f.minimise(ctx, 0, u, s.lastVX, algebra.SelfGram(v))
	b := f.Block(1)
	f.minimise(ctx, 1, v, b.Linear, hessianOf(b))
	if !(f.Objective() <= before) { // rounding error
		f.Restore()
	}
	s.u.Copy(u)
	s.lastUX.Copy(f.Block(1).Linear)
	return nil
}

// minimise minimises over factor i of a quadratic problem, starting at from. It calls guard.Fail.
func (f *Factorisation) minimise(ctx context.Context, i int, from, linear, quadratic *mat.Dense) {
	linear, quadratic = f.withElastic(i, linear, quadratic)
	theta, fixed := f.factors[i], f.parts.fixed()
	k, p := theta.Dims()
	switch {
	case i == 0 && f.parts.Basis == BasisSemi:
		theta.Copy(from)
		leastSquares(theta, linear, quadratic, nil, fixed)
	case i == 0 && fixed == k:
	default:
		if i == 0 && fixed > 0 {
			from = from.Slice(fixed, k, 0, p).(*mat.Dense)
			theta, linear, quadratic = restOf(theta, linear, quadratic, fixed)
		}
		guard.Check(descent.MinimiseRows(ctx, theta, from, linear, quadratic, descent.MostSweeps))
	}
	f.Moved(i)
}

func extrapolate(dst, x, last *mat.Dense, by float64) {
	algebra.EachRow(dst, 4, func(r int, to []float64) {
		from, before := x.RawRowView(r)[:len(to)], last.RawRowView(r)[:len(to)]
		for i, x := range from {
			to[i] = x + by*(x-before[i])
		}
	})
}

// scaleStart scales basis vectors to unit length and V by one factor that fits it to the data. A multiplicative step
// does this implicitly.
func scaleStart(f *Factorisation) {
	theta, v := f.factors[0], f.factors[1]
	k, _ := v.Dims()
	swap := func(r int, s float64) { // divides row r of theta by s and multiplies row r of v
		if s >= algebra.Floor && r >= f.parts.fixed() {
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
	h := hessianOf(f.Block(1))
	for r := range k {
		swap(r, math.Sqrt(max(h.At(r, r), 0)))
	}
	if largest := mat.Max(v); largest > 0 {
		v.Apply(func(_, _ int, x float64) float64 { return algebra.FlooredProduct(x, 1/largest) }, v)
	}
	f.Moved(0)
	f.Moved(1)
	for round := range 100 {
		b := f.Block(1)
		by := algebra.Inner(b.Linear, v) / algebra.Inner(hessianOf(b), algebra.SelfGram(v))
		if round > 0 && math.Abs(by-1) < 1e-12 {
			return
		}
		if by > 0 && algebra.FiniteNumber(by) {
			v.Scale(by, v)
		}
		f.Moved(1)
		// Held-out entries are imputed at the old scale, so the best scale is a fixed point.
		if f.parts.HeldOut == nil {
			return
		}
	}
}

func hessianOf(b Block) *mat.Dense {
	if b.NegativeQuadratic == nil {
		return b.Quadratic
	}
	var h mat.Dense
	h.Sub(b.Quadratic, b.NegativeQuadratic)
	return &h
}

// fastUnit minimises the Frobenius cost of a free basis of unit norm with penalties on the coefficients. The step for a
// basis vector is exact: the best u ≥ 0 of length 1 is the positive part of X·v_r − Σ_{s≠r} u_s·v_sᵀv_r, scaled to
// length 1. Penalised coefficients are updated one at a time.
type fastUnit struct {
	f         *Factorisation
	order     []int     // order of updates of the condensed coefficients
	curvature []float64 // of the penalties in the entries of a row of V, nil without penalties
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
	if f.onCoefficients != nil {
		penalty := f.coefficientPenalty(0)
		for g := range f.ties.Groups {
			s.curvature = append(s.curvature, penalty.Curvature(g))
		}
	}
	return s.iterate, nil
}

func (s *fastUnit) iterate(ctx context.Context) (err error) {
	defer guard.Catch(&err)
	f := s.f
	before := f.Objective()
	f.Keep()
	s.updateBasis(ctx, f.factors[0], f.Block(0))
	f.Moved(0)
	if b := f.Block(1); s.curvature == nil {
		f.minimise(ctx, 1, f.factors[1], b.Linear, b.Quadratic)
	} else {
		s.sweepEntries(ctx, f.factors[1], b)
		f.Moved(1)
	}
	guard.Check(ctx.Err())
	if !(f.Objective() <= before) { // rounding error or overflow
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

func (s *fastUnit) updateBasis(ctx context.Context, u *mat.Dense, b Block) {
	k, _ := u.Dims()
	descent.Sweeps(descent.MostSweeps, func() (lowered float64) {
		for r := s.f.parts.fixed(); r < k; r++ {
			if ctx.Err() != nil {
				return 0
			}
			h := b.Quadratic.At(r, r)
			if h < algebra.LeastDenominator { // all coefficients are 0, so the vector does not matter
				continue
			}
			row, c := u.RawRowView(r), rowGradient(u, b, r)
			for j, x := range row {
				c[j] = h*x - c[j]
			}
			lowered += bestUnitVector(row, c)
		}
		return lowered
	})
}

// bestUnitVector sets u to the vector ≥ 0 of length 1 with the largest inner product with c, and returns the increase
// of the product. It overwrites c.
func bestUnitVector(u, c []float64) float64 {
	was, peak := algebra.Dot(c, u), slices.Max(c)
	if peak <= 0 { // the best vector has a single non-zero feature
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

// sweepEntries minimises over each coefficient in turn.
func (s *fastUnit) sweepEntries(ctx context.Context, v *mat.Dense, b Block) {
	k, _ := v.Dims()
	descent.Sweeps(descent.MostSweeps, func() (step float64) {
		for r := range k {
			if ctx.Err() != nil {
				return 0
			}
			h, row, g, penalty := b.Quadratic.At(r, r), v.RawRowView(r), rowGradient(v, b, r), s.f.coefficientPenalty(r)
			for _, j := range s.order {
				x, curvature := row[j], h+s.curvature[j]
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

// fastSweeps minimises over the entries of both factors of a free basis, one at a time: the k entries of each feature,
// then of each sample. An iteration starts from extrapolated factors. If it raises the objective it is repeated without
// extrapolation, and if that also raises it, with the multiplicative rule.
type fastSweeps struct {
	f      *Factorisation
	halves [2]interface{ Sweep(context.Context) error } // the updates of U, by features, and of V, by samples
	last   []*mat.Dense                                 // the factors before the last iteration
	rule   func(context.Context) error
	extrapolation
}

func newFastSweeps(f *Factorisation) *fastSweeps {
	s := &fastSweeps{f: f, extrapolation: firstLead, last: []*mat.Dense{algebra.Like(f.factors[0]), algebra.Like(f.factors[1])}}
	s.rule, _ = Multiplicative{}.Start(f)
	return s
}

// startFastWeighted starts the minimisation of a cost with a weight for each entry.
func startFastWeighted(f *Factorisation) func(context.Context) error {
	s := newFastSweeps(f)
	c, ok := f.model.(*plainModel).cost.(*weightedCost)
	if !ok {
		c = f.model.(*plainModel).cost.(*imputedCost).weightedCost
	}
	transposed := &weightedCost{c.costInfo, view.Dense{X: algebra.Transpose(c.x.X)}, algebra.Transpose(c.weights), c.v, c.u, nil}
	basis := transposed.half()
	basis.Fixed, basis.AnySign = f.parts.fixed(), f.parts.Basis == BasisSemi
	s.halves[0], s.halves[1] = basis, c.half()
	return s.iterate
}

// startFastKL starts the minimisation of the divergence by coordinate descent (Hsieh and Dhillon 2011). For one entry z
// and a basis vector u of sum 1, the derivative of the cost is 1 − a(z), where a = Σ x·u/y is decreasing and convex.
// The step is Newton's for 1/a(z) = 1: (a − 1)·a/h with h = Σ x·u²/y². As 1/a is concave, a step up never overshoots
// the minimum. Steps are computed in single precision, the objective in double.
//
// Each sample's coefficients start scaled by the factor that minimises the cost.
func startFastKL(f *Factorisation) func(context.Context) error {
	u, v := f.factors[0], f.factors[1]
	features, samples := descent.KLData(f.data)
	s, coefficients := newFastSweeps(f), descent.NewKLHalf(samples, v, u)
	basis := descent.NewKLHalf(features, u, v)
	basis.Fixed = f.parts.fixed()
	s.halves[0], s.halves[1] = basis, coefficients
	f.model.(*plainModel).cost.(*klCost).valueAlone = true // the sweeps compute their own gradients
	before := f.Objective()
	f.Keep()
	coefficients.Scale()
	if f.Moved(1); !(f.Objective() <= before) { // overflow
		f.Restore()
	}
	return s.iterate
}

func (s *fastSweeps) iterate(ctx context.Context) error {
	f := s.f
	before := f.Objective()
	f.Keep()
	if err := s.sweep(ctx, s.momentum()); err != nil {
		return err
	}
	if f.Objective() <= before {
		s.lowered(1.1, 1.01)
		for i := range s.last {
			s.last[i].Copy(f.saved[i])
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
	f.Restore() // rounding error
	return nil
}

// sweep updates both factors, starting by times the last step ahead of them. Extrapolation shrinks no entry to less than
// a tenth.
func (s *fastSweeps) sweep(ctx context.Context, by float64) error {
	for i, theta := range s.f.factors {
		if by == 0 {
			break
		}
		for r := range theta.RawMatrix().Rows {
			row, last := theta.RawRowView(r), s.last[i].RawRowView(r)
			for j, x := range row {
				if row[j] = x + by*(x-last[j]); i == 1 || s.f.parts.Basis != BasisSemi {
					row[j] = max(row[j], x/10)
				}
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

// The numbers of sweeps bound the sweeps of an iteration: with a weight for each entry, and over W and V of a concept
// basis. W·K is recomputed from W every refreshAfter
// iterations, and when a basis vector's length falls below shrunkShare of the largest part that went into it.
const (
	weightedSweeps    = 2
	weightSweeps      = 5
	coefficientSweeps = 10
	refreshAfter      = 50
	shrunkShare       = 1e-3
)

// fastConcept minimises the Frobenius cost of a concept basis. As a function of W it is ½·tr(MWKWᵀ) − tr(WBᵀ), with
// M = VVᵀ and B = VK (VᵀV and KV in the papers). For each sample in turn it minimises ½κ·wᵀMw − lᵀw approximately over
// the sample's weights w ≥ 0, where κ is the sample's inner product with itself. Within a block of samples the gradients
// are updated after each sample; W·K is updated after each block.
type fastConcept struct {
	f     *Factorisation
	m     *conceptModel
	order []int // the samples by sampleOrder
	since int   // iterations since W·K was recomputed

	block   *descent.WeightBlock
	largest []float64 // for each basis vector, the largest length of a part since W·K was recomputed
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
	m.updateCondensed()
	s.restart()
	return s.iterate, nil
}

// sampleOrder sorts the samples by a hash of their values, so that the result does not depend on their order in the data.
func (f *Factorisation) sampleOrder() []int {
	n := len(f.ties.Group)
	key := make([]float64, n)
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
	return elementary.Order(n, func(i, j int) int { return cmp.Compare(key[i], key[j]) })
}

func (s *fastConcept) iterate(ctx context.Context) (err error) {
	defer guard.Catch(&err)
	f, m := s.f, s.m
	before := f.Objective()
	f.Keep()
	m.updateKV()
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
	guard.Check(ctx.Err())
	m.haveU = false
	m.h, f.objectiveKnown = nil, false
	m.updateCondensed()
	if s.since++; s.since == refreshAfter || s.shrunk() {
		f.Moved(0)
		m.updateCondensed()
		s.restart()
	}
	guard.Check(descent.MinimiseRows(ctx, m.v, m.v, m.lin, m.h, coefficientSweeps))
	f.Moved(1)
	if !(f.Objective() <= before) { // rounding error
		f.Restore()
		m.updateCondensed()
		s.restart()
	}
	return nil
}

func (s *fastConcept) length(r int) float64 { return math.Sqrt(max(s.m.h.At(r, r), 0)) }

// restart resets the bookkeeping after W·K was recomputed.
func (s *fastConcept) restart() {
	s.since = 0
	for r := range s.largest {
		s.largest[r] = s.length(r)
	}
}

// shrunk reports whether a basis vector is so short relative to its largest part that its row of W·K has lost digits.
func (s *fastConcept) shrunk() bool {
	for r, largest := range s.largest {
		if s.length(r) < shrunkShare*largest {
			return true
		}
	}
	return false
}

// sweepWeights updates the weights of all samples once, or until ctx ends, and reports whether any weight changed.
func (s *fastConcept) sweepWeights(ctx context.Context, blocks []descent.SampleBlock) (moved bool) {
	for _, block := range blocks {
		if ctx.Err() != nil {
			return false
		}
		descent.ReadColumns(s.block.Kw, s.m.kw, block.Samples)
		if s.block.Move(block.Linear, block.Weight, block.Products, len(block.Samples)) {
			moved = true
			s.applyMoves(block)
		}
	}
	return moved
}

// applyMoves updates W and W·K after changes in a block. Most weights are 0 and unchanged, so it adds single rows of K.
func (s *fastConcept) applyMoves(block descent.SampleBlock) {
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
