package factor

import (
	"context"

	"gonum.org/v1/gonum/mat"
)

// CNMFKL is constrained NMF under the divergence, min D(X‖U(AZ)ᵀ) (Liu et al.
// 2012, section 5).
type CNMFKL struct{}

// Fit implements [Method].
func (CNMFKL) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return Parts{Cost: KL, Tie: Labels}.Fit(ctx, x, known, opt)
}
