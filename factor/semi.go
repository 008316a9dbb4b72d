package factor

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/blas"
)

// A formPenalty is a penalty on the basis vectors that also supports vectors of any sign. The penalty has the gradient
// 2·Fθ at θ, k×m, and is at most tr(ηᵀFη) plus a constant elsewhere, for the positive semi-definite form F, k×k.
type formPenalty interface {
	form(theta *mat.Dense) *mat.Dense
}

// checkSemi returns an error if p has a part that a basis of any sign does not support.
func (p Parts) checkSemi() error {
	if p.Basis != BasisSemi {
		return nil
	}
	if p.Cost != CostFrobenius {
		return fmt.Errorf("basis %v needs cost %v, got cost %v", p.Basis, CostFrobenius, p.Cost)
	}
	for _, penalty := range p.Penalties {
		switch penalty.(type) {
		case L2Basis, Volume:
		default:
			if penalty.OnBasis() {
				return fmt.Errorf("the penalty %s needs basis vectors of 0 or more; basis %v has vectors of any sign", penaltyName(penalty), p.Basis)
			}
		}
	}
	return nil
}

// formTerms returns scale times the sum of the forms of the penalties.
func (b boundPenalties) formTerms(theta *mat.Dense, scale float64) *Terms {
	k, _ := theta.Dims()
	t := &Terms{Form: mat.NewDense(k, k, nil)}
	for _, one := range b {
		form := one.(formPenalty).form(theta)
		form.Scale(scale, form)
		t.Form.Add(t.Form, form)
	}
	return t
}

// leastSquares writes to theta the minimum of ½·tr(θᵀHθ) − tr(linearᵀθ) over θ of any sign, with H the block's quadratic
// form plus the form of t, which may be nil: U = XV(VᵀV)⁻¹ (Ding, Li and Jordan 2010, eq. 10). The step is
// Newton's in the rows after the fixed ones. H is scaled to the diagonal 1+ε, so that the step lowers the
// objective for nearly dependent rows of V too.
func leastSquares(theta, linear, quadratic *mat.Dense, t *Terms, fixed int) {
	h := mat.DenseCopyOf(quadratic)
	if t != nil {
		h.Add(h, t.Form)
	}
	k, p := theta.Dims()
	if fixed == k {
		return
	}
	if fixed > 0 {
		theta, linear, h = restOf(theta, linear, h, fixed)
		k -= fixed
	}
	step := mat.NewDense(k, p, nil)
	step.Sub(linear, algebra.Times(h, theta))
	scale := make([]float64, k)
	for r := range k {
		if scale[r] = math.Sqrt(h.At(r, r)); scale[r] < algebra.Floor {
			scale[r] = 1
		}
	}
	h.Apply(func(r, s int, x float64) float64 {
		if r == s {
			return 1 + leastLift
		}
		return x / scale[r] / scale[s]
	}, h)
	algebra.DivideRows(step, scale)
	if u, ok := blas.Cholesky(h.RawMatrix()); ok {
		solveByCholesky(u, step)
		algebra.DivideRows(step, scale)
		theta.Add(theta, step)
	}
}

// leastLift is ε: above the rounding of a Gram matrix.
const leastLift = 1e-12

// solveByCholesky solves UᵀU·x = b in place.
func solveByCholesky(u blas64.Triangular, b *mat.Dense) {
	blas.Trsm(blas.Trans, u, b.RawMatrix())
	blas.Trsm(blas.NoTrans, u, b.RawMatrix())
}

// imputedCost is Σ w·(x − y)² for a basis of any sign. Its blocks are of ω·‖X̂ − vᵀu‖², with x̂ = y + (w/ω)·(x − y) at the
// current factors and ω the largest weight: an upper bound of the cost up to a constant, so a step that does not raise it
// does not raise the cost (expectation maximisation, as in [maskedCost]).
type imputedCost struct {
	*weightedCost
	filled   *frobeniusCost // of X̂
	largest  float64        // ω
	upToDate bool
}

func newImputedCost(c *weightedCost) *imputedCost {
	return &imputedCost{weightedCost: c, filled: newFrobeniusCost(view.Dense{X: algebra.Like(c.x.X)}, c.u, c.v, 0), largest: mat.Max(c.weights)}
}

func (c *imputedCost) moved(bool) {
	c.filled.moved(true)
	c.filled.moved(false)
	c.upToDate = false
}

func (c *imputedCost) basisBlock() Block       { return c.blockOf(c.filled.basisBlock) }
func (c *imputedCost) coefficientBlock() Block { return c.blockOf(c.filled.coefficientBlock) }

func (c *imputedCost) blockOf(block func() Block) Block {
	if !c.upToDate {
		x := c.filled.x.(view.Dense).X
		algebra.Gemm(x, c.v, algebra.Trans, c.u, algebra.NoTrans)
		algebra.EachRow(x, 4, func(i int, row []float64) {
			given, weights := c.x.X.RawRowView(i), c.weights.RawRowView(i)
			for j, y := range row {
				row[j] = y + weights[j]/c.largest*(given[j]-y)
			}
		})
		c.upToDate = true
	}
	b := block()
	if c.largest != 1 {
		linear, quadratic := algebra.Like(b.Linear), algebra.Like(b.Quadratic)
		linear.Scale(c.largest, b.Linear)
		quadratic.Scale(c.largest, b.Quadratic)
		b.Linear, b.Quadratic = linear, quadratic
	}
	return b
}
