package factor

import (
	"context"

	"gonum.org/v1/gonum/mat"
)

// NNSC is non-negative sparse coding, min ‖X − UVᵀ‖² + λ·Σ V with the basis at
// unit norm (Hoyer 2002): few parts for each sample.
type NNSC struct {
	// Lambda is the weight of the sum; 0 means 0.1, None means 0.
	Lambda float64 `param:"lambda" default:"0.1" help:"weight λ of the coefficients' sum"`
}

// Fit implements [Method].
func (s NNSC) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return Parts{UnitNorm: true, Penalty: sum{orDefault(s.Lambda, 0.1)}}.Fit(ctx, x, known, opt)
}

// sum is the penalty λ·Σ V.
type sum struct{ lambda float64 }

func (s sum) bind(context.Context, data, Known) (boundPenalty, error) {
	return s, checkWeight("lambda", s.lambda)
}

// add: the gradient is λ everywhere, and half of it counts.
func (s sum) add(t *terms, v *mat.Dense, share float64) {
	t.pos.Apply(func(_, _ int, x float64) float64 { return x + share*s.lambda/2 }, t.pos)
}

func (s sum) value(v *mat.Dense) float64 { return s.lambda * mat.Sum(v) }

func (s sum) root() bool { return false }
