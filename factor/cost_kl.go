package factor

import (
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/simd"
)

var kl = costInfo{
	name: "kl", degree: 1,
	new:  func(x view.Data, u, v *mat.Dense) cost { return newKLCost(x, u, v) },
	term: view.DivergenceTerm,
	constant: func(t *condensation, whole, condensed view.Data) float64 {
		sum := view.SumOfRows(whole, func(i int, x []float64) float64 { return t.weight[i] * simd.LogSum(x, x) })
		return sum - view.SumOfRows(condensed, func(j int, x []float64) float64 { return simd.LogSum(x, x) - elementary.Log(t.c[j])*algebra.Total(x) })
	},
}

// klCost is the divergence D(X‖vᵀu).
type klCost struct {
	x              view.Data
	u, v           *mat.Dense
	bu, bv         *mat.Dense // v·R and u·Rᵀ
	pu, pv         *mat.Dense // the positive parts: v's (u's) row sums, row by row
	sum            float64    // Σ x
	logs           float64    // Σ x·log(x/y), of the ratios in bu
	su, sv         []float64
	haveBu, haveBv bool // they are those of the present factors
	haveLogs       bool
	valueAlone     bool // who asks for the value asks for no block at the same factors
}

func newKLCost(x view.Data, u, v *mat.Dense) *klCost {
	return newKLCostOf(x, u, v, view.SumOfRows(x, func(_ int, values []float64) (sum float64) {
		for _, v := range values { // the same sum where zeros are stored and where not
			sum += v
		}
		return sum
	}))
}

// newKLCostOf is newKLCost of data whose Σ x is known.
func newKLCostOf(x view.Data, u, v *mat.Dense, sum float64) *klCost {
	k, _ := u.Dims()
	return &klCost{x: x, u: u, v: v, bu: algebra.Like(u), bv: algebra.Like(v), pu: algebra.Like(u), pv: algebra.Like(v), sum: sum,
		su: make([]float64, k), sv: make([]float64, k)}
}

func (c *klCost) moved(bool) { c.haveBu, c.haveBv, c.haveLogs = false, false, false }

// ratios brings bu up to date, with logs if they are wanted.
func (c *klCost) ratios(logs bool) {
	if !c.haveBu {
		c.logs = c.x.RatioBasis(c.bu, c.u, c.v, logs)
		c.haveBu, c.haveLogs = true, logs
	}
}

func (c *klCost) basisBlock() Block {
	c.ratios(false)
	algebra.RowSums(c.sv, c.v)
	fillRows(c.pu, c.sv)
	return Block{Linear: c.bu, Positive: c.pu}
}

func (c *klCost) coefficientBlock() Block {
	if !c.haveBv {
		c.x.RatioCoefficients(c.bv, c.u, c.v)
		c.haveBv = true
	}
	algebra.RowSums(c.su, c.u)
	fillRows(c.pv, c.su)
	return Block{Linear: c.bv, Positive: c.pv}
}

// value also finds the ratios that the next basisBlock needs, but for valueAlone.
func (c *klCost) value() float64 {
	switch {
	case c.haveLogs:
	case c.valueAlone || c.haveBu:
		c.logs, c.haveLogs = c.x.RatioBasis(nil, c.u, c.v, true), true
	default:
		c.ratios(true)
	}
	algebra.RowSums(c.su, c.u)
	algebra.RowSums(c.sv, c.v)
	j := c.logs - c.sum + algebra.Dot(c.su, c.sv)
	if j < nearZero*c.sum {
		return c.x.Divergence(c.u, c.v)
	}
	return j
}

// fillRows sets row r of a to values[r] throughout.
func fillRows(a *mat.Dense, values []float64) {
	algebra.EachRow(a, 4, func(r int, row []float64) {
		for i := range row {
			row[i] = values[r]
		}
	})
}
