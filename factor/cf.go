package factor

import (
	"context"

	"gonum.org/v1/gonum/mat"
)

// CF is concept factorisation, min ‖X − XWVᵀ‖² (Xu and Gong 2004). The data may
// be of any sign.
type CF struct {
	// Kernel takes the place of XᵀX.
	Kernel
}

// AsParts implements [Composition].
func (c CF) AsParts() Parts {
	return Parts{Basis: BasisConcept, Kernel: c.Kernel}
}

// Fit implements [Method].
func (c CF) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return c.AsParts().Fit(ctx, x, known, opt)
}
