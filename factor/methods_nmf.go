package factor

import (
	"context"

	"gonum.org/v1/gonum/mat"
)

// NMF is non-negative matrix factorisation, min ‖X − UVᵀ‖² (Lee and Seung 1999, 2001).
type NMF struct{}

// AsParts implements [Composition].
func (NMF) AsParts() Parts {
	return Parts{}
}

// Fit implements [Method].
func (n NMF) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return n.AsParts().Fit(ctx, x, known, opt)
}

// NMFKL is non-negative matrix factorisation under the generalised
// Kullback-Leibler divergence, min D(X‖UVᵀ) (Lee and Seung 2001); the D-NMF of the
// D-SNMF paper.
type NMFKL struct{}

// AsParts implements [Composition].
func (NMFKL) AsParts() Parts {
	return Parts{Cost: CostKL}
}

// Fit implements [Method].
func (n NMFKL) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return n.AsParts().Fit(ctx, x, known, opt)
}

// NMFNCW is NMF of samples weighted as a normalised cut weighs them,
// min Σ γ_i‖x_i − U·v_i‖² with γ_i = 1/Σ_j x_iᵀx_j (Xu, Liu and Gong 2003); the
// "NMF" of the CNMF paper.
type NMFNCW struct{}

// AsParts implements [Composition].
func (NMFNCW) AsParts() Parts {
	return Parts{Weighting: WeightingNormalisedCut}
}

// Fit implements [Method].
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

// AsParts implements [Composition].
func (g GNMF) AsParts() Parts {
	return Parts{Penalties: []Penalty{Graph{Lambda: g.Lambda, Neighbourhood: g.Neighbourhood}}}
}

// Fit implements [Method].
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

// AsParts implements [Composition].
func (g SemiGNMF) AsParts() Parts {
	return Parts{Penalties: []Penalty{Graph{Lambda: g.Lambda, Neighbourhood: g.Neighbourhood, LabelEdges: true}}}
}

// Fit implements [Method].
func (g SemiGNMF) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return g.AsParts().Fit(ctx, x, known, opt)
}

// CNMF is constrained NMF, min ‖X − U(AZ)ᵀ‖²: labelled samples of one class
// share their coefficients (Liu et al. 2012, eqs 9 and 10).
type CNMF struct{}

// AsParts implements [Composition].
func (CNMF) AsParts() Parts {
	return Parts{Tie: TieLabels}
}

// Fit implements [Method].
func (c CNMF) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return c.AsParts().Fit(ctx, x, known, opt)
}

// CNMFKL is constrained NMF under the divergence, min D(X‖U(AZ)ᵀ) (Liu et al.
// 2012, section 5).
type CNMFKL struct{}

// AsParts implements [Composition].
func (CNMFKL) AsParts() Parts {
	return Parts{Cost: CostKL, Tie: TieLabels}
}

// Fit implements [Method].
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

// AsParts implements [Composition].
func (l L2SNMF) AsParts() Parts {
	if l.Cannot == 0 {
		l.Cannot = 0.005
	}
	return Parts{UnitNorm: true, Penalties: []Penalty{Links(l)}}
}

// Fit implements [Method].
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

// AsParts implements [Composition].
func (d DSNMF) AsParts() Parts {
	return Parts{Cost: CostKL, UnitNorm: true, Penalties: []Penalty{Links(d)}}
}

// Fit implements [Method].
func (d DSNMF) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return d.AsParts().Fit(ctx, x, known, opt)
}

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
