package factor

import (
	"context"

	"gonum.org/v1/gonum/mat"
)

// SemiGNMF is GNMF whose graph knows the labels: labelled samples of one class
// are joined by an edge of weight 1, those of different classes by none (Cai et
// al. 2011, section 6).
type SemiGNMF struct {
	// Lambda is the weight of the graph; 0 means 100, WeightNone means 0.
	Lambda float64 `setting:"lambda" default:"100" help:"weight λ of the graph"`
	Neighbourhood
}

// AsParts implements [Composition].
func (g SemiGNMF) AsParts() Parts {
	return Parts{Penalties: []Penalty{Graph{Lambda: g.Lambda, Neighbourhood: g.Neighbourhood, LabelEdges: true}}}
}

// Fit implements [Method].
func (g SemiGNMF) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return g.AsParts().Fit(ctx, x, known, opt)
}
