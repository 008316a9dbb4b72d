package factor

import (
	"context"
	"fmt"
	"math"
	"time"

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
	// Penalty adds a term in the coefficients to the cost, or is nil.
	Penalty Penalty
}

// Fit implements [Method]. The data must be ≥ 0, but for a concept basis under
// the Frobenius cost, whose coefficients and weights still are. It fails on data
// or options that cannot be used, when ctx ends, and when the cost runs over
// what a float64 holds.
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
	v       *mat.Dense // k×ñ, condensed
	change  *change
	penalty boundPenalty
	terms   *terms     // of the condensed coefficients
	whole   *terms     // of V, where there is a tie
	wholeV  *mat.Dense // k×n
	solver  solver
	offset  float64 // of the condensed cost
	history []float64
	stop    Stop
}

func (p Parts) start(ctx context.Context, x mat.Matrix, known Known, opt Options) (*run, error) {
	d, err := newData(x)
	if err != nil {
		return nil, err
	}
	n, _ := d.dims()
	if err := known.check(n); err != nil {
		return nil, err
	}
	if err := opt.check(n); err != nil {
		return nil, err
	}
	i, j, value, signed := firstNegative(d)
	if signed && !(p.Basis == Concept && p.Cost == Frobenius && p.Weighting == Equal) {
		return nil, &SampleError{i, fmt.Sprintf("feature %d: value %v is negative, and this method needs values of 0 or more", j, value)}
	}
	var weight []float64
	if p.Weighting == NormalisedCut {
		weight = normalisedCutWeights(d)
	}
	r := &run{parts: p, solver: &multiplicative{}}
	if r.change, err = newChange(n, p.Tie, known.Labels, weight, p.Cost); err != nil {
		return nil, err
	}
	condensed := r.change.data(d, p.Cost)
	r.offset = r.change.constant(d, condensed, p.Cost)
	if p.Penalty != nil {
		if r.penalty, err = p.Penalty.bind(d, known); err != nil {
			return nil, err
		}
	}

	first, err := p.initial(ctx, x, d, condensed, r.change, opt)
	if err != nil {
		return nil, err
	}
	r.v = first.v
	if r.penalty != nil {
		r.terms = &terms{like(r.v), like(r.v)}
		if !r.change.none {
			r.wholeV = mat.NewDense(opt.Rank, n, nil)
			r.whole = &terms{like(r.wholeV), like(r.wholeV)}
		}
	}
	r.model = p.model(d, condensed, r.change, first, signed)
	return r, nil
}

// model picks what computes the cost and its gradient.
func (p Parts) model(d, condensed data, ch *change, first *initialFactors, signed bool) model {
	if p.Basis == Concept && p.Cost == Frobenius {
		return newConceptModel(d, condensed, ch, first.w, first.v, signed)
	}
	return p.plainModel(d, condensed, first)
}

func (p Parts) plainModel(d, condensed data, first *initialFactors) model {
	u := first.u
	if p.Basis == Concept {
		k, _ := first.v.Dims()
		_, m := d.dims()
		u = mat.NewDense(k, m, nil)
		b := newConceptBasis(d, first.w, u)
		return plainModel{newCost(p.Cost, condensed, u, first.v), b, u}
	}
	return plainModel{newCost(p.Cost, condensed, u, first.v), freeBasis{u}, u}
}

// share is what half the gradient of a penalty counts in a block: the
// Frobenius cost's blocks leave out a factor of 2, the divergence's do not.
func (c Cost) share() float64 {
	if c == KL {
		return 2
	}
	return 1
}

func (r *run) iterate(ctx context.Context, opt Options) error {
	begin := time.Now()
	iterations := opt.Iterations
	if iterations == 0 {
		iterations = DefaultIterations
	}
	r.model.coefficientBlock()
	if err := r.record(); err != nil {
		return err
	}
	r.stop = StopIterations
	for t := 1; t <= iterations; t++ {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("stopped at iteration %d: %w", t, err)
		}
		r.model.stepBasis(r.solver)
		b := r.model.coefficientBlock()
		r.solver.step(r.v, b, r.penaltyTerms())
		if err := r.record(); err != nil {
			return err
		}
		now := r.history[t]
		if opt.OnIteration != nil {
			opt.OnIteration(t, now)
		}
		if before := r.history[t-1]; opt.Tolerance > 0 && before-now <= opt.Tolerance*math.Abs(before) {
			r.stop = StopTolerance
			return nil
		}
		if opt.MaxTime > 0 && time.Since(begin) >= opt.MaxTime && t < iterations {
			r.stop = StopTime
			return nil
		}
	}
	return nil
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
	r.penalty.add(t, v, r.parts.Cost.share())
	if r.whole != nil {
		r.change.pullBack(r.terms.neg, t.neg)
		r.change.pullBack(r.terms.pos, t.pos)
	}
	return r.terms
}

// record appends the objective at the present factors to the history.
func (r *run) record() error {
	j := r.model.value() + r.offset
	if r.penalty != nil {
		j += r.penalty.value(r.change.v(r.v))
	}
	if math.IsNaN(j) || math.IsInf(j, 0) {
		return fmt.Errorf("the objective is %v after %d iterations: the factors have outgrown what numbers can hold", j, len(r.history))
	}
	r.history = append(r.history, j)
	return nil
}

// finish scales the factors as the papers do on exit, the columns of U to unit
// length and those of V the other way (CNMF paper, section 3.3; CF paper, eqs
// 12–13, where the length is (WᵀKW)^½), and stands them up.
func (r *run) finish(opt Options) (*Result, error) {
	u, _ := r.model.factors()
	if !opt.KeepScale {
		k, _ := u.Dims()
		scale := make([]float64, k)
		for i := range k {
			row := u.RawRowView(i)
			if scale[i] = math.Sqrt(dot(row, row)); scale[i] < floor {
				scale[i] = 1
			}
			scaleRow(r.v, i, scale[i])
		}
		r.model.rescale(scale)
	}
	u, w := r.model.factors()
	res := &Result{
		Model:        Model{Cost: r.parts.Cost, Basis: stand(u)},
		Coefficients: stand(r.change.v(r.v)),
		Objective:    r.history,
		Stop:         r.stop,
	}
	if w != nil {
		res.Weights = stand(w)
	}
	for _, a := range []*mat.Dense{res.Basis, res.Coefficients, res.Weights} {
		if a != nil && !finite(a) {
			return nil, fmt.Errorf("the factors have outgrown what numbers can hold after %d iterations", res.Iterations())
		}
	}
	return res, nil
}

// normalisedCutWeights returns γ_i = 1/Σ_j x_iᵀx_j.
func normalisedCutWeights(x data) []float64 {
	n, m := x.dims()
	total := make([]float64, m)
	x.each(func(_, j int, v float64) { total[j] += v })
	out := make([]float64, n)
	x.each(func(i, j int, v float64) { out[i] += v * total[j] })
	for i := range out {
		out[i] = 1 / out[i]
	}
	return out
}

func finite(a *mat.Dense) bool {
	r, _ := a.Dims()
	for i := range r {
		for _, x := range a.RawRowView(i) {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return false
			}
		}
	}
	return true
}
