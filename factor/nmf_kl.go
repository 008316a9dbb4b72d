package factor

import (
	"context"

	"gonum.org/v1/gonum/mat"
)

// NMFKL is non-negative matrix factorisation under the generalised
// Kullback-Leibler divergence, min D(X‖UVᵀ) (Lee and Seung 2001); the D-NMF of the
// D-SNMF paper.
type NMFKL struct{}

// Fit implements [Method].
func (NMFKL) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return Parts{Cost: KL}.Fit(ctx, x, known, opt)
}
