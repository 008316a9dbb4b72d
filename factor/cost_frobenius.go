package factor

import (
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
)

var frobenius = costInfo{
	name: "frobenius", degree: 2,
	new:  func(x view.Data, u, v *mat.Dense) cost { return newFrobeniusCost(x, u, v) },
	term: func(x, y float64) float64 { return (x - y) * (x - y) },
	constant: func(t *condensation, whole, condensed view.Data) (sum float64) {
		for i, size := range view.SquaredLengths(whole) {
			sum += t.weight[i] * size
		}
		return sum - view.SumSquares(condensed)
	},
}

// frobeniusCost is ‖X − vᵀu‖². An iteration takes two products with X and
// nothing else of its size: the cost comes out of them,
// ‖X‖² − 2⟨u·Xᵀ, v⟩ + ⟨u·uᵀ, v·vᵀ⟩.
type frobeniusCost struct {
	x          view.Data
	u, v       *mat.Dense
	vx, ux     *mat.Dense // v·X, u·Xᵀ
	vv, uu     *mat.Dense // v·vᵀ, u·uᵀ
	haveVX     bool       // vx is of the present v, and likewise
	haveVV     bool
	haveUX     bool // with uu
	sumSquares float64
}

func newFrobeniusCost(x view.Data, u, v *mat.Dense) *frobeniusCost {
	return newFrobeniusCostOf(x, u, v, view.SumSquares(x))
}

// newFrobeniusCostOf is newFrobeniusCost of data whose ‖X‖² is known.
func newFrobeniusCostOf(x view.Data, u, v *mat.Dense, sumSquares float64) *frobeniusCost {
	k, _ := u.Dims()
	return &frobeniusCost{x: x, u: u, v: v, vx: algebra.Like(u), ux: algebra.Like(v),
		vv: mat.NewDense(k, k, nil), uu: mat.NewDense(k, k, nil), sumSquares: sumSquares}
}

func (c *frobeniusCost) moved(v bool) {
	if v {
		c.haveVX, c.haveVV = false, false
	} else {
		c.haveUX = false
	}
}

func (c *frobeniusCost) basisBlock() Block {
	if !c.haveVX {
		c.x.TimesCoefficients(c.vx, c.v)
		c.haveVX = true
	}
	return Block{Linear: c.vx, Quadratic: c.coefficientGram()}
}

// coefficientGram returns v·vᵀ.
func (c *frobeniusCost) coefficientGram() *mat.Dense {
	if !c.haveVV {
		algebra.GramOf(c.vv, c.v)
		c.haveVV = true
	}
	return c.vv
}

func (c *frobeniusCost) coefficientBlock() Block {
	if !c.haveUX {
		c.x.TimesBasis(c.ux, c.u)
		algebra.GramOf(c.uu, c.u)
		c.haveUX = true
	}
	return Block{Linear: c.ux, Quadratic: c.uu}
}

func (c *frobeniusCost) value() float64 {
	b := c.coefficientBlock()
	j := c.sumSquares - 2*algebra.Inner(b.Linear, c.v) + algebra.Inner(b.Quadratic, c.coefficientGram())
	if j < nearZero*c.sumSquares {
		return c.x.Residual(c.u, c.v)
	}
	return j
}

// nearZero is the share of the data's size below which the difference that
// gives a cost has lost digits that matter, and it is added up term by term.
const nearZero = 1e-5
