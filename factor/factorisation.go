package factor

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
)

// Factorisation is a factorisation under way, as a [Solver] sees it: factors θ ≥ 0 of k rows each. A tie is
// condensed away, so that the coefficients are those of ñ ≤ n groups of samples.
type Factorisation struct {
	parts          Parts
	model          model
	kernel         *boundKernel // or nil
	whole          view.Data    // the samples
	data           view.Data    // they, condensed; nil of a kernel
	ties           *view.Condensation
	v              *mat.Dense   // k×ñ, condensed
	factors        []*mat.Dense // parameters of the basis, v
	kept           []*mat.Dense
	onBasis        boundPenalties
	onCoefficients boundPenalties
	offset         float64 // of the condensed cost
	step           func(context.Context) error
	objective      float64 // at the present factors, if known
	penalty        float64 // the penalties' part of it
	known          bool
	history, share []float64 // the objective, and the penalties' part of it, after each iteration
	stop           Stop
}

// Parts returns the parts that it is put together from.
func (f *Factorisation) Parts() Parts { return f.parts }

// Data is the condensed data X̃, ñ×m, a *mat.Dense or a *CSR not to be changed, or nil of a kernel other than xᵀy.
func (f *Factorisation) Data() mat.Matrix {
	if f.data == nil {
		return nil
	}
	return f.data.Matrix()
}

// Factors are the factors, transposed: the parameters of the basis, which are U, k×m, of a free basis, W, k×n, of
// a concept basis and A, k×h, and B, k×w, of a rank-one basis, and last the condensed coefficients, k×ñ. A solver
// changes them in place and then calls Moved.
func (f *Factorisation) Factors() []*mat.Dense { return f.factors }

// Block is the cost's block in factor i.
func (f *Factorisation) Block(i int) Block { return f.model.block(i) }

// Moved says that factor i has been changed. With Parts.UnitNorm a basis is brought to unit length here.
func (f *Factorisation) Moved(i int) {
	f.model.moved(i)
	f.known = false
}

// Objective is the objective at the factors as they are, computed once.
func (f *Factorisation) Objective() float64 {
	if f.known {
		return f.objective
	}
	f.known = true
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

// Keep notes the factors as they are.
func (f *Factorisation) Keep() {
	if f.kept == nil {
		for _, theta := range f.factors {
			f.kept = append(f.kept, algebra.Like(theta))
		}
	}
	for i, theta := range f.factors {
		algebra.CopyOf(f.kept[i], theta)
	}
}

// Restore brings the factors back to what they were at the last Keep.
func (f *Factorisation) Restore() {
	for i, theta := range f.factors {
		algebra.CopyOf(theta, f.kept[i])
		f.Moved(i)
	}
}

// Terms are the penalties' terms in factor i at the factors as they are, or nil where there are none.
func (f *Factorisation) Terms(i int) *Terms {
	theta, last, scale := f.factors[i], len(f.factors)-1, f.penaltyScale()
	penalties, direct := f.onCoefficients, f.ties.None
	if i < last {
		penalties, direct = f.onBasis, f.parts.Basis == BasisFree
	}
	switch {
	case penalties == nil:
		return nil
	case direct:
		return penalties.terms(theta, f.parts.Cost, scale)
	}
	// In U or V themselves, and then pulled back.
	var whole *Terms
	var pullBack func(dst, a *mat.Dense)
	t := &Terms{Positive: algebra.Like(theta), Negative: algebra.Like(theta)}
	if i < last {
		whole = penalties.terms(f.model.vectors(), f.parts.Cost, scale)
		pullBack = func(dst, a *mat.Dense) { f.model.pullBack(dst, a, i) }
	} else {
		whole = penalties.terms(f.ties.Expanded(f.v), f.parts.Cost, scale)
		pullBack, t.Diagonal = f.ties.PullBack, f.ties.PullBackDiagonal(whole.Diagonal)
	}
	pullBack(t.Positive, whole.Positive)
	pullBack(t.Negative, whole.Negative)
	t.Root = whole.Root
	return t
}

// penaltyScale multiplies half the gradient of a penalty: blocks of the Frobenius cost leave out a factor of 2.
func (f *Factorisation) penaltyScale() float64 {
	if f.parts.Cost.Quadratic() {
		return 1 / cmp.Or(f.parts.FitWeight, 1)
	}
	return 2 / cmp.Or(f.parts.FitWeight, 1)
}

// coefficientPenalty returns the penalties in row r of the condensed coefficients, which are all of a
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
	var rows []PenaltyRow
	for _, p := range f.onCoefficients {
		rows = append(rows, p.(CoordinatePenalty).Row(row))
	}
	whole := PenaltyRow{
		Gradient: func(i int) (sum float64) {
			for _, p := range rows {
				sum += p.Gradient(i)
			}
			return scale * sum
		},
		Moved: func(i int, delta float64) {
			for _, p := range rows {
				if p.Moved != nil {
					p.Moved(i, delta)
				}
			}
		},
	}
	if f.ties.None {
		return whole
	}
	samples, expand := f.ties.Members(), f.ties.Expand
	return PenaltyRow{
		Gradient: func(g int) (sum float64) {
			for _, i := range samples[g] {
				sum += whole.Gradient(i)
			}
			return sum * expand[g]
		},
		Moved: func(g int, delta float64) {
			delta *= expand[g]
			for _, i := range samples[g] {
				row[i] += delta
				whole.Moved(i, delta)
			}
		},
	}
}

