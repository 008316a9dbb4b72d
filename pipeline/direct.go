package pipeline

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor"
)

// fitID tells apart what a method does with a draw.
type fitID struct {
	draw   drawID
	method int
}

// represent fits the trial's method to the rows drawn. A direct method finds its
// directions in their order: where there are several ranks it is fitted once for
// a draw, with the largest, and the leading directions are those of the others. Direct
// methods share what they find of the draw.
func (p *Plan) represent(ctx context.Context, t trial, w *work) (*factor.Result, error) {
	if !w.needs.Direct {
		return w.fit(ctx, t.rank)
	}
	id := drawID{t.k, t.repeat}
	fit := func(rank int) (*factor.Result, error) {
		var done func()
		w.shared, done = p.common.use(id)
		defer done()
		return w.fit(ctx, rank)
	}
	ranks := p.Experiment.Rank
	if len(ranks) < 2 {
		return fit(t.rank)
	}
	whole, err := p.direct.get(fitID{id, t.method}, func() (*factor.Result, error) {
		return fit(ranks[len(ranks)-1].Of(t.k))
	})
	if err != nil {
		return nil, err
	}
	return leading(whole, t.rank), nil
}

// leading returns the result with the first k of its directions, or with all
// where there are no more.
func leading(whole *factor.Result, k int) *factor.Result {
	l, ok := whole.Model.(*factor.Linear)
	if !ok {
		return whole
	}
	m, d := l.Projection.Dims()
	n, _ := whole.Coefficients.Dims()
	k = min(k, d)
	res := *whole
	res.Basis = mat.DenseCopyOf(l.Projection.Slice(0, m, 0, k))
	res.Coefficients = mat.DenseCopyOf(whole.Coefficients.Slice(0, n, 0, k))
	res.Model = &factor.Linear{Mean: l.Mean, Projection: res.Basis}
	return &res
}
