package factor

import (
	"context"

	"gonum.org/v1/gonum/mat"
)

// L2SNMF is supervised NMF, min ‖X − UVᵀ‖² + tr(VᵀCV) with the basis at unit norm
// in every iteration (Ambai, Utama and Yoshida 2011, section 3.1). C pulls linked
// samples together and pushes others apart; see [Links].
type L2SNMF struct {
	// Must and Cannot are the weights of links, ≥ 0; 0 means 0.005 for both,
	// WeightNone means 0.
	Must   float64 `setting:"must" default:"0.005" help:"weight of a must-link, −C_ij"`
	Cannot float64 `setting:"cannot" default:"0.005" help:"weight of a cannot-link, C_ij"`
}

// AsParts implements [Composition].
func (l L2SNMF) AsParts() Parts {
	if l.Cannot == 0 {
		l.Cannot = 0.005
	}
	return Parts{UnitNorm: true, Penalties: []Penalty{Links(l)}}
}

// Fit implements [Method].
func (l L2SNMF) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return l.AsParts().Fit(ctx, x, known, opt)
}
