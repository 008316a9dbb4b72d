package factor

import (
	"context"

	"gonum.org/v1/gonum/mat"
)

// DSNMF is supervised NMF under the divergence, min D(X‖UVᵀ) + tr(VᵀCV) with the
// basis at unit norm in every iteration (Ambai, Utama and Yoshida 2011, section
// 3.2); see [Links].
type DSNMF struct {
	// Must and Cannot are the weights of links, ≥ 0; 0 means 0.005 and 1, WeightNone
	// means 0.
	Must   float64 `setting:"must" default:"0.005" help:"weight of a must-link, −C_ij"`
	Cannot float64 `setting:"cannot" default:"1" help:"weight of a cannot-link, C_ij"`
}

// AsParts implements [Composition].
func (d DSNMF) AsParts() Parts {
	return Parts{Cost: CostKL, UnitNorm: true, Penalties: []Penalty{Links(d)}}
}

// Fit implements [Method].
func (d DSNMF) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return d.AsParts().Fit(ctx, x, known, opt)
}
