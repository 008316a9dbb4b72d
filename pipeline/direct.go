package pipeline

import (
	"context"

	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

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
