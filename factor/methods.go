package factor

import (
	"context"

	"gonum.org/v1/gonum/mat"
)

// NMF is non-negative matrix factorisation, min ‖X − UVᵀ‖² (Lee and Seung 1999, 2001).
type NMF struct{}

func (NMF) AsParts() Parts { return Parts{} }

func (n NMF) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return n.AsParts().Fit(ctx, x, known, opt)
}

// NMFKL is non-negative matrix factorisation under the generalised
// Kullback-Leibler divergence, min D(X‖UVᵀ) (Lee and Seung 2001); the D-NMF of the
// D-SNMF paper.
type NMFKL struct{}

func (NMFKL) AsParts() Parts { return Parts{Cost: CostKL} }

func (n NMFKL) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return n.AsParts().Fit(ctx, x, known, opt)
}

// NMFNCW is NMF of samples weighted as a normalised cut weighs them,
// min Σ γ_i‖x_i − U·v_i‖² with γ_i = 1/Σ_j x_iᵀx_j (Xu, Liu and Gong 2003); the
// "NMF" of the CNMF paper.
type NMFNCW struct{}

func (NMFNCW) AsParts() Parts { return Parts{Weighting: WeightingNormalisedCut} }

func (n NMFNCW) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return n.AsParts().Fit(ctx, x, known, opt)
}

// GNMF is graph regularised NMF, min ‖X − UVᵀ‖² + λ·tr(VᵀLV) (Cai et al. 2011,
// eqs 14 and 15). Its objective has no minimum (see [Graph]): the number of
// iterations is part of the method.
type GNMF struct {
	// Lambda is the weight of the graph; 0 means 100, WeightNone means 0.
	Lambda float64 `setting:"lambda" default:"100" help:"weight λ of the graph"`
	Neighbourhood
}

func (g GNMF) AsParts() Parts {
	return Parts{Penalties: []Penalty{Graph{Lambda: g.Lambda, Neighbourhood: g.Neighbourhood}}}
}

func (g GNMF) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return g.AsParts().Fit(ctx, x, known, opt)
}

// SemiGNMF is GNMF whose graph knows the labels: labelled samples of one class
// are joined by an edge of weight 1, those of different classes by none (Cai et
// al. 2011, section 6).
type SemiGNMF struct {
	// Lambda is the weight of the graph; 0 means 100, WeightNone means 0.
	Lambda float64 `setting:"lambda" default:"100" help:"weight λ of the graph"`
	Neighbourhood
}

func (g SemiGNMF) AsParts() Parts {
	return Parts{Penalties: []Penalty{Graph{Lambda: g.Lambda, Neighbourhood: g.Neighbourhood, LabelEdges: true}}}
}

func (g SemiGNMF) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return g.AsParts().Fit(ctx, x, known, opt)
}

// CNMF is constrained NMF, min ‖X − U(AZ)ᵀ‖²: labelled samples of one class
// share their coefficients (Liu et al. 2012, eqs 9 and 10).
type CNMF struct{}

func (CNMF) AsParts() Parts { return Parts{Tie: TieLabels} }

func (c CNMF) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return c.AsParts().Fit(ctx, x, known, opt)
}

// CNMFKL is constrained NMF under the divergence, min D(X‖U(AZ)ᵀ) (Liu et al.
// 2012, section 5).
type CNMFKL struct{}

func (CNMFKL) AsParts() Parts { return Parts{Cost: CostKL, Tie: TieLabels} }

func (c CNMFKL) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return c.AsParts().Fit(ctx, x, known, opt)
}

// L2SNMF is supervised NMF, min ‖X − UVᵀ‖² + tr(VᵀCV) with the basis at unit norm
// in every iteration (Ambai, Utama and Yoshida 2011, section 3.1). C pulls linked
// samples together and pushes others apart; see [Links].
type L2SNMF struct {
	// Must and Cannot are the weights of links, ≥ 0; 0 means 0.005 for both,
	// WeightNone means 0.
	Must   float64 `setting:"must" default:"0.005" help:"weight of a must-link, −C_ij"`
	Cannot float64 `setting:"cannot" default:"0.005" help:"weight of a cannot-link, C_ij"`
}

func (l L2SNMF) AsParts() Parts {
	if l.Cannot == 0 {
		l.Cannot = 0.005
	}
	return Parts{UnitNorm: true, Penalties: []Penalty{Links(l)}}
}

func (l L2SNMF) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return l.AsParts().Fit(ctx, x, known, opt)
}

// DSNMF is supervised NMF under the divergence, min D(X‖UVᵀ) + tr(VᵀCV) with the
// basis at unit norm in every iteration (Ambai, Utama and Yoshida 2011, section
// 3.2); see [Links].
type DSNMF struct {
	// Must and Cannot are the weights of links, ≥ 0; 0 means 0.005 and 1, WeightNone
	// means 0.
	Must   float64 `setting:"must" default:"0.005" help:"weight of a must-link, −C_ij"`
	Cannot float64 `setting:"cannot" default:"1" help:"weight of a cannot-link, C_ij"`
}

func (d DSNMF) AsParts() Parts {
	return Parts{Cost: CostKL, UnitNorm: true, Penalties: []Penalty{Links(d)}}
}

func (d DSNMF) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return d.AsParts().Fit(ctx, x, known, opt)
}

// NTF is non-negative tensor factorisation of images, min Σ_i ‖X_i − Σ_r
// v_ir·a_r·b_rᵀ‖² (Shashua and Hazan 2005): NMF whose basis images have rank one.
type NTF struct {
	// Image is the size of the images.
	Image Image
}

func (n NTF) AsParts() Parts { return Parts{Basis: BasisRankOne, Image: n.Image} }

func (n NTF) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return n.AsParts().Fit(ctx, x, known, opt)
}

// CF is concept factorisation, min ‖X − XWVᵀ‖² (Xu and Gong 2004). The data may
// be of any sign.
type CF struct {
	// Kernel takes the place of XᵀX.
	Kernel
}

func (c CF) AsParts() Parts { return Parts{Basis: BasisConcept, Kernel: c.Kernel} }

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

func (l LCCF) AsParts() Parts {
	g := Graph{Lambda: l.Lambda, Neighbourhood: l.Neighbourhood}
	return Parts{Basis: BasisConcept, Kernel: l.Kernel, Penalties: []Penalty{g}}
}

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

func (c CCF) AsParts() Parts { return Parts{Basis: BasisConcept, Tie: TieLabels, Kernel: c.Kernel} }

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

func (c CFOGL) AsParts() Parts {
	g := LearnedGraph{Lambda: c.Lambda, Beta: c.Beta, Parts: c.Parts, Neighbourhood: c.Neighbourhood, Rule: c.Rule, Initial: c.Initial}
	return Parts{Basis: BasisConcept, Kernel: c.Kernel, Penalties: []Penalty{g}, FitWeight: c.Mu}
}

func (c CFOGL) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return c.AsParts().Fit(ctx, x, known, opt)
}
