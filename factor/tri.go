package factor

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
)

// TriNMF is non-negative tri-factorisation, min ‖X − GSVᵀ‖² or with another cost (Ding, Li, Peng and Park 2006), which
// clusters samples, by V, n×k, and features, by G, m×l, together. The paper has Orthogonal = OrthogonalityBoth.
type TriNMF struct {
	Cost      Cost    `setting:"cost" help:"cost: divergence between data and reconstruction"`
	Exponent  float64 `setting:"exponent" default:"0.5" range:"[0,4]" help:"exponent β of cost beta"`
	Threshold float64 `setting:"threshold" default:"a tenth of the mean value" range:"[1e-60,1e60]" help:"threshold δ of cost huber; larger errors count less than their squares"`
	// FeatureRank is l, as in [Parts].
	FeatureRank int `setting:"feature-rank" default:"rank" range:"[1,1e6]" help:"number of groups of features"`
	// Orthogonal is the factor with orthogonal columns, under CostFrobenius.
	Orthogonal Orthogonality `setting:"orthogonal" help:"hard constraint of orthogonal columns, on the coefficients, the groups of features (basis) or both; the paper has both"`
}

// AsParts returns the combination of parts.
func (t TriNMF) AsParts() Parts {
	return Parts{Cost: t.Cost, Exponent: t.Exponent, Threshold: t.Threshold, Basis: BasisTri, FeatureRank: t.FeatureRank, Orthogonal: t.Orthogonal}
}

func (t TriNMF) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	return t.AsParts().Fit(ctx, x, known, opt)
}

// withFeatureRank returns p with the default of FeatureRank for the rank k, or an error if it does not fit m features.
func (p Parts) withFeatureRank(k, m int) (Parts, error) {
	switch {
	case p.Basis != BasisTri:
		return p, nil
	case p.FeatureRank < 0 || p.FeatureRank > m:
		return p, fmt.Errorf("feature-rank %d: expected 1 to the number of features, %d", p.FeatureRank, m)
	}
	p.FeatureRank = cmp.Or(p.FeatureRank, min(k, m))
	return p, nil
}

// CheckFeatures returns an error if the parts do not fit samples of m features.
func (p Parts) CheckFeatures(m int) error {
	_, err := p.withFeatureRank(1, m)
	return err
}

// triBasis is u = s·g: each basis vector is a combination of l groups of features.
type triBasis struct{ s, g, u *mat.Dense } // k×l, l×m, k×m

func newTriBasis(_ Parts, _ view.Data, parameters []*mat.Dense, u *mat.Dense) basis {
	return triBasis{parameters[0], parameters[1], u}
}

func (b triBasis) moved(int) { algebra.Gemm(b.u, b.s, algebra.NoTrans, b.g, algebra.NoTrans) }

func (b triBasis) pullBack(dst, gradient *mat.Dense, parameter int) {
	if parameter == 0 {
		algebra.Gemm(dst, gradient, algebra.NoTrans, b.g, algebra.Trans)
	} else {
		algebra.Gemm(dst, b.s, algebra.Trans, gradient, algebra.NoTrans)
	}
}

// triFromFactors makes each group of features from every l-th basis vector, or several different ones from each.
func triFromFactors(u, _ *mat.Dense, p Parts) []*mat.Dense {
	k, m := u.Dims()
	l := p.FeatureRank
	s, g := mat.NewDense(k, l, nil), mat.NewDense(l, m, nil)
	for r := range max(k, l) {
		s.Set(r%k, r%l, 1)
		row := g.RawRowView(r % l)
		for j, x := range u.RawRowView(r % k) {
			if r >= k { // copies would stay alike
				_, share := math.Modf(float64((j+1)*r) * math.Phi)
				x *= 0.5 + share
			}
			row[j] += x
		}
	}
	addFifthOfMean(s)
	addFifthOfMean(g)
	return []*mat.Dense{s, g}
}

// scaled scales the groups of features to unit length, and s inversely.
func (b triBasis) scaled() {
	for c, length := range algebra.Lengths(b.g) {
		for r := range b.s.RawMatrix().Rows {
			b.s.Set(r, c, b.s.At(r, c)*length)
		}
		algebra.ScaleRow(b.g, c, 1/length)
	}
}
