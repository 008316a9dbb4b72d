package factor

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// Parts is a factorisation put together from its parts. The named methods pick
// them as the papers do; any other combination is a method too, such as a
// concept factorisation with labels and a graph. The zero value is NMF.
type Parts struct {
	Cost  Cost
	Basis Basis
	Tie   Tie
	// Weighting says how much each sample counts.
	Weighting Weighting
	// Kernel is the inner product of samples that a concept basis under the
	// Frobenius cost works with.
	Kernel Kernel
	// Penalty adds a term in the coefficients to the cost, or is nil.
	Penalty Penalty
	// UnitNorm brings the vectors of a free basis to unit length in every
	// iteration, so that a penalty cannot be lowered by shrinking V and growing
	// U. The coefficients do not follow, and no descent is promised.
	UnitNorm bool
	// FitWeight is what the cost counts beside the penalty; 0 means 1.
	FitWeight float64
}

// Fit implements [Method]. The data must be ≥ 0, but for a concept basis under
// the Frobenius cost, whose coefficients and weights still are. With
// Kernel.Matrix x may be nil. It fails on data or options that cannot be used,
// when ctx ends, and when the cost runs over what a float64 holds.
func (p Parts) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	run, err := p.start(ctx, x, known, opt)
	if err != nil {
		return nil, err
	}
	if err := run.iterate(ctx, opt); err != nil {
		return nil, err
	}
	return run.finish(opt)
}

// run is a factorisation under way.
type run struct {
	parts   Parts
	model   model
	kernel  *boundKernel // or nil
	v       *mat.Dense   // k×ñ, condensed
	change  *change
	penalty boundPenalty
	terms   *terms     // of the condensed coefficients
	whole   *terms     // of V, where there is a tie
	wholeV  *mat.Dense // k×n
	solver  solver
	offset  float64 // of the condensed cost
	history []float64
	share   []float64 // the penalty's, of each entry of history
	stop    Stop
}

func (p Parts) start(ctx context.Context, x mat.Matrix, known Known, opt Options) (*run, error) {
	if x == nil && p.Kernel.Matrix != nil {
		x = p.Kernel.Matrix
	}
	d, err := newData(x)
	if err != nil {
		return nil, err
	}
	n, m := d.dims()
	if err := known.Check(n); err != nil {
		return nil, err
	}
	if err := opt.check(n); err != nil {
		return nil, err
	}
	r := &run{parts: p, solver: &multiplicative{}}
	gram := p.Basis == Concept && p.Cost == Frobenius // all that is needed of the data
	if !p.Kernel.features() {
		if !gram {
			return nil, fmt.Errorf("a kernel is for a concept basis under the frobenius cost, not a %v one under %v", p.Basis, p.Cost)
		}
		if r.kernel, err = p.Kernel.bind(ctx, x, d); err != nil {
			return nil, err
		}
	}
	i, j, value, signed := firstNegative(d)
	if signed && r.kernel == nil && !(gram && p.Weighting == Equal) {
		return nil, &SampleError{i, fmt.Sprintf("column %d: value %v is negative, and this method needs values of 0 or more", j+1, value)}
	}
	if p.Basis == RankOne {
		if h, _ := opt.shape(m); h == 0 {
			size := "square"
			if opt.Height != 0 || opt.Width != 0 {
				size = fmt.Sprintf("%d×%d", opt.Height, opt.Width)
			}
			return nil, fmt.Errorf("a rank-one basis is for images, and samples of %d features are no %s images", m, size)
		}
	}
	var weight []float64
	if p.Weighting == NormalisedCut {
		if weight, err = normalisedCutWeights(d, r.kernel); err != nil {
			return nil, err
		}
		// The coefficients of the condensed data are V times the weights.
		for i, w := range weight {
			if p.Cost == KL && !(w >= smallestNumber && w <= largestNumber) {
				return nil, &SampleError{i, fmt.Sprintf("its normalised-cut weight is %.3g; under the divergence it must lie between %g and %g", w, smallestNumber, largestNumber)}
			}
		}
	}
	if r.change, err = newChange(n, p.Tie, known.Labels, weight, p.Cost); err != nil {
		return nil, err
	}
	if err := checkWeight("the weight of the fit", p.FitWeight); err != nil {
		return nil, err
	}
	if p.UnitNorm && p.Basis != Free {
		return nil, fmt.Errorf("unit norm in every iteration is for a free basis, not a %v one", p.Basis)
	}
	if p.Penalty != nil {
		if r.penalty, err = p.Penalty.bind(ctx, d, known); err != nil {
			return nil, err
		}
	}

	first, err := p.initial(ctx, x, d, r.change, opt)
	if err != nil {
		return nil, err
	}
	r.v = first.v
	if r.penalty != nil {
		r.terms = &terms{like(r.v), like(r.v), r.penalty.root() || p.Cost == KL}
		if !r.change.none {
			r.wholeV = mat.NewDense(opt.Rank, n, nil)
			r.whole = &terms{neg: like(r.wholeV), pos: like(r.wholeV)}
		}
	}
	if r.kernel != nil {
		r.model = newKernelModel(r.kernel.values, r.change, first.w, first.v)
		return r, nil
	}
	condensed := r.change.data(d, p.Cost)
	r.offset = r.change.constant(d, condensed, p.Cost)
	r.model, err = p.model(ctx, d, condensed, r.change, first, signed)
	return r, err
}

