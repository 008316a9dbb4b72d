package factor

import (
	"context"

	"gonum.org/v1/gonum/mat"
)

// Combined is [Parts] in words, for settings: any cost with any basis, tie and
// penalty, such as CCF with a graph. The zero value is NMF.
type Combined struct {
	Cost      Cost      `param:"cost" help:"frobenius or kl"`
	Basis     Basis     `param:"basis" help:"free or concept"`
	Tie       Tie       `param:"tie" help:"none, or labels: one class, one row of coefficients"`
	Weighting Weighting `param:"weighting" help:"how much each sample counts: equal or normalised-cut"`
	// Graph adds the graph penalty.
	Graph bool `param:"graph" help:"penalise differences between neighbours"`
	// Lambda, Neighbourhood and LabelEdges are those of the graph.
	Lambda float64 `param:"lambda" default:"100" help:"weight λ of the graph"`
	Neighbourhood
	LabelEdges bool `param:"label-edges" help:"the labels' edges in place of the neighbourhood's"`
}

// Fit implements [Method].
func (c Combined) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	p := Parts{Cost: c.Cost, Basis: c.Basis, Tie: c.Tie, Weighting: c.Weighting}
	if c.Graph {
		p.Penalty = Graph{Lambda: c.Lambda, Neighbourhood: c.Neighbourhood, LabelEdges: c.LabelEdges}
	}
	return p.Fit(ctx, x, known, opt)
}
