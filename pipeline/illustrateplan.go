package pipeline

import (
	"context"

	"github.com/seed4492f2cd/partwise/factor"
)

// Illustrate shows the visual words and the methods' saved models, some of which may be nil, on some of
// their photographs. It returns nil for features that are neither visual words nor those of places.
func (p *Plan) Illustrate(ctx context.Context, kept []factor.Model) (*Illustrations, error) {
	if !illustrates(p.Inputs) {
		return nil, nil
	}
	d := p.draws.modelled()
	seen, err := d.features(ctx)
	if err != nil {
		return nil, err
	}
	var models []learned
	for _, t := range p.trials {
		if p.keepsModel(t) && kept[t.method] != nil {
			models = append(models, learned{p.Experiment.Methods[t.method].Label(), kept[t.method]})
		}
	}
	return illustrate(ctx, p.Inputs, seen, d.rows, d.truth, models)
}
