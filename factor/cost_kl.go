package factor

import "gonum.org/v1/gonum/mat"

// klCost is the divergence D(X‖vᵀu).
type klCost struct {
	x          data
	u, v       *mat.Dense
	bu, bv     *mat.Dense // v·R and u·Rᵀ
	pu, pv     *mat.Dense // the positive parts: v's (u's) row sums, row by row
	sum        float64    // Σ x
	su, sv     []float64
	afterValue bool // bu is that of the present factors
}

func newKLCost(x data, u, v *mat.Dense) *klCost {
	k, _ := u.Dims()
	c := &klCost{x: x, u: u, v: v, bu: like(u), bv: like(v), pu: like(u), pv: like(v),
		su: make([]float64, k), sv: make([]float64, k)}
	x.each(func(_, _ int, x float64) { c.sum += x })
	return c
}

func (c *klCost) basisBlock() block {
	if !c.afterValue {
		c.x.ratioBasis(c.bu, c.u, c.v)
	}
	c.afterValue = false
	rowSums(c.sv, c.v)
	fillRows(c.pu, c.sv)
	return block{lin: c.bu, pos: c.pu}
}

func (c *klCost) coefficientBlock() block {
	c.x.ratioCoefficients(c.bv, c.u, c.v)
	c.afterValue = false
	rowSums(c.su, c.u)
	fillRows(c.pv, c.su)
	return block{lin: c.bv, pos: c.pv}
}

// value also finds the ratios that the next basisBlock needs.
func (c *klCost) value() float64 {
	sum := c.x.ratioBasis(c.bu, c.u, c.v)
	c.afterValue = true
	rowSums(c.su, c.u)
	rowSums(c.sv, c.v)
	j := sum - c.sum + dot(c.su, c.sv)
	if j < nearZero*c.sum {
		return c.x.divergence(c.u, c.v)
	}
	return j
}

// fillRows sets row r of a to values[r] throughout.
func fillRows(a *mat.Dense, values []float64) {
	for r, x := range values {
		row := a.RawRowView(r)
		for i := range row {
			row[i] = x
		}
	}
}
