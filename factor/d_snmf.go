package factor

import (
	"context"

	"gonum.org/v1/gonum/mat"
)

// DSNMF is supervised NMF under the divergence, min D(X‖UVᵀ) + tr(VᵀCV) with the
// basis at unit norm in every iteration (Ambai, Utama and Yoshida 2011, section
// 3.2); see [Links].
type DSNMF struct {
	// Must and Cannot are the weights of links, ≥ 0; 0 means 0.005 and 1, None
	// means 0.
	Must   float64 `param:"must" default:"0.005" help:"weight of a must-link, −C_ij"`
	Cannot float64 `param:"cannot" default:"1" help:"weight of a cannot-link, C_ij"`
}

// Fit implements [Method].
func (d DSNMF) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return Parts{Cost: KL, UnitNorm: true, Penalty: Links(d)}.Fit(ctx, x, known, opt)
}
