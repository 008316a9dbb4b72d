package factor

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/guard"
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
	// new returns the cost of u (k×m) and v (k×n) on x; nil is a weightedCost without weights.
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
	// ofSamples means that the cost is not a sum over entries, but over samples.
	ofSamples bool
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

// of returns the cost of u, k×m, and v, k×n, on x.
func (i costInfo) of(x view.Data, u, v *mat.Dense) cost {
	if i.new == nil {
		return &weightedCost{costInfo: i, x: view.AsDense(x), u: u, v: v}
	}
	return i.new(x, u, v)
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

// largestBeta bounds β, because powers of large values overflow.
const (
	defaultBeta = 0.5
	largestBeta = 4
)

// with returns the cost c, with β = exponent if it is CostBeta and with the threshold of CostHuber; an exponent of 0 means
// the default.
func (c Cost) with(exponent, threshold float64) costInfo {
	switch c {
	case CostBeta:
		return betaDivergence(costs[c].name, orDefault(exponent, defaultBeta))
	case CostHuber:
		return huberCost(threshold)
	}
	return costs[c]
}

// check returns an error unless exponent is 0, WeightNone or, with CostBeta, a β from 0 to largestBeta, and threshold is 0
// or, with CostHuber, a size of data.
func (c Cost) check(exponent, threshold float64) (err error) {
	defer guard.Catch(&err)
	guard.FailIf(threshold != 0 && c != CostHuber, "threshold is for cost %v; the cost is %v", CostHuber, c)
	guard.FailIf(threshold != 0 && !(threshold >= view.SmallestValue && threshold <= view.LargestValue),
		"threshold %v; expected %g to %g", threshold, view.SmallestValue, view.LargestValue)
	guard.FailIf(exponent != 0 && c != CostBeta, "exponent is for cost %v; the cost is %v", CostBeta, c)
	guard.FailIf(exponent != WeightNone && !(exponent >= 0 && exponent <= largestBeta),
		"exponent %v; expected a number from 0 to %v", exponent, largestBeta)
	return nil
}

// samples returns d in dense storage, or an error if the cost does not support a value.
func (i costInfo) samples(d view.Data) (view.Dense, error) {
	dense := view.AsDense(d)
	if zero := view.Zero(dense); i.positive && zero != nil {
		return dense, &SampleError{Sample: zero.Sample, Problem: fmt.Sprintf("%s; the cost %q needs values above 0", zero.Problem, i.name)}
	}
	return dense, nil
}

// betaDivergence is the β-divergence for β from 0 to largestBeta, Σ (x^β + (β−1)·y^β − β·x·y^(β−1))/(β(β−1)), or its
// limit: Σ x/y − log(x/y) − 1 for β = 0, the KL divergence for β = 1. Multiplicative steps have the exponent γ(β), with
// which the divergence never rises (Févotte and Idier 2011).
func betaDivergence(name string, beta float64) costInfo {
	c := costInfo{name: name, degree: beta, positive: beta == 0, power: 1}
	switch {
	case beta < 1:
		c.power = 1 / (2 - beta)
	case beta > 2:
		c.power = 1 / (beta - 1)
	}
	powers := [3]func(float64) float64{powerOf(beta - 2), powerOf(beta - 1), powerOf(beta)}
	c.term = func(x, y float64) float64 {
		y = max(y, algebra.Floor)
		switch beta {
		case 0:
			return x/y - elementary.Log(x/y) - 1
		case 1:
			return view.DivergenceTerm(x, y)
		}
		return max((powers[2](x)+powers[1](y)*((beta-1)*y-beta*x))/(beta*(beta-1)), 0)
	}
	c.split = func(negative, y, x, w []float64) {
		for j, w := range w {
			at := max(y[j], algebra.Floor)
			by := w * powers[0](at)
			negative[j], y[j] = by*x[j], by*at
		}
	}
	return c
}

// powerOf returns x^e for x ≥ 0. If 2e is an integer it multiplies, which is ten times as fast as elementary.Pow.
func powerOf(e float64) func(x float64) float64 {
	whole, part := math.Modf(math.Abs(e))
	if part != 0 && part != 0.5 {
		return func(x float64) float64 { return elementary.Pow(x, e) }
	}
	return func(x float64) float64 {
		power := 1.0
		if part != 0 {
			power = math.Sqrt(x)
		}
		for range int(whole) {
			power *= x
		}
		if e < 0 {
			return 1 / power
		}
		return power
	}
}

// A robust cost is Σ w·ρ(s) of squared errors s, with a concave ρ: an outlier has less weight than under the Frobenius
// cost. As ρ(s) ≤ ρ(t) + ρ'(t)·(s − t), a multiplicative step on the squares with the weights w·ρ'(t) at the current
// factors never raises it. The block holds half the gradient, as under the Frobenius cost.

// relativeThreshold is the error of a sample, relative to its length, below which CostL21 is quadratic, so that a sample
// without error has a finite weight.
const relativeThreshold = 1e-8

// l21 is Σ_i ‖x_i − U·v_i‖, with U ← U∘(X·D·V)/(U·VᵀDV), D_ii = 1/‖x_i − U·v_i‖ (Kong, Ding and Huang 2011). With U fixed
// it has the minimum of the Frobenius cost, which represents new samples.
var l21 = costInfo{name: "l21", degree: 2, robust: true, ofSamples: true, split: frobenius.split, new: frobenius.new}

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
	if i.ofSamples {
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
