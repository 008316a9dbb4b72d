package factor

import (
	"context"

	"gonum.org/v1/gonum/mat"
)

// NTF is non-negative tensor factorisation of images, min Σ_i ‖X_i − Σ_r
// v_ir·a_r·b_rᵀ‖² (Shashua and Hazan 2005): NMF whose basis images have rank one.
// Options.Height and Width say what images the samples are.
type NTF struct{}

// Fit implements [Method].
func (NTF) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return Parts{Basis: RankOne}.Fit(ctx, x, known, opt)
}
