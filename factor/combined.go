package factor

import (
	"context"

	"gonum.org/v1/gonum/mat"
)

// PenaltyKind names a penalty for settings.
type PenaltyKind int

// The penalties.
const (
	NoPenalty PenaltyKind = iota
	GraphPenalty
	LinksPenalty
	LearnedGraphPenalty
)

var penaltyNames = names[PenaltyKind]{"penalty", []string{"none", "graph", "links", "learned-graph"}}

// String returns the name that settings use.
func (p PenaltyKind) String() string { return penaltyNames.name(p) }

// UnmarshalText reads the name that settings use.
func (p *PenaltyKind) UnmarshalText(text []byte) error { return penaltyNames.read(p, text) }

// Combined is [Parts] in words, for settings: any cost with any basis, tie and
// penalty, such as CCF with a graph. The zero value is NMF.
type Combined struct {
	Cost      Cost        `param:"cost" help:"frobenius or kl"`
	Basis     Basis       `param:"basis" help:"free, concept or rank-one"`
	Tie       Tie         `param:"tie" help:"none, or labels: one class, one row of coefficients"`
	Weighting Weighting   `param:"weighting" help:"how much each sample counts: equal or normalised-cut"`
	Penalty   PenaltyKind `param:"penalty" help:"none, graph, links or learned-graph"`
	// UnitNorm is that of Parts.
	UnitNorm bool `param:"unit-norm" help:"basis vectors to unit length in every iteration"`
	// Kernel is that of Parts.
	Kernel
	// Lambda is that of Graph or LearnedGraph, with their neighbourhood.
	Lambda float64 `param:"lambda" default:"100, learned-graph 1" help:"weight λ of the graph"`
	Neighbourhood
	// LabelEdges is that of Graph.
	LabelEdges bool `param:"label-edges" help:"the labels' edges in place of the neighbourhood's"`
	// Must and Cannot are those of Links.
	Must   float64 `param:"must" default:"0.005" help:"weight of a must-link"`
	Cannot float64 `param:"cannot" default:"1" help:"weight of a cannot-link"`
	// Beta and GraphParts are those of LearnedGraph.
	Beta       float64   `param:"beta" default:"1" help:"weight β of the learned graph's own embedding"`
	GraphParts int       `param:"parts" default:"rank" help:"how many parts the learned graph is drawn to have"`
	Rule       GraphRule `param:"rule" help:"how the learned graph moves: exact or printed"`
}

// Fit implements [Method].
func (c Combined) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	p := Parts{Cost: c.Cost, Basis: c.Basis, Tie: c.Tie, Weighting: c.Weighting, Kernel: c.Kernel, UnitNorm: c.UnitNorm}
	switch c.Penalty {
	case GraphPenalty:
		p.Penalty = Graph{Lambda: c.Lambda, Neighbourhood: c.Neighbourhood, LabelEdges: c.LabelEdges}
	case LinksPenalty:
		p.Penalty = Links{Must: c.Must, Cannot: c.Cannot}
	case LearnedGraphPenalty:
		g := LearnedGraph{Lambda: c.Lambda, Beta: c.Beta, Parts: c.GraphParts, Neighbourhood: c.Neighbourhood, Rule: c.Rule}
		if g.Parts == 0 {
			g.Parts = opt.Rank
		}
		p.Penalty = g
	}
	return p.Fit(ctx, x, known, opt)
}
