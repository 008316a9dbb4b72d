package factor

import (
	"context"

	"gonum.org/v1/gonum/mat"
)

// GNMF is graph regularised NMF, min ‖X − UVᵀ‖² + λ·tr(VᵀLV) (Cai et al. 2011,
// eqs 14 and 15). Its objective has no minimum (see [Graph]): the number of
// iterations is part of the method.
type GNMF struct {
	// Lambda is the weight of the graph; 0 means 100, WeightNone means 0.
	Lambda float64 `setting:"lambda" default:"100" help:"weight λ of the graph"`
	Neighbourhood
}

// AsParts implements [Composition].
func (g GNMF) AsParts() Parts {
	return Parts{Penalties: []Penalty{Graph{Lambda: g.Lambda, Neighbourhood: g.Neighbourhood}}}
}

// Fit implements [Method].
func (g GNMF) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return g.AsParts().Fit(ctx, x, known, opt)
}
