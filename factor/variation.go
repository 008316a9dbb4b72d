package factor

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Variation is the total variation λ·Σ √((u_p − u_q)² + ε²) − ε over all pairs of adjacent pixels p, q of the basis
// images (Yin and Liu 2017), ε = 1e-3. Unlike [Smooth] it keeps edges. A step uses its quadratic majoriser.
type Variation struct {
	// Weight is λ, in the scale of the coefficients; 0 means 0.1, WeightNone means 0.
	Weight float64 `setting:"variation-weight" default:"0.1" help:"weight λ of the total variation of basis images"`
}

func (Variation) OnBasis() bool { return true }
func (Variation) Needs() Needs  { return Needs{Images: true} }

// Bind implements [Penalty].
func (v Variation) Bind(_ context.Context, p Problem) (BoundPenalty, error) {
	return bindPixels(v, v.Weight, p, func(l *laplacian) BoundPenalty { return boundVariation{l} })
}

// boundVariation has the neighbours and the weight of a Laplacian.
type boundVariation struct{ grid *laplacian }

// variationEdge is ε.
const variationEdge = 1e-3

func (b boundVariation) Value(theta *mat.Dense) (sum float64) {
	b.eachPair(theta, func(_, _, _ int, difference, root float64) {
		sum += difference / (root + variationEdge) * difference // √(d² + ε²) − ε without cancellation
	})
	return b.grid.lambda * sum / 2
}

func (b boundVariation) Gradient(positive, negative, theta *mat.Dense, scale float64) {
	b.eachPair(theta, func(r, p, q int, _, root float64) {
		w := scale * b.grid.lambda / (2 * root)
		positive.RawRowView(r)[p] += w * theta.At(r, p)
		negative.RawRowView(r)[p] += w * theta.At(r, q)
	})
}

// Root is true because the majoriser has negative values.
func (boundVariation) Root(Cost) bool { return true }

// eachPair calls f for each row r and each ordered pair of adjacent pixels, with θ_rp − θ_rq and the root of its square
// plus ε².
func (b boundVariation) eachPair(theta *mat.Dense, f func(r, p, q int, difference, root float64)) {
	for r := range theta.RawMatrix().Rows {
		row := theta.RawRowView(r)
		for p, x := range row {
			columns, _ := b.grid.s.Row(p)
			for _, q := range columns {
				f(r, p, q, x-row[q], math.Hypot(x-row[q], variationEdge))
			}
		}
	}
}
