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

// CFOGL is concept factorisation with optimal graph learning (Shu et al. 2019),
//
//	min ‖Q − W₀‖² + β·tr(FᵀL_QF) + λ·tr(VᵀL_QV) + μ·‖X − XWVᵀ‖²
//
// Each iteration moves W, V, F and Q in turn; see [LearnedGraph].
type CFOGL struct {
	// Lambda, Beta and Mu are λ, β and μ; 0 means 1. WeightNone means 0, which Mu
	// cannot be.
	Lambda float64 `setting:"lambda" default:"1" help:"weight λ of the graph on the coefficients"`
	Beta   float64 `setting:"beta" default:"1" help:"weight β of the graph's own embedding"`
	Mu     float64 `setting:"mu" default:"1" help:"weight μ of the fit"`
	// Parts is c, the number of parts that the graph is drawn to; 0 means the
	// rank.
	Parts int `setting:"parts" default:"rank" help:"c, how many parts the graph is drawn to have"`
	Neighbourhood
	// Kernel takes the place of XᵀX.
	Kernel
	// Rule says how the graph moves.
	Rule GraphRule `setting:"rule" help:"exact minimises the objective, printed is the paper's eq. 17"`
	// Initial is W₀, n×n, in place of the neighbourhood's graph, if it is set.
	Initial *mat.Dense
}

// AsParts implements [Composition].
func (c CFOGL) AsParts() Parts {
	g := LearnedGraph{Lambda: c.Lambda, Beta: c.Beta, Parts: c.Parts, Neighbourhood: c.Neighbourhood, Rule: c.Rule, Initial: c.Initial}
	return Parts{Basis: BasisConcept, Kernel: c.Kernel, Penalties: []Penalty{g}, FitWeight: c.Mu}
}

// Fit implements [Method].
func (c CFOGL) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return c.AsParts().Fit(ctx, x, known, opt)
}
