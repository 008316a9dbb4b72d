package pipeline

import (
	"context"

	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/pipeline/models"
)

// Illustrate shows the visual words and the methods' saved models, some of which may be nil, on some of
// their photographs. It returns nil for features that are neither visual words nor those of places.
func (p *Plan) Illustrate(ctx context.Context, kept []factor.Model) (*models.Illustrations, error) {
	if !models.Illustrates(p.Inputs) {
		return nil, nil
	}
	d := p.draws.modelled()
	seen, err := d.features(ctx)
	if err != nil {
		return nil, err
	}
	var fitted []models.Learned
	for _, t := range p.trials {
		if p.keepsModel(t) && kept[t.method] != nil {
			fitted = append(fitted, models.Learned{Method: p.Experiment.Methods[t.method].Label(), Model: kept[t.method]})
		}
	}
	return models.Illustrate(ctx, p.Inputs, seen, d.rows, d.truth, fitted)
}
