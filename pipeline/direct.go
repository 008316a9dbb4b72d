package pipeline

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// represented is what a method makes of a draw, and, where they are known already, of the
// samples to be classified, tested×k.
type represented struct {
	*factor.Result
	test *mat.Dense
	// found holds the classes that the leading k directions find for the samples to be classified,
	// by k. It is nil for a fit of one rank.
	found []once[[]int]
}

// represent fits the trial's method to the rows drawn, and returns nil where it takes them as
// they are. A direct method finds its directions in their order: where there are several ranks
// it is fitted once for a draw, with the largest, and the leading directions are those of the
// others.
func (p *Plan) represent(ctx context.Context, t trial, w *work, d *drawn, seen *input.View) (*represented, error) {
	fit := func(rank int) (*represented, error) {
		res, err := w.fit(ctx, rank)
		if res == nil || err != nil {
			return nil, err
		}
		return &represented{Result: res}, nil
	}
	ranks := p.Experiment.Rank
	if !w.needs.Direct || len(ranks) < 2 {
		return fit(t.rank)
	}
	whole, err := d.direct[t.method].get(ctx, func() (*represented, error) {
		whole, err := fit(ranks[len(ranks)-1].Of(t.k))
		if err == nil && p.Experiment.Task == spec.Classification {
			whole.test, err = whole.Model.Transform(ctx, seen.Test())
			err = w.in.NameRows(err, d.testRows)
			_, k := whole.Coefficients.Dims()
			whole.found = make([]once[[]int], k+1)
		}
		return whole, err
	})
	if err != nil {
		return nil, err
	}
	return whole.leading(t.rank), nil
}

// leading returns what the first k directions make of the draw, or all where there are no
// more.
func (r *represented) leading(k int) *represented {
	l, ok := r.Model.(*factor.Linear)
	if !ok {
		return r
	}
	_, d := l.Projection.Dims()
	k = min(k, d)
	first := func(x *mat.Dense) *mat.Dense {
		n, _ := x.Dims()
		return mat.DenseCopyOf(x.Slice(0, n, 0, k))
	}
	res := *r.Result
	res.Basis, res.Coefficients = first(l.Projection), first(r.Coefficients)
	res.Model = &factor.Linear{Mean: l.Mean, Projection: res.Basis}
	out := &represented{Result: &res, found: r.found}
	if r.test != nil {
		out.test = first(r.test)
	}
	return out
}
