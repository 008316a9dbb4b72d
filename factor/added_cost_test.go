package factor

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
)

// beta32 is the β-divergence of β = 3/2, between the Kullback-Leibler divergence (1) and the
// Frobenius cost (2) (Févotte and Idier 2011).
var beta32 = costInfo{
	name: "beta-3/2", degree: beta,
	new: func(x view.Data, u, v *mat.Dense) cost { return &betaCost{x, u, v} },
	term: func(x, y float64) float64 {
		return (math.Pow(x, beta) + (beta-1)*math.Pow(y, beta) - beta*x*math.Pow(y, beta-1)) / (beta * (beta - 1))
	},
	constant: func(t *view.Condensation, whole, condensed view.Data) (sum float64) {
		whole.Each(func(i, _ int, x float64) { sum += t.Weight[i] * math.Pow(x, beta) })
		condensed.Each(func(_, _ int, x float64) { sum -= math.Pow(x, beta) })
		return sum / (beta * (beta - 1))
	},
}

const beta = 1.5

type betaCost struct {
	x    view.Data
	u, v *mat.Dense
}

func (c *betaCost) moved(bool) {}

// parts returns X∘Y^(β−2) and Y^(β−1), n×m, of Y = vᵀu.
func (c *betaCost) parts() (linear, positive *mat.Dense) {
	n, m := c.x.Dims()
	linear, positive = mat.NewDense(n, m, nil), mat.NewDense(n, m, nil)
	positive.Mul(c.v.T(), c.u)
	c.x.Each(func(i, j int, x float64) {
		linear.Set(i, j, x*math.Pow(max(positive.At(i, j), algebra.Floor), beta-2))
	})
	positive.Apply(func(_, _ int, y float64) float64 { return math.Pow(y, beta-1) }, positive)
	return linear, positive
}

func (c *betaCost) basisBlock() Block {
	linear, positive := c.parts()
	b := Block{Linear: algebra.Like(c.u), Positive: algebra.Like(c.u)}
	b.Linear.Mul(c.v, linear)
	b.Positive.Mul(c.v, positive)
	return b
}

func (c *betaCost) coefficientBlock() Block {
	linear, positive := c.parts()
	b := Block{Linear: algebra.Like(c.v), Positive: algebra.Like(c.v)}
	b.Linear.Mul(c.u, linear.T())
	b.Positive.Mul(c.u, positive.T())
	return b
}

func (c *betaCost) value() (sum float64) {
	n, _ := c.x.Dims()
	var y mat.Dense
	y.Mul(c.v.T(), c.u)
	for i := range n {
		for j, x := range c.x.Rows(i, i+1).RawRowView(0) {
			sum += beta32.term(x, y.At(i, j))
		}
	}
	return sum
}
