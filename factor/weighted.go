package factor

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/descent"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/guard"
)

// Weighted is a matrix of samples with missing entries (NaN, or weight 0) or weights in the cost. Methods made of [Parts],
// and the model [Additive], accept it as samples; others return an error.
//
// Weights of samples support every part. Weights of entries and missing entries support every basis but concept. The
// values of missing entries have no influence: for graphs and initial factors, the mean of the column's observed entries
// replaces them.
type Weighted = view.Weighted

// ForWeights returns m for samples with weights or, with entries, missing entries or weights of entries, or an error if m
// does not support them.
func ForWeights(m Method, entries bool) (Method, error) {
	c, ok := m.(Composition)
	if !ok {
		return nil, view.ErrWeighted
	}
	p := c.AsParts()
	p.EntryWeights = entries
	return p, p.validate()
}

// weightedCost is the cost Σ w·d(x, y) with a weight for each entry, for any cost with a Split.
type weightedCost struct {
	costInfo
	x       view.Dense
	weights *mat.Dense // n×m; nil means 1
	u, v    *mat.Dense
	ties    *view.Condensation // of v under a robust cost, else nil
}

func (c *weightedCost) moved(bool)              {}
func (c *weightedCost) basisBlock() Block       { return c.block(c.u, true) }
func (c *weightedCost) coefficientBlock() Block { return c.block(c.v, false) }
func (c *weightedCost) value() float64 {
	return c.x.Value(c.u, c.ties.Expanded(c.v), c.weights, c.term)
}

func (c *weightedCost) block(theta *mat.Dense, basis bool) Block {
	v := c.ties.Expanded(c.v)
	b := Block{Linear: algebra.Like(theta), Positive: algebra.Like(theta), Power: c.power}
	if basis || v == c.v {
		c.x.Parts(b.Linear, b.Positive, c.u, v, c.weights, basis, c.split)
		return b
	}
	linear, positive := algebra.Like(v), algebra.Like(v)
	c.x.Parts(linear, positive, c.u, v, c.weights, false, c.split)
	c.ties.PullBack(b.Linear, linear)
	c.ties.PullBack(b.Positive, positive)
	return b
}

// half is the minimisation over v, by sweeps over its entries.
func (c *weightedCost) half() *descent.WeightedHalf {
	return &descent.WeightedHalf{Theta: c.v, Other: c.u, X: c.x.X, Weights: c.weights, KL: c.degree == 1, Sweeps: weightedSweeps}
}

// weightedOffset returns Σ w·d(x, x̄) for the samples x and the means x̄ of their groups: the cost is a Bregman divergence.
func weightedOffset(f *Factorisation, weights *mat.Dense) (sum float64) {
	if f.ties.None {
		return 0
	}
	term := f.parts.cost().term
	f.whole.Each(func(i, j int, x float64) {
		if w := weights.At(i, j); w > 0 {
			sum += w * term(x, f.data.Matrix().At(f.ties.Group[i], j))
		}
	})
	return sum
}

// represent minimises over v. It calls guard.Fail.
func (c *weightedCost) represent(ctx context.Context) *mat.Dense {
	half := c.half()
	half.Sweeps = descent.MostSweeps
	for range 20 {
		guard.Check(half.Sweep(ctx))
	}
	guard.FailIf(!algebra.Finite(c.v), "the coefficients overflow")
	return algebra.Transpose(c.v)
}
