package factor

import (
	"context"

	"gonum.org/v1/gonum/mat"
)

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
