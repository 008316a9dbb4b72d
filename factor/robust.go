package factor

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
)

// A robust cost is Σ w·ρ(s) of squared errors s, with a concave ρ: an outlier has less weight than under the Frobenius
// cost. As ρ(s) ≤ ρ(t) + ρ'(t)·(s − t), a multiplicative step on the squares with the weights w·ρ'(t) at the current
// factors never raises it. The block holds half the gradient, as under the Frobenius cost.

// relativeThreshold is the error of a sample, relative to its length, below which CostL21 is quadratic, so that a sample
// without error has a finite weight.
const relativeThreshold = 1e-8

// l21 is Σ_i ‖x_i − U·v_i‖, with U ← U∘(X·D·V)/(U·VᵀDV), D_ii = 1/‖x_i − U·v_i‖ (Kong, Ding and Huang 2011). With U fixed
// it has the minimum of the Frobenius cost, which represents new samples.
var l21 = costInfo{name: "l21", degree: 2, robust: true, split: frobenius.split, new: frobenius.new}

// huberCost is Σ h(x − y), h(r) = r² for |r| up to the threshold δ, else δ·(2|r| − δ) (Huber 1964; Du, Li and Shen 2012).
func huberCost(threshold float64) costInfo {
	c := costInfo{name: "huber", degree: 2, robust: true}
	c.term = func(x, y float64) float64 { return huber(math.Abs(x-y), threshold) }
	c.split = func(negative, y, x, w []float64) {
		for j, w := range w {
			by := w * threshold / max(math.Abs(x[j]-y[j]), threshold)
			negative[j], y[j] = by*x[j], by*y[j]
		}
	}
	c.new = func(x view.Data, u, v *mat.Dense) cost {
		return &weightedCost{costInfo: c, x: view.AsDense(x), u: u, v: v}
	}
	return c
}

func huber(r, threshold float64) float64 {
	if r <= threshold {
		return r * r
	}
	return threshold * (2*r - threshold)
}

// defaultThreshold is a tenth of the mean of the values x ≥ 0.
func defaultThreshold(x view.Data, weights *mat.Dense) float64 {
	var sum float64
	x.Each(func(i, j int, x float64) { sum += weights.At(i, j) * x })
	return max(0.1*sum/mat.Sum(weights), view.SmallestValue)
}

// sampleCost is CostL21 with weights of entries, Σ_i w_i·√(Σ_j (w_ij/w_i)·(x_ij − y_ij)²), with w_i the largest weight
// w_ij of sample i.
type sampleCost struct {
	*weightedCost            // its weights are w_ij divided by twice the error of sample i
	given         *mat.Dense // w_ij
	largest       []float64  // w_i
	thresholds    []float64
	errors        []float64 // √(Σ_j (w_ij/w_i)·(x_ij − y_ij)²); nil when out of date
}

// weighted returns the cost with weights of entries, which may be nil, and ties of v, if it is robust, or nil.
func (i costInfo) weighted(x view.Dense, weights, u, v *mat.Dense, ties *view.Condensation) cost {
	c := &weightedCost{i, x, weights, u, v, ties}
	if i.name == l21.name {
		return newSampleCost(c)
	}
	return c
}

func newSampleCost(c *weightedCost) *sampleCost {
	if c.weights == nil {
		c.weights = onesMatrix(c.x.Dims())
	}
	s := &sampleCost{weightedCost: c, given: c.weights}
	c.weights = algebra.Like(s.given)
	n, _ := s.given.Dims()
	for i := range n {
		s.largest = append(s.largest, mat.Max(s.given.RowView(i)))
	}
	k, m := c.u.Dims()
	s.thresholds = s.lengths(mat.NewDense(k, m, nil), mat.NewDense(k, n, nil))
	for i, length := range s.thresholds {
		s.thresholds[i] = relativeThreshold * max(length, view.SmallestValue)
	}
	return s
}

// lengths returns √(Σ_j (w_ij/w_i)·(x_ij − y_ij)²) of each sample, with Y = vᵀu.
func (c *sampleCost) lengths(u, v *mat.Dense) []float64 {
	out := make([]float64, len(c.largest))
	c.x.Walk(u, v, false, func(t view.Tile, _ bool) float64 {
		i := t.Sample
		return t.Each(func(x, y []float64) float64 {
			for j, w := range c.given.RawRowView(i)[t.At:][:len(x)] {
				out[i] += w / c.largest[i] * (x[j] - y[j]) * (x[j] - y[j])
			}
			i++
			return 0
		})
	})
	for i, sum := range out {
		out[i] = math.Sqrt(sum)
	}
	return out
}

func (c *sampleCost) moved(bool) { c.errors = nil }

func (c *sampleCost) update() {
	if c.errors != nil {
		return
	}
	c.errors = c.lengths(c.u, c.ties.Expanded(c.v))
	for i, e := range c.errors {
		scale := 1 / (2 * max(e, c.thresholds[i]))
		for j, w := range c.given.RawRowView(i) {
			c.weights.Set(i, j, w*scale)
		}
	}
}

func (c *sampleCost) value() (sum float64) {
	c.update()
	for i, e := range c.errors {
		threshold := c.thresholds[i]
		sum += c.largest[i] * (huber(e, threshold)/threshold + threshold) / 2
	}
	return sum
}

func (c *sampleCost) basisBlock() Block {
	c.update()
	return c.weightedCost.basisBlock()
}

func (c *sampleCost) coefficientBlock() Block {
	c.update()
	return c.weightedCost.coefficientBlock()
}
