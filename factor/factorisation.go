package factor

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
)

// Factorisation is the state of a fit that a [Solver] works on: factors θ ≥ 0 with k rows each. Tied samples are
// condensed into one, so the coefficients have ñ ≤ n columns.
type Factorisation struct {
	parts                   Parts
	model                   model
	kernel                  *boundKernel // or nil
	whole                   view.Data    // the samples
	data                    view.Data    // the condensed samples; nil with a kernel
	ties                    *view.Condensation
	v                       *mat.Dense   // k×ñ, condensed
	factors                 []*mat.Dense // the parameters of the basis, then v
	saved                   []*mat.Dense // copies of factors made by Keep
	onBasis                 boundPenalties
	onCoefficients          boundPenalties
	offset                  float64 // cost of the whole data minus cost of the condensed data
	step                    func(context.Context) error
	objective               float64 // at the current factors, valid if known
	penalty                 float64 // the penalties' part of objective
	objectiveKnown          bool
	history, penaltyHistory []float64 // objective and penalty, initially and after each iteration
	stop                    Stop
}

// Parts returns the parts of the factorisation.
func (f *Factorisation) Parts() Parts { return f.parts }

// Data returns the condensed data X̃, ñ×m, a read-only *mat.Dense or *CSR, or nil for a kernel other than xᵀy.
func (f *Factorisation) Data() mat.Matrix {
	if f.data == nil {
		return nil
	}
	return f.data.Matrix()
}

// Factors returns the transposed factors: first the parameters of the basis, last the condensed coefficients, k×ñ.
// The parameters are U, k×m, for a free basis, W, k×n, for a concept basis, and A, k×h, and B, k×w, for a rank-one
// basis. A solver changes a factor in place and then calls Moved.
func (f *Factorisation) Factors() []*mat.Dense { return f.factors }

// Block returns the cost's block for factor i.
func (f *Factorisation) Block(i int) Block { return f.model.block(i) }

// Moved must be called after factor i is changed. With Parts.UnitNorm it scales the basis vectors to unit length.
func (f *Factorisation) Moved(i int) {
	f.model.moved(i)
	f.objectiveKnown = false
}

// Objective returns the objective at the current factors. It is cached until Moved is called.
func (f *Factorisation) Objective() float64 {
	if f.objectiveKnown {
		return f.objective
	}
	f.objectiveKnown = true
	f.objective, f.penalty = cmp.Or(f.parts.FitWeight, 1)*(f.model.value()+f.offset), 0
	if f.onCoefficients != nil {
		f.penalty += f.onCoefficients.value(f.ties.Expanded(f.v))
	}
	if f.onBasis != nil {
		f.penalty += f.onBasis.value(f.model.vectors())
	}
	f.objective += f.penalty
	return f.objective
}

// Keep saves a copy of the factors for Restore.
func (f *Factorisation) Keep() {
	if f.saved == nil {
		f.saved = lists.Map(f.factors, algebra.Like)
	}
	for i, theta := range f.factors {
		f.saved[i].Copy(theta)
	}
}

// Restore sets the factors to the copy of the last Keep.
func (f *Factorisation) Restore() {
	for i, theta := range f.factors {
		theta.Copy(f.saved[i])
		f.Moved(i)
	}
}

// Terms returns the penalties' terms for factor i at the current factors, or nil if no penalty acts on it.
func (f *Factorisation) Terms(i int) *Terms {
	theta, last, scale := f.factors[i], len(f.factors)-1, f.penaltyScale()
	penalties, direct := f.onCoefficients, f.ties.None
	if i < last {
		penalties, direct = f.onBasis, f.parts.Basis.free()
	}
	switch {
	case penalties == nil:
		return nil
	case i < last && f.parts.Basis == BasisSemi:
		return penalties.formTerms(theta, scale)
	case direct:
		return penalties.terms(theta, f.parts.Cost, scale)
	}
	// Penalties are evaluated on U or V, and their gradient is pulled back to the parameters.
	at, pullBack := f.ties.Expanded(f.v), f.ties.PullBack
	if i < last {
		at, pullBack = f.model.vectors(), func(dst, a *mat.Dense) { f.model.pullBack(dst, a, i) }
	}
	whole := penalties.terms(at, f.parts.Cost, scale)
	t := &Terms{Positive: algebra.Like(theta), Negative: algebra.Like(theta), Root: whole.Root}
	pullBack(t.Positive, whole.Positive)
	pullBack(t.Negative, whole.Negative)
	return t
}

// penaltyScale is the factor of half a penalty's gradient: blocks of the Frobenius cost omit a factor of 2.
func (f *Factorisation) penaltyScale() float64 {
	if f.parts.Cost.Quadratic() {
		return 1 / cmp.Or(f.parts.FitWeight, 1)
	}
	return 2 / cmp.Or(f.parts.FitWeight, 1)
}

