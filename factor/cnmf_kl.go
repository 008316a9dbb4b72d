package factor

import (
	"context"

	"gonum.org/v1/gonum/mat"
)

// CNMFKL is constrained NMF under the divergence, min D(X‖U(AZ)ᵀ) (Liu et al.
// 2012, section 5).
type CNMFKL struct{}

// AsParts implements [Composition].
func (CNMFKL) AsParts() Parts {
	return Parts{Cost: CostKL, Tie: TieLabels}
}

// Fit implements [Method].
func (c CNMFKL) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return c.AsParts().Fit(ctx, x, known, opt)
}
