package pipeline

import (
	"context"

	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/internal/fitting"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// represent fits the trial's method to the rows drawn, and returns nil where it takes them as
// they are. A direct method finds its directions in their order: where there are several ranks
// it is fitted once for a draw, with the largest, and the leading directions are those of the
// others.
func (p *Plan) represent(ctx context.Context, t trial, w *fitting.Work, d *drawn, seen *input.View) (*fitting.Represented, error) {
	fit := func(rank int) (*fitting.Represented, error) {
		res, err := w.Fit(ctx, rank)
		if res == nil || err != nil {
			return nil, err
		}
		return &fitting.Represented{Result: res}, nil
	}
	ranks := p.Experiment.Rank
	if !w.Needs.Direct || len(ranks) < 2 {
		return fit(t.rank)
	}
	whole, err := d.direct[t.method].Get(ctx, func() (*fitting.Represented, error) {
		whole, err := fit(ranks[len(ranks)-1].Of(t.k))
		if err == nil && p.Experiment.Task == spec.Classification {
			whole.Test, err = whole.Model.Transform(ctx, seen.Test())
			err = w.In.NameRows(err, d.testRows)
			_, k := whole.Coefficients.Dims()
			whole.Found = make([]fitting.Once[[]int], k+1)
		}
		return whole, err
	})
	if err != nil {
		return nil, err
	}
	return whole.Leading(t.rank), nil
}