// coefficientPenalty returns the sum of the penalties on row r of the condensed coefficients. Each must be a
// [CoordinatePenalty].
func (f *Factorisation) coefficientPenalty(r int) PenaltyRow {
	theta, scale := f.v.RawRowView(r), f.penaltyScale()
	row := theta
	if !f.ties.None {
		row = make([]float64, len(f.ties.Group))
		for i, g := range f.ties.Group {
			row[i] = theta[g] * f.ties.Expand[g]
		}
	}
	rows := lists.Map(f.onCoefficients, func(p BoundPenalty) PenaltyRow { return p.(CoordinatePenalty).Row(row) })
	samples, expand := f.ties.Members(), f.ties.Expand
	return PenaltyRow{
		Gradient: func(g int) (sum float64) {
			for _, i := range samples[g] {
				one := 0.0
				for _, p := range rows {
					one += p.Gradient(i)
				}
				sum += scale * one
			}
			return sum * expand[g]
		},
		Curvature: func(g int) (most float64) { // an upper bound
			for _, i := range samples[g] {
				one := 0.0
				for _, p := range rows {
					if p.Curvature != nil {
						one += p.Curvature(i)
					}
				}
				most += scale * one * expand[g] * expand[g]
			}
			return most
		},
		Moved: func(g int, delta float64) {
			delta *= expand[g]
			for _, i := range samples[g] {
				if !f.ties.None { // else the caller has changed it
					row[i] += delta
				}
				for _, p := range rows {
					if p.Moved != nil {
						p.Moved(i, delta)
					}
				}
			}
		},
	}
}

func (f *Factorisation) iterate(ctx context.Context, opt Options) (err error) {
	defer guard.Catch(&err)
	first := f.Objective()
	f.penaltyHistory = []float64{f.penalty}
	f.history, f.stop = descend(ctx, opt, first, func(wanted bool) (now float64) {
		guard.Check(f.step(ctx))
		f.learn(ctx)
		share := math.NaN()
		if wanted {
			now, share = f.Objective(), f.penalty
		}
		f.penaltyHistory = append(f.penaltyHistory, share)
		return now
	})
	return nil
}

// learn calls guard.Fail.
func (f *Factorisation) learn(ctx context.Context) {
	for i, penalties := range []boundPenalties{f.onCoefficients, f.onBasis} {
		for _, p := range penalties {
			l, ok := p.(LearningPenalty)
			if !ok {
				continue
			}
			theta := f.ties.Expanded(f.v)
			if i == 1 {
				theta = f.model.vectors()
			}
			f.objectiveKnown = false
			guard.Check(l.Learn(ctx, theta))
		}
	}
}

// finish makes the result. Unless opt.KeepScale is set, it scales the columns of U to unit length and the columns of V
// inversely (CNMF paper, section 3.3; CF paper, eqs 12–13, where the length is (WᵀKW)^½).
func (f *Factorisation) finish(opt Options) (*Result, error) {
	if !opt.KeepScale {
		scale := f.model.lengths()
		for i, s := range scale {
			algebra.ScaleRow(f.v, i, s)
		}
		f.model.rescale(scale)
		if tri, ok := f.model.(*plainModel); ok && f.parts.Basis == BasisTri {
			tri.basis.(triBasis).scaled()
		}
	}
	u := f.model.vectors()
	res := &Result{Coefficients: algebra.Transpose(f.ties.Expanded(f.v)), Objective: f.history, Stop: f.stop}
	if len(f.parts.Penalties) > 0 {
		res.Penalty = f.penaltyHistory
	}
	if f.parts.Basis == BasisConcept {
		res.Weights = algebra.Transpose(f.factors[0])
	}
	if f.parts.Basis == BasisTri {
		res.Association, res.FeatureGroups = mat.DenseCopyOf(f.factors[0]), algebra.Transpose(f.factors[1])
	}
	if u != nil {
		res.Basis = algebra.Transpose(u)
		res.Model = &Additive{Cost: f.parts.Cost, Exponent: f.parts.Exponent, Threshold: f.parts.Threshold, Basis: res.Basis}
	} else {
		res.Model = f.kernel.model(f.factors[0])
	}
	for _, a := range []*mat.Dense{res.Basis, res.Coefficients, res.Weights, res.Association, res.FeatureGroups} {
		if a != nil && !algebra.Finite(a) {
			return nil, fmt.Errorf("the factors overflow after %d iterations", res.Iterations())
		}
	}
	return res, nil
}

// descend repeats step until a stopping criterion of opt holds. step returns the objective if wanted is true. The
// history starts with first. descend calls guard.Fail, and so may step.
func descend(ctx context.Context, opt Options, first float64, step func(wanted bool) float64) (history []float64, stop Stop) {
	iterations := cmp.Or(opt.Iterations, DefaultIterations)
	guard.FailIf(!algebra.FiniteNumber(first), "the objective of the initial factors overflows: %v", first)
	history = []float64{first}
	for t := 1; t <= iterations; t++ {
		guard.Check(guard.Wrap(ctx.Err(), "stopped at iteration %d", t))
		wanted := opt.Trace == nil || opt.Tolerance > 0 || opt.OnIteration != nil || t == iterations || opt.Trace(t)
		now := 0.0
		guard.Within(func() { now = step(wanted) }, "iteration %d", t)
		if !wanted {
			history = append(history, math.NaN())
			continue
		}
		guard.FailIf(!algebra.FiniteNumber(now), "the objective is %v after %d iterations: the factors overflow", now, t)
		before := history[t-1]
		history = append(history, now)
		if opt.OnIteration != nil {
			opt.OnIteration(t, now)
		}
		if opt.Tolerance > 0 && before-now <= opt.Tolerance*math.Abs(before) {
			return history, StopTolerance
		}
	}
	return history, StopIterations
}
