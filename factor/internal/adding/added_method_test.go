package adding

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor"
)

// NNSC is non-negative sparse coding, min ‖X − UVᵀ‖² + λ·Σ V with a basis of unit norm
// (Hoyer 2002). Each sample uses few basis vectors.
type NNSC struct {
	// Lambda is the weight of the sum; 0 means 0.1 and factor.WeightNone means 0.
	Lambda float64 `setting:"lambda" default:"0.1" help:"weight λ of the sum of the coefficients"`
}

// AsParts implements [factor.Composition].
func (s NNSC) AsParts() factor.Parts {
	return factor.Parts{UnitNorm: true, Penalties: []factor.Penalty{factor.L1{Weight: s.Lambda}}}
}

// Fit implements [factor.Method].
func (s NNSC) Fit(ctx context.Context, x mat.Matrix, known factor.Known, opt factor.Options) (*factor.Result, error) {
	return s.AsParts().Fit(ctx, x, known, opt)
}
