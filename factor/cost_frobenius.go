package factor

import "gonum.org/v1/gonum/mat"

// frobeniusCost is ‖X − vᵀu‖². An iteration takes two products with X and
// nothing else of its size: the cost comes out of them,
// ‖X‖² − 2⟨u·Xᵀ, v⟩ + ⟨u·uᵀ, v·vᵀ⟩.
type frobeniusCost struct {
	x          data
	u, v       *mat.Dense
	vx, ux     *mat.Dense // v·X, u·Xᵀ
	vv, uu     *mat.Dense // v·vᵀ, u·uᵀ
	haveVX     bool       // vx is of the present v, and likewise
	haveVV     bool
	haveUX     bool // with uu
	sumSquares float64
}

func newFrobeniusCost(x data, u, v *mat.Dense) *frobeniusCost {
	return newFrobeniusCostOf(x, u, v, sumSquares(x))
}

// newFrobeniusCostOf is newFrobeniusCost of data whose ‖X‖² is known.
func newFrobeniusCostOf(x data, u, v *mat.Dense, sumSquares float64) *frobeniusCost {
	k, _ := u.Dims()
	return &frobeniusCost{x: x, u: u, v: v, vx: like(u), ux: like(v),
		vv: mat.NewDense(k, k, nil), uu: mat.NewDense(k, k, nil), sumSquares: sumSquares}
}

// squaredLengths returns ‖x‖² of each sample.
func squaredLengths(x data) []float64 {
	n, _ := x.dims()
	out := make([]float64, n)
	if whole, ok := x.matrix().(*mat.Dense); ok {
		eachRow(whole, 1, func(i int, row []float64) { out[i] = dot(row, row) })
		return out
	}
	x.each(func(i, _ int, v float64) { out[i] += v * v })
	return out
}

func sumSquares(x data) float64 {
	var sum float64
	if whole, ok := x.matrix().(*mat.Dense); ok {
		return inner(whole, whole)
	}
	x.each(func(_, _ int, x float64) { sum += x * x })
	return sum
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
		c.x.timesCoefficients(c.vx, c.v)
		c.haveVX = true
	}
	return Block{Linear: c.vx, Quadratic: c.coefficientGram()}
}

// coefficientGram returns v·vᵀ.
func (c *frobeniusCost) coefficientGram() *mat.Dense {
	if !c.haveVV {
		gramOf(c.vv, c.v)
		c.haveVV = true
	}
	return c.vv
}

func (c *frobeniusCost) coefficientBlock() Block {
	if !c.haveUX {
		c.x.timesBasis(c.ux, c.u)
		gramOf(c.uu, c.u)
		c.haveUX = true
	}
	return Block{Linear: c.ux, Quadratic: c.uu}
}

func (c *frobeniusCost) value() float64 {
	b := c.coefficientBlock()
	j := c.sumSquares - 2*inner(b.Linear, c.v) + inner(b.Quadratic, c.coefficientGram())
	if j < nearZero*c.sumSquares {
		return c.x.residual(c.u, c.v)
	}
	return j
}

// nearZero is the share of the data's size below which the difference that
// gives a cost has lost digits that matter, and it is added up term by term.
const nearZero = 1e-5
