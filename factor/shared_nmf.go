package factor

import (
	"cmp"
	"math"
	"reflect"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// nmfFit is all that a fit of NMF depends on but the samples. The zero value stands for a fit
// that is not shared.
type nmfFit struct {
	rank, iterations int
	tolerance        float64
	seed             uint64
	fast             bool // or multiplicative
}

// nmfFit returns which fit of NMF that of the parts by the options is. It is not shared where the
// parts are others, or the options such that it cannot be told, or not be repeated.
func (p Parts) nmfFit(o Options) nmfFit {
	p.Image = Image{}
	if !reflect.ValueOf(p).IsZero() || cmp.Or(o.Init, InitRandom) != InitRandom || o.Start != nil ||
		o.MaxTime != 0 || o.KeepScale || o.OnIteration != nil {
		return nmfFit{}
	}
	fit := nmfFit{o.Rank, cmp.Or(o.Iterations, DefaultIterations), o.Tolerance, o.Seed, true}
	switch o.Solver.(type) {
	case nil, Fast:
	case Multiplicative:
		fit.fast = false
	default:
		return nmfFit{}
	}
	return fit
}

// fitted returns the result of a fit that has been kept, with the objective where it is wanted. It is
// nil where there is none, or where what is known is not of the samples.
func (s *Shared) fitted(fit nmfFit, known Known, wants func(iteration int) bool) *Result {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := s.nmf[fit]
	if kept == nil {
		return nil
	}
	if n, _ := kept.Coefficients.Dims(); known.Check(n) != nil {
		return nil
	}
	res := kept.ofNMF()
	for i := 1; i < len(res.Objective)-1; i++ {
		switch {
		case !wants(i):
			res.Objective[i] = math.NaN()
		case math.IsNaN(res.Objective[i]):
			return nil
		}
	}
	return res
}

// keep keeps the result of a fit. Where two are under way at once, both are computed.
func (s *Shared) keep(fit nmfFit, res *Result) {
	if s == nil || fit == (nmfFit{}) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.nmf == nil {
		s.nmf = map[nmfFit]*Result{}
	}
	s.nmf[fit] = res.ofNMF()
}

// ofNMF returns a copy of a result of NMF.
func (r *Result) ofNMF() *Result {
	u := mat.DenseCopyOf(r.Basis)
	return &Result{
		Model: &Additive{Basis: u}, Basis: u, Coefficients: mat.DenseCopyOf(r.Coefficients),
		Objective: slices.Clone(r.Objective), Stop: r.Stop,
	}
}
