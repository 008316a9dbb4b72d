package factor

import (
	"context"

	"gonum.org/v1/gonum/mat"
)

// LCCF is locally consistent concept factorisation, min ‖X − XWVᵀ‖² +
// λ·tr(VᵀLV) (Cai, He and Han 2011). The data may be of any sign. Its objective
// has no minimum (see [Graph]).
type LCCF struct {
	// Lambda is the weight of the graph; 0 means 100, WeightNone means 0.
	Lambda float64 `setting:"lambda" default:"100" help:"weight λ of the graph"`
	Neighbourhood
	// Kernel takes the place of XᵀX.
	Kernel
}

// AsParts implements [Composition].
func (l LCCF) AsParts() Parts {
	g := Graph{Lambda: l.Lambda, Neighbourhood: l.Neighbourhood}
	return Parts{Basis: BasisConcept, Kernel: l.Kernel, Penalties: []Penalty{g}}
}

// Fit implements [Method].
func (l LCCF) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return l.AsParts().Fit(ctx, x, known, opt)
}
