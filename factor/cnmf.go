package factor

import (
	"context"

	"gonum.org/v1/gonum/mat"
)

// CNMF is constrained NMF, min ‖X − U(AZ)ᵀ‖²: labelled samples of one class
// share their coefficients (Liu et al. 2012, eqs 9 and 10).
type CNMF struct{}

// AsParts implements [Composition].
func (CNMF) AsParts() Parts {
	return Parts{Tie: TieLabels}
}

// Fit implements [Method].
func (c CNMF) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return c.AsParts().Fit(ctx, x, known, opt)
}
