package factor

import (
	"context"

	"gonum.org/v1/gonum/mat"
)

// CF is concept factorisation, min ‖X − XWVᵀ‖² (Xu and Gong 2004). The data may
// be of any sign.
type CF struct{}

// Fit implements [Method].
func (CF) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return Parts{Basis: Concept}.Fit(ctx, x, known, opt)
}
