package factor

import (
	"context"

	"gonum.org/v1/gonum/mat"
)

// NMFKL is non-negative matrix factorisation under the generalised
// Kullback-Leibler divergence, min D(X‖UVᵀ) (Lee and Seung 2001); the D-NMF of the
// D-SNMF paper.
type NMFKL struct{}

// AsParts implements [Composition].
func (NMFKL) AsParts() Parts {
	return Parts{Cost: CostKL}
}

// Fit implements [Method].
func (n NMFKL) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return n.AsParts().Fit(ctx, x, known, opt)
}
