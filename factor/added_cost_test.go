package factor

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
)

// myBeta is the β-divergence with β = 3/2 (Févotte and Idier 2011). β = 1 is the Kullback-Leibler
// divergence, β = 2 the Frobenius cost.
var myBeta = costInfo{
	name: "my-beta", degree: myExponent,
	new: func(x view.Data, u, v *mat.Dense) cost { return &myCost{x, u, v} },
	term: func(x, y float64) float64 {
		return (math.Pow(x, myExponent) + (myExponent-1)*math.Pow(y, myExponent) - myExponent*x*math.Pow(y, myExponent-1)) / (myExponent * (myExponent - 1))
	},
	constant: func(t *view.Condensation, whole, condensed view.Data) (sum float64) {
		whole.Each(func(i, _ int, x float64) { sum += t.Weight[i] * math.Pow(x, myExponent) })
		condensed.Each(func(_, _ int, x float64) { sum -= math.Pow(x, myExponent) })
		return sum / (myExponent * (myExponent - 1))
	},
}

const myExponent = 1.5

type myCost struct {
	x    view.Data
	u, v *mat.Dense
}

func (c *myCost) moved(bool) {}

// parts returns X∘Y^(β−2) and Y^(β−1), n×m, for Y = vᵀu.
func (c *myCost) parts() (linear, positive *mat.Dense) {
	n, m := c.x.Dims()
	linear, positive = mat.NewDense(n, m, nil), mat.NewDense(n, m, nil)
	positive.Mul(c.v.T(), c.u)
	c.x.Each(func(i, j int, x float64) {
		linear.Set(i, j, x*math.Pow(max(positive.At(i, j), algebra.Floor), myExponent-2))
	})
	positive.Apply(func(_, _ int, y float64) float64 { return math.Pow(y, myExponent-1) }, positive)
	return linear, positive
}

func (c *myCost) basisBlock() Block {
	linear, positive := c.parts()
	b := Block{Linear: algebra.Like(c.u), Positive: algebra.Like(c.u)}
	b.Linear.Mul(c.v, linear)
	b.Positive.Mul(c.v, positive)
	return b
}

func (c *myCost) coefficientBlock() Block {
	linear, positive := c.parts()
	b := Block{Linear: algebra.Like(c.v), Positive: algebra.Like(c.v)}
	b.Linear.Mul(c.u, linear.T())
	b.Positive.Mul(c.u, positive.T())
	return b
}

func (c *myCost) value() (sum float64) {
	n, _ := c.x.Dims()
	var y mat.Dense
	y.Mul(c.v.T(), c.u)
	for i := range n {
		for j, x := range c.x.Rows(i, i+1).RawRowView(0) {
			sum += myBeta.term(x, y.At(i, j))
		}
	}
	return sum
}