// model picks what computes the cost and its gradient.
func (p Parts) model(ctx context.Context, d, condensed data, ch *change, first *initialFactors, signed bool) (model, error) {
	if p.Basis == Concept && p.Cost == Frobenius {
		return newConceptModel(ctx, d, condensed, ch, first.w, first.v, signed)
	}
	return p.plainModel(d, condensed, first), nil
}

func (p Parts) plainModel(d, condensed data, first *initialFactors) model {
	u := first.u
	if p.Basis != Free {
		k, _ := first.v.Dims()
		_, m := d.dims()
		u = mat.NewDense(k, m, nil)
	}
	var b basis
	switch p.Basis {
	case Concept:
		b = newConceptBasis(d, first.w, u)
	case RankOne:
		b = newRankOneBasis(first.a, first.b, u)
	default:
		b = freeBasis{u, p.UnitNorm}
	}
	return plainModel{newCost(p.Cost, condensed, u, first.v), b, u}
}

// fitWeight is what the cost counts beside the penalty.
func (p Parts) fitWeight() float64 {
	if p.FitWeight == 0 {
		return 1
	}
	return p.FitWeight
}

// share is what half the gradient of a penalty counts in a block: the
// Frobenius cost's blocks leave out a factor of 2, the divergence's do not.
func (c Cost) share() float64 {
	if c == KL {
		return 2
	}
	return 1
}

func (r *run) iterate(ctx context.Context, opt Options) (err error) {
	r.model.coefficientBlock()
	r.history, r.stop, err = descend(ctx, opt, r.objective(), func() (float64, error) {
		r.model.stepBasis(r.solver)
		r.solver.step(r.v, r.model.coefficientBlock(), r.penaltyTerms())
		if l, ok := r.penalty.(learningPenalty); ok {
			if err := l.learn(ctx, r.change.v(r.v)); err != nil {
				return 0, err
			}
		}
		return r.objective(), nil
	})
	return err
}

// penaltyTerms returns the parts of the penalty's gradient at the present
// coefficients, or nil.
func (r *run) penaltyTerms() *terms {
	if r.penalty == nil {
		return nil
	}
	t, v := r.terms, r.v
	if r.whole != nil {
		t, v = r.whole, r.wholeV
		r.change.expandInto(v, r.v)
	}
	t.neg.Zero()
	t.pos.Zero()
	r.penalty.add(t, v, r.parts.Cost.share()/r.parts.fitWeight())
	if r.whole != nil {
		r.change.pullBack(r.terms.neg, t.neg)
		r.change.pullBack(r.terms.pos, t.pos)
	}
	return r.terms
}

// objective is the objective at the present factors; it notes the penalty's
// share.
func (r *run) objective() float64 {
	j := r.parts.fitWeight() * (r.model.value() + r.offset)
	if r.penalty == nil {
		return j
	}
	share := r.penalty.value(r.change.v(r.v))
	r.share = append(r.share, share)
	return j + share
}

// finish scales the factors as the papers do on exit, the columns of U to unit
// length and those of V the other way (CNMF paper, section 3.3; CF paper, eqs
// 12–13, where the length is (WᵀKW)^½), and stands them up.
func (r *run) finish(opt Options) (*Result, error) {
	if !opt.KeepScale {
		scale := r.model.lengths()
		for i, s := range scale {
			scaleRow(r.v, i, s)
		}
		r.model.rescale(scale)
	}
	u, w := r.model.factors()
	res := &Result{
		Coefficients: stand(r.change.v(r.v)),
		Objective:    r.history,
		Penalty:      r.share,
		Stop:         r.stop,
	}
	if w != nil {
		res.Weights = stand(w)
	}
	if u != nil {
		res.Basis = stand(u)
		res.Model = &Additive{Cost: r.parts.Cost, Basis: res.Basis}
	} else {
		res.Model = r.kernel.model(w)
	}
	for _, a := range []*mat.Dense{res.Basis, res.Coefficients, res.Weights} {
		if a != nil && !finite(a) {
			return nil, fmt.Errorf("the factors have outgrown what numbers can hold after %d iterations", res.Iterations())
		}
	}
	return res, nil
}

// normalisedCutWeights returns γ_i = 1/Σ_j k_ij, of the kernel or of the inner
// products.
func normalisedCutWeights(x data, kernel *boundKernel) ([]float64, error) {
	n, m := x.dims()
	out := make([]float64, n)
	if kernel != nil {
		rowSums(out, kernel.values)
	} else {
		total := make([]float64, m)
		x.each(func(_, j int, v float64) { total[j] += v })
		x.each(func(i, j int, v float64) { out[i] += v * total[j] })
	}
	for i, s := range out {
		if !(s > 0) {
			return nil, &SampleError{i, fmt.Sprintf("its inner products with the samples sum to %v, and normalised-cut weights need more than 0", s)}
		}
		out[i] = 1 / s
	}
	return out, nil
}

func finite(a *mat.Dense) bool {
	r, _ := a.Dims()
	for i := range r {
		for _, x := range a.RawRowView(i) {
			if !finiteNumber(x) {
				return false
			}
		}
	}
	return true
}
