package factor

import (
	"context"

	"gonum.org/v1/gonum/mat"
)

// NMFNCW is NMF of samples weighted as a normalised cut weighs them,
// min Σ γ_i‖x_i − U·v_i‖² with γ_i = 1/Σ_j x_iᵀx_j (Xu, Liu and Gong 2003); the
// "NMF" of the CNMF paper.
type NMFNCW struct{}

// AsParts implements [Composition].
func (NMFNCW) AsParts() Parts {
	return Parts{Weighting: WeightingNormalisedCut}
}

// Fit implements [Method].
func (n NMFNCW) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return n.AsParts().Fit(ctx, x, known, opt)
}
