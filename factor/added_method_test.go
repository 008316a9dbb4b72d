package factor

import (
	"context"

	"gonum.org/v1/gonum/mat"
)

// NNSC is non-negative sparse coding, min ‖X − UVᵀ‖² + λ·Σ V with the basis at
// unit norm (Hoyer 2002): few parts for each sample.
type NNSC struct {
	// Lambda is the weight of the sum; 0 means 0.1, WeightNone means 0.
	Lambda float64 `setting:"lambda" default:"0.1" help:"weight λ of the coefficients' sum"`
}

// AsParts implements [Composition].
func (s NNSC) AsParts() Parts {
	return Parts{UnitNorm: true, Penalties: []Penalty{L1{s.Lambda}}}
}

// Fit implements [Method].
func (s NNSC) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return s.AsParts().Fit(ctx, x, known, opt)
}
