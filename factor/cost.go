package factor

import (
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/settings/enum"
	"github.com/seed4492f2cd/partwise/internal/simd"
)

// Cost is the measure of the distance between X and V·Uᵀ.
type Cost int

const (
	CostFrobenius Cost = iota // the sum of squared differences, ‖X − V·Uᵀ‖²
	// CostKL is the generalised Kullback-Leibler divergence, Σ x·log(x/y) − x + y with Y = V·Uᵀ and 0·log 0 = 0.
	CostKL
	CostItakuraSaito // the divergence Σ x/y − log(x/y) − 1, for values > 0
	CostBeta         // the β-divergence with β = Parts.Exponent, of which the costs above are β = 2 (half), 1 and 0
	// CostL21 is Σ ‖x_i − U·v_i‖ over the samples: a sample far from U·v_i counts less than under CostFrobenius.
	CostL21
	// CostHuber is Σ h(x − y), h(r) = r² for |r| ≤ δ = Parts.Threshold, else δ·(2|r| − δ).
	CostHuber
)

type costInfo struct {
	name string
	// degree is β: the cost of t·X and t·Y is t^β times the cost of X and Y. With degree 2, also of robust costs, a
	// block holds half the gradient.
	degree float64
	// new returns the cost of u (k×m) and v (k×n) on x.
	new func(x view.Data, u, v *mat.Dense) cost
	// term is the cost of one entry x that the factors approximate by y.
	term func(x, y float64) float64
	// constant is the cost of the whole data minus the cost of the condensed data, which does not depend on
	// the factors. If nil, ties and weights become weights of entries, which need split and term.
	constant func(t *view.Condensation, whole, condensed view.Data) float64
	// split, if set, is for weights of entries. With degree 2 the gradient is half the derivative.
	split view.Split
	// power is the exponent of the ratio of a multiplicative step; 0 means 1.
	power    float64
	positive bool // the data must be > 0
	robust   bool // not a Bregman divergence: ties do not condense the data
}

// costs is indexed by Cost. Each cost must be robust or a Bregman divergence, under which ties condense samples to weighted
// means.
var costs = []costInfo{frobenius, kl, betaDivergence("is", 0), betaDivergence("beta", defaultBeta), l21, huberCost(0)}

func (c Cost) enumNames() enum.Names[Cost] {
	return enum.Of[Cost]("cost", lists.Map(costs, func(i costInfo) string { return i.name })...)
}

// String returns the name of the cost in settings.
func (c Cost) String() string                   { return c.enumNames().String(c) }
func (c *Cost) UnmarshalText(name []byte) error { return c.enumNames().UnmarshalText(c, name) }
func (c Cost) MarshalText() ([]byte, error)     { return c.enumNames().MarshalText(c) }
func (c Cost) Values() []string                 { return c.enumNames().Values() }

// Quadratic reports whether the cost, or the bound that a robust cost minimises, is quadratic in each factor.
func (c Cost) Quadratic() bool { return costs[c].degree == 2 }

// A cost evaluates the factors u, k×m, and v, k×n, which the solver changes in place, and splits the gradient.
// Its blocks are valid until moved is called.
type cost interface {
	// moved invalidates cached products after a change of v, or else of u.
	moved(v bool)
	// basisBlock is the block of u, coefficientBlock the block of v.
	basisBlock() Block
	coefficientBlock() Block
	// value is the cost at u and v.
	value() float64
}

var frobenius = costInfo{
	name: "frobenius", degree: 2, split: betaDivergence("", 2).split,
	new:  func(x view.Data, u, v *mat.Dense) cost { return newFrobeniusCost(x, u, v, view.SumSquares(x)) },
	term: func(x, y float64) float64 { return (x - y) * (x - y) },
	constant: func(t *view.Condensation, whole, condensed view.Data) (sum float64) {
		for i, size := range view.SquaredLengths(whole) {
			sum += t.Weight[i] * size
		}
		return sum - view.SumSquares(condensed)
	},
}

// frobeniusCost is ‖X − vᵀu‖² = ‖X‖² − 2⟨u·Xᵀ, v⟩ + ⟨u·uᵀ, v·vᵀ⟩: two products with X per iteration.
type frobeniusCost struct {
	x          view.Data
	u, v       *mat.Dense
	vx, ux     *mat.Dense // v·X, u·Xᵀ
	vv, uu     *mat.Dense // v·vᵀ and u·uᵀ; nil when out of date; ux is valid when uu is
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

// nearZero is the fraction of the data's size below which a cost is summed term by term, because the difference of
// large sums has lost digits.
const nearZero = 1e-5

var kl = costInfo{
	name: "kl", degree: 1, split: betaDivergence("", 1).split,
	new: func(x view.Data, u, v *mat.Dense) cost {
		return newKLCost(x, u, v, view.SumOfRows(x, func(_ int, values []float64) (sum float64) {
			for _, v := range values { // stored zeros do not change the sum
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
	pu, pv                   *mat.Dense // the positive parts: row sums of v and of u, repeated along each row
	sum                      float64    // Σ x
	logs                     float64    // Σ x·log(x/y), of the ratios in bu
	su, sv                   []float64
	haveBu, haveBv, haveLogs bool // bu, bv and logs belong to the current factors
	valueAlone               bool // the caller of value does not use a block at the same factors
}

func newKLCost(x view.Data, u, v *mat.Dense, sum float64) *klCost {
	k, _ := u.Dims()
	return &klCost{x: x, u: u, v: v, bu: algebra.Like(u), bv: algebra.Like(v), pu: algebra.Like(u), pv: algebra.Like(v), sum: sum,
		su: make([]float64, k), sv: make([]float64, k)}
}

func (c *klCost) moved(bool) { c.haveBu, c.haveBv, c.haveLogs = false, false, false }

// ratios updates bu, and logs if requested.
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

// value also computes the ratios for the next basisBlock, unless valueAlone is set.
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