func (f *Factorisation) iterate(ctx context.Context, opt Options) (err error) {
	first := f.Objective()
	f.share = []float64{f.penalty}
	f.history, f.stop, err = descend(ctx, opt, first, func(wanted bool) (now float64, err error) {
		if err := f.step(ctx); err != nil {
			return 0, err
		}
		if err := f.learn(ctx); err != nil {
			return 0, err
		}
		share := math.NaN()
		if wanted {
			now, share = f.Objective(), f.penalty
		}
		f.share = append(f.share, share)
		return now, nil
	})
	return err
}

func (f *Factorisation) learn(ctx context.Context) error {
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
			f.known = false
			if err := l.Learn(ctx, theta); err != nil {
				return err
			}
		}
	}
	return nil
}

// finish transposes the factors after scaling them as the papers do, the columns of U to unit length and those of
// V the other way (CNMF paper, section 3.3; CF paper, eqs 12–13, where the length is (WᵀKW)^½).
func (f *Factorisation) finish(opt Options) (*Result, error) {
	if !opt.KeepScale {
		scale := f.model.lengths()
		for i, s := range scale {
			algebra.ScaleRow(f.v, i, s)
		}
		f.model.rescale(scale)
	}
	u := f.model.vectors()
	res := &Result{Coefficients: algebra.Transpose(f.ties.Expanded(f.v)), Objective: f.history, Stop: f.stop}
	if len(f.parts.Penalties) > 0 {
		res.Penalty = f.share
	}
	if f.parts.Basis == BasisConcept {
		res.Weights = algebra.Transpose(f.factors[0])
	}
	if u != nil {
		res.Basis = algebra.Transpose(u)
		res.Model = &Additive{Cost: f.parts.Cost, Basis: res.Basis}
	} else {
		res.Model = f.kernel.model(f.factors[0])
	}
	for _, a := range []*mat.Dense{res.Basis, res.Coefficients, res.Weights} {
		if a != nil && !algebra.Finite(a) {
			return nil, fmt.Errorf("the factors overflow after %d iterations", res.Iterations())
		}
	}
	return res, nil
}

// descend repeats step, which returns the objective where that is wanted, until opt ends it. The history begins
// with first.
func descend(ctx context.Context, opt Options, first float64, step func(wanted bool) (float64, error)) (history []float64, stop Stop, err error) {
	begin := time.Now()
	iterations := cmp.Or(opt.Iterations, DefaultIterations)
	if !algebra.FiniteNumber(first) {
		return nil, "", fmt.Errorf("the objective of the initial factors overflows: %v", first)
	}
	history = []float64{first}
	for t := 1; t <= iterations; t++ {
		if err := ctx.Err(); err != nil {
			return nil, "", fmt.Errorf("stopped at iteration %d: %w", t, err)
		}
		wanted := opt.Trace == nil || opt.Tolerance > 0 || opt.MaxTime > 0 || opt.OnIteration != nil || t == iterations || opt.Trace(t)
		now, err := step(wanted)
		if err != nil {
			return nil, "", fmt.Errorf("iteration %d: %w", t, err)
		}
		if !wanted {
			history = append(history, math.NaN())
			continue
		}
		if !algebra.FiniteNumber(now) {
			return nil, "", fmt.Errorf("the objective is %v after %d iterations: the factors overflow", now, t)
		}
		before := history[t-1]
		history = append(history, now)
		if opt.OnIteration != nil {
			opt.OnIteration(t, now)
		}
		if opt.Tolerance > 0 && before-now <= opt.Tolerance*math.Abs(before) {
			return history, StopTolerance, nil
		}
		if opt.MaxTime > 0 && time.Since(begin) >= opt.MaxTime && t < iterations {
			return history, StopTime, nil
		}
	}
	return history, StopIterations, nil
}
