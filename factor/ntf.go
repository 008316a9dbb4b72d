package factor

import (
	"context"

	"gonum.org/v1/gonum/mat"
)

// NTF is non-negative tensor factorisation of images, min Σ_i ‖X_i − Σ_r
// v_ir·a_r·b_rᵀ‖² (Shashua and Hazan 2005): NMF whose basis images have rank one.
type NTF struct {
	// Image is the size of the images.
	Image Image
}

// AsParts implements [Composition].
func (n NTF) AsParts() Parts {
	return Parts{Basis: BasisRankOne, Image: n.Image}
}

// Fit implements [Method].
func (n NTF) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return n.AsParts().Fit(ctx, x, known, opt)
}
