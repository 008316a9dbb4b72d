package factor

import (
	"context"

	"gonum.org/v1/gonum/mat"
)

// CCF is constrained concept factorisation, min ‖X − XW(AZ)ᵀ‖²: labelled samples
// of one class share their coefficients (Liu et al. 2014, eqs 10 and 11; 23 and 27
// for data of any sign).
type CCF struct {
	// Kernel takes the place of XᵀX.
	Kernel
}

// AsParts implements [Composition].
func (c CCF) AsParts() Parts {
	return Parts{Basis: BasisConcept, Tie: TieLabels, Kernel: c.Kernel}
}

// Fit implements [Method].
func (c CCF) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return c.AsParts().Fit(ctx, x, known, opt)
}
