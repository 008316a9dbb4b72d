package factor

import "gonum.org/v1/gonum/mat"

// frobeniusCost is ‖X − vᵀu‖². An iteration takes two products with X and
// nothing else of its size: the cost comes out of them,
// ‖X‖² − 2⟨u·Xᵀ, v⟩ + ⟨u·uᵀ, v·vᵀ⟩.
type frobeniusCost struct {
	x          data
	u, v       *mat.Dense
	vx, ux     *mat.Dense // v·X, u·Xᵀ
	vv, uu     *mat.Dense // k×k; nil where u, or v, has changed since
	sumSquares float64
}

func newFrobeniusCost(x data, u, v *mat.Dense) *frobeniusCost {
	return &frobeniusCost{x: x, u: u, v: v, vx: like(u), ux: like(v), sumSquares: sumSquares(x)}
}

func sumSquares(x data) float64 {
	var sum float64
	x.each(func(_, _ int, x float64) { sum += x * x })
	return sum
}

func (c *frobeniusCost) moved(v bool) {
	if v {
		c.vv = nil
	} else {
		c.uu = nil
	}
}

func (c *frobeniusCost) basisBlock() Block {
	if c.vv == nil {
		c.x.timesCoefficients(c.vx, c.v)
		c.vv = selfGram(c.v)
	}
	return Block{Linear: c.vx, Quadratic: c.vv}
}

func (c *frobeniusCost) coefficientBlock() Block {
	if c.uu == nil {
		c.x.timesBasis(c.ux, c.u)
		c.uu = selfGram(c.u)
	}
	return Block{Linear: c.ux, Quadratic: c.uu}
}

func (c *frobeniusCost) value() float64 {
	b := c.coefficientBlock()
	j := c.sumSquares - 2*inner(b.Linear, c.v) + inner(b.Quadratic, selfGram(c.v))
	if j < nearZero*c.sumSquares {
		return c.x.residual(c.u, c.v)
	}
	return j
}

// nearZero is the share of the data's size below which the difference that
// gives a cost has lost digits that matter, and it is added up term by term.
const nearZero = 1e-5
