package factor

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/descent"
)

// fastKL lowers the divergence of a free basis by coordinate descent (Hsieh and Dhillon
// 2011): of each feature, and then of each sample, the k entries of its column of the
// factor go one after another near to the minimum of the cost in that entry. An iteration
// begins ahead of the last factors, in the direction of the last iteration; one that
// raises the objective is done again from the last factors, and where that raises it too, by the
// multiplicative rule.
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
	halves [2]*descent.KLHalf // in U, by features, and in V, by samples
	last   []*mat.Dense       // the factors before the last iteration
	rule   func(context.Context) error
	lead
}

// startFastKL makes ready to lower the divergence. Each sample's coefficients are scaled
// to where the cost is least.
func startFastKL(f *Factorisation) func(context.Context) error {
	u, v := f.Factors()[0], f.Factors()[1]
	features, samples := descent.KLData(f.data)
	s := &fastKL{
		f: f, lead: firstLead(),
		halves: [2]*descent.KLHalf{descent.NewKLHalf(features, u, v), descent.NewKLHalf(samples, v, u)},
		last:   []*mat.Dense{algebra.Like(u), algebra.Like(v)},
	}
	s.rule, _ = Multiplicative{}.Start(f)
	if m, ok := f.model.(*plainModel); ok {
		if c, ok := m.cost.(*klCost); ok {
			c.valueAlone = true // the sweeps have gradients of their own
		}
	}
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
	if err := s.Sweep(ctx, s.share()); err != nil {
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
	for _, again := range []func(context.Context) error{func(ctx context.Context) error { return s.Sweep(ctx, 0) }, s.rule} {
		f.Restore()
		if err := again(ctx); err != nil || f.Objective() <= before {
			return err
		}
	}
	f.Restore() // by rounding
	return nil
}

// sweep moves both factors, from ahead of them by a share of the last iteration.
func (s *fastKL) Sweep(ctx context.Context, by float64) error {
	if by > 0 {
		for i, theta := range s.f.Factors() {
			aheadKL(theta, s.last[i], by)
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
