package factor

import (
	"context"

	"gonum.org/v1/gonum/mat"
)

// NMF is non-negative matrix factorisation, min ‖X − UVᵀ‖² (Lee and Seung 1999, 2001).
type NMF struct{}

// AsParts implements [Composition].
func (NMF) AsParts() Parts {
	return Parts{}
}

// Fit implements [Method].
func (n NMF) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return n.AsParts().Fit(ctx, x, known, opt)
}
