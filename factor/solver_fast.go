package factor

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/descent"
)

// Fast is block coordinate descent: each factor in turn moves nearly to its minimum while
// the others are held, and where that can be done at no cost iterations begin beyond where
// the last ended. It comes to the objective of [Multiplicative] in a fraction of its
// iterations, to other digits of it, and has zeros where that has small numbers. The
// objective never rises.
type Fast struct{}

// Serves implements [Solver].
func (Fast) Serves(p Parts) error {
	switch {
	case p.Cost != CostFrobenius && p.Cost != CostKL:
		return fmt.Errorf("fast does not serve the %v cost", p.Cost)
	case p.Basis == BasisRankOne:
		return fmt.Errorf("fast does not serve a %v basis", p.Basis)
	case p.Cost == CostKL && p.Basis == BasisConcept:
		return fmt.Errorf("fast does not serve a %v basis under the %v cost", p.Basis, p.Cost)
	case p.Cost == CostKL && p.HeldOut != nil:
		return fmt.Errorf("fast does not serve entries that are held out under the %v cost: it steps by the data themselves", p.Cost)
	case p.Cost == CostKL && p.UnitNorm:
		return fmt.Errorf("fast does not serve a basis of unit norm under the %v cost: no exact step for it is known", p.Cost)
	}
	for _, one := range p.Penalties {
		_, learned := one.(LearnedGraph)
		switch {
		case one.OnBasis():
			return fmt.Errorf("fast does not serve the penalty %s, which is on the basis vectors: it has a step for penalties on the coefficients only", penaltyName(one))
		case learned:
			return fmt.Errorf("fast does not serve the penalty %s: it has no step for a graph that is learned", penaltyName(one))
		case p.Basis != BasisFree:
			return fmt.Errorf("fast does not serve the penalty %s with a %v basis: it has no step for it", penaltyName(one), p.Basis)
		}
	}
	switch {
	case len(p.Penalties) == 0:
		return nil
	case p.Cost == CostKL:
		return fmt.Errorf("fast does not serve the penalty %s under the %v cost: without unit-norm there is no minimum", penaltyName(p.Penalties[0]), p.Cost)
	case !p.UnitNorm:
		return fmt.Errorf("fast serves the penalty %s only with unit-norm: without, coefficients shrink while the basis grows, and there is no minimum", penaltyName(p.Penalties[0]))
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
	}
	if f.Parts().UnitNorm {
		return startFastUnit(f)
	}
	return startFastFree(f), nil
}

// fastFree lowers the Frobenius cost of a free basis. An iteration moves both factors to
// their minima by coordinate descent, from points ahead of the last ones in the direction
// of the last iteration. The products with the data are linear, so that those of points
// ahead cost nothing. An iteration that raises the objective is done again without that
// (Ang and Gillis 2019).
type fastFree struct {
	f *Factorisation
	lead

	// The factors and their products with the data, v·X and u·Xᵀ, ahead, and the
	// products where they were.
	u, v, vx, ux   *mat.Dense
	lastVX, lastUX *mat.Dense
}

// lead says how far ahead of the last factors an iteration begins.
type lead struct {
	by    float64 // as a share of the last iteration's step
	most  float64 // how far that may grow
	plain bool    // the next iteration begins where the last ended
}

// firstLead begins where the factors are.
func firstLead() lead { return lead{by: 0.5, most: 1, plain: true} }

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
	u, v := f.Factors()[0], f.Factors()[1]
	s := &fastFree{
		f: f, lead: firstLead(),
		u: mat.DenseCopyOf(u), v: algebra.Like(v), vx: algebra.Like(u), ux: algebra.Like(v), lastVX: algebra.Like(u), lastUX: algebra.Like(v),
	}
	s.lastUX.Copy(f.Block(1).Linear)
	f.Keep()
	return s.iterate
}

func (s *fastFree) iterate(ctx context.Context) error {
	f, by := s.f, s.share()
	u, v := f.Factors()[0], f.Factors()[1]
	before := f.Objective()
	vx := f.Block(0).Linear
	goAhead(s.v, v, f.kept[1], by)
	goAhead(s.vx, vx, s.lastVX, by)
	algebra.CopyOf(s.lastVX, vx)
	f.Keep()

	if err := descent.MinimiseRows(ctx, u, s.u, s.vx, algebra.SelfGram(s.v), descent.MostSweeps); err != nil {
		return err
	}
	f.Moved(0)
	ux := f.Block(1).Linear
	goAhead(s.u, u, f.kept[0], s.by)
	goAhead(s.ux, ux, s.lastUX, s.by)
	algebra.CopyOf(s.lastUX, ux)
	if err := descent.MinimiseRows(ctx, v, s.v, s.ux, algebra.SelfGram(s.u), descent.MostSweeps); err != nil {
		return err
	}
	f.Moved(1)
	if f.Objective() <= before {
		s.lowered(1.02, 1.005)
		return nil
	}

	s.raised()
	f.Restore()
	if err := descent.MinimiseRows(ctx, u, u, s.lastVX, algebra.SelfGram(v), descent.MostSweeps); err != nil {
		return err
	}
	f.Moved(0)
	b := f.Block(1)
	if err := descent.MinimiseRows(ctx, v, v, b.Linear, b.Quadratic, descent.MostSweeps); err != nil {
		return err
	}
	f.Moved(1)
	if !(f.Objective() <= before) { // by rounding
		f.Restore()
	}
	s.u.Copy(u)
	algebra.CopyOf(s.lastUX, f.Block(1).Linear)
	return nil
}

// goAhead sets dst to x + by·(x − last).
func goAhead(dst, x, last *mat.Dense, by float64) {
	algebra.EachRow(dst, 4, func(r int, to []float64) {
		from, before := x.RawRowView(r)[:len(to)], last.RawRowView(r)[:len(to)]
		for i, x := range from {
			to[i] = x + by*(x-before[i])
		}
	})
}

// scaleStart brings basis vectors to unit length and scales V as a whole to the data: the
// multiplicative step does that by itself.
func scaleStart(f *Factorisation) {
	theta, v := f.Factors()[0], f.Factors()[1]
	k, _ := v.Dims()
	swap := func(r int, s float64) { // between both factors
		if s < algebra.Floor {
			return
		}
		row := theta.RawRowView(r)
		for i := range row {
			row[i] /= s
		}
		algebra.ScaleRow(v, r, s)
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
	for round := range scaleRounds {
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

// scaleRounds is how often the scale is looked for where entries are held out.
const scaleRounds = 100

// quadratic returns the matrix of a quadratic block's problem.
func quadratic(b Block) *mat.Dense {
	if b.NegativeQuadratic == nil {
		return b.Quadratic
	}
	var h mat.Dense
	h.Sub(b.Quadratic, b.NegativeQuadratic)
	return &h
}
