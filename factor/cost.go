package factor

import (
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/settings/enum"
	"github.com/seed4492f2cd/partwise/internal/simd"
)

// Cost says how the distance of V·Uᵀ from X is measured.
type Cost int

const (
	CostFrobenius Cost = iota // the sum of squared differences, ‖X − V·Uᵀ‖²
	// CostKL is the generalised Kullback-Leibler divergence, Σ x·log(x/y) − x + y with Y = V·Uᵀ and 0·log
	// 0 = 0.
	CostKL
)

type costInfo struct {
	name string
	// degree is β where the cost of t·X and t·Y is t^β times that of X and Y. Under degree 2 blocks are
	// half the gradient.
	degree float64
	// new returns the cost of u (k×m) and v (k×n) on x.
	new func(x view.Data, u, v *mat.Dense) cost
	// term is the cost of one entry x where the factors say y.
	term func(x, y float64) float64
	// constant is what condensing takes away: the cost of the whole data is that of the condensed data
	// plus this.
	constant func(t *view.Condensation, whole, condensed view.Data) float64
}

// costs is the list of costs, in the order of their values: one entry each. A cost must be a Bregman
// divergence in x, of which ties and weights are then the same for all.
var costs = []costInfo{frobenius, kl}

func (c Cost) names() enum.Names[Cost] {
	var names []string
	for _, i := range costs {
		names = append(names, i.name)
	}
	return enum.Of[Cost]("cost", names...)
}

func (c Cost) String() string                   { return c.names().String(c) }
func (c *Cost) UnmarshalText(name []byte) error { return c.names().UnmarshalText(c, name) }
func (c Cost) MarshalText() ([]byte, error)     { return c.names().MarshalText(c) }
func (c Cost) Values() []string                 { return c.names().Values() }

// Quadratic tells whether the cost is quadratic in either factor.
func (c Cost) Quadratic() bool { return costs[c].degree == 2 }

// A cost measures u, k×m, and v, k×n, which others change, and splits its gradient. Its blocks hold until
// moved is called.
type cost interface {
	// moved says that u has changed, or v.
	moved(v bool)
	// basisBlock is the block in u, coefficientBlock that in v.
	basisBlock() Block
	coefficientBlock() Block
	// value is the cost at u and v.
	value() float64
}

var frobenius = costInfo{
	name: "frobenius", degree: 2,
	new:  func(x view.Data, u, v *mat.Dense) cost { return newFrobeniusCost(x, u, v, view.SumSquares(x)) },
	term: func(x, y float64) float64 { return (x - y) * (x - y) },
	constant: func(t *view.Condensation, whole, condensed view.Data) (sum float64) {
		for i, size := range view.SquaredLengths(whole) {
			sum += t.Weight[i] * size
		}
		return sum - view.SumSquares(condensed)
	},
}

// frobeniusCost is ‖X − vᵀu‖² = ‖X‖² − 2⟨u·Xᵀ, v⟩ + ⟨u·uᵀ, v·vᵀ⟩: two products with X an iteration.
type frobeniusCost struct {
	x          view.Data
	u, v       *mat.Dense
	vx, ux     *mat.Dense // v·X, u·Xᵀ
	vv, uu     *mat.Dense // v·vᵀ and u·uᵀ, nil where v or u has changed since, and u·Xᵀ with u·uᵀ
	haveVX     bool
	sumSquares float64 // ‖X‖²
}

func newFrobeniusCost(x view.Data, u, v *mat.Dense, sumSquares float64) *frobeniusCost {
	return &frobeniusCost{x: x, u: u, v: v, vx: algebra.Like(u), ux: algebra.Like(v), sumSquares: sumSquares}
}

func (c *frobeniusCost) moved(v bool) {
	if v {
		c.haveVX, c.vv = false, nil
	} else {
		c.uu = nil
	}
}

func (c *frobeniusCost) basisBlock() Block {
	if !c.haveVX {
		c.x.TimesCoefficients(c.vx, c.v)
		c.haveVX = true
	}
	return Block{Linear: c.vx, Quadratic: c.coefficientGram()}
}

func (c *frobeniusCost) coefficientGram() *mat.Dense {
	if c.vv == nil {
		c.vv = algebra.SelfGram(c.v)
	}
	return c.vv
}

func (c *frobeniusCost) coefficientBlock() Block {
	if c.uu == nil {
		c.x.TimesBasis(c.ux, c.u)
		c.uu = algebra.SelfGram(c.u)
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

// nearZero is the share of the data's size below which a cost is added up term by term: the difference
// that gives it has lost digits.
const nearZero = 1e-5

var kl = costInfo{
	name: "kl", degree: 1,
	new: func(x view.Data, u, v *mat.Dense) cost {
		return newKLCost(x, u, v, view.SumOfRows(x, func(_ int, values []float64) (sum float64) {
			for _, v := range values { // the same sum where zeros are stored and where not
				sum += v
			}
			return sum
		}))
	},
	term: view.DivergenceTerm,
	constant: func(t *view.Condensation, whole, condensed view.Data) float64 {
		sum := view.SumOfRows(whole, func(i int, x []float64) float64 { return t.Weight[i] * simd.LogSum(x, x) })
		return sum - view.SumOfRows(condensed, func(j int, x []float64) float64 { return simd.LogSum(x, x) - elementary.Log(t.C[j])*algebra.Total(x) })
	},
}

// klCost is the divergence D(X‖vᵀu).
type klCost struct {
	x                        view.Data
	u, v                     *mat.Dense
	bu, bv                   *mat.Dense // v·R and u·Rᵀ
	pu, pv                   *mat.Dense // the positive parts: v's (u's) row sums, row by row
	sum                      float64    // Σ x
	logs                     float64    // Σ x·log(x/y), of the ratios in bu
	su, sv                   []float64
	haveBu, haveBv, haveLogs bool // they are those of the present factors
	valueAlone               bool // who asks for the value asks for no block at the same factors
}

func newKLCost(x view.Data, u, v *mat.Dense, sum float64) *klCost {
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

func fillRows(a *mat.Dense, values []float64) {
	algebra.EachRow(a, 4, func(r int, row []float64) {
		for i := range row {
			row[i] = values[r]
		}
	})
}
