package factor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/internal/simd"
	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// HeldOut are entries of the data that a fit does not see, for each sample its columns,
// rising: by how far the product of the factors is from them a fit is judged that could
// otherwise only get better with the rank. See [Parts.HeldOut].
type HeldOut [][]int

// HoldOut draws entries of n×m data: each is held out with the chance share, from 0 to 1, by
// a stream of the sample's own (Wold 1978).
func HoldOut(n, m int, share float64, seed uint64) HeldOut {
	h := make(HeldOut, n)
	if !(share > 0) {
		return h
	}
	for i := range h {
		src := rng.New(seed, "held out", i)
		for j := gap(src, share); j < m; j += 1 + gap(src, share) {
			h[i] = append(h[i], j)
		}
	}
	return h
}

// gap draws how many entries stand before the next that is held out.
func gap(src *rand.Rand, share float64) int {
	if share >= 1 {
		return 0
	}
	return int(min(elementary.Log(1-src.Float64())/elementary.Log1p(-share), math.MaxInt32))
}

// Misfit returns Σ (x − y)² over the entries that are held out, Y = V·Uᵀ of the result, and
// Σ x² over them. x is what was fitted, n×m, dense or a *CSR, and the result has a basis.
func (h HeldOut) Misfit(x mat.Matrix, r *Result) (misfit, whole float64) {
	_, m := x.Dims()
	row := make([]float64, m)
	for i, columns := range h {
		if len(columns) == 0 {
			continue
		}
		view.CopyRow(row, x, i)
		v := r.Coefficients.RawRowView(i)
		for _, j := range columns {
			d := row[j] - algebra.Dot(v, r.Basis.RawRowView(j))
			misfit += d * d
			whole += row[j] * row[j]
		}
	}
	return misfit, whole
}

// serves returns nil, or an error that names what of the parts excludes held-out entries.
func (h HeldOut) serves(p Parts) error {
	var what string
	switch {
	case h == nil:
		return nil
	case p.Cost != CostFrobenius && p.Cost != CostKL:
		what = fmt.Sprintf("the %v cost", p.Cost)
	case p.Basis != BasisFree:
		what = fmt.Sprintf("a %v basis", p.Basis)
	case p.Tie != TieNone:
		what = fmt.Sprintf("ties by %v", p.Tie)
	case p.Weighting != WeightingEqual:
		what = fmt.Sprintf("%v weights", p.Weighting)
	case len(p.Penalties) > 0:
		what = "the penalty " + penaltyName(p.Penalties[0])
	case p.UnitNorm:
		what = "unit-norm"
	default:
		return nil
	}
	return fmt.Errorf("entries cannot be held out with %s", what)
}

// matrix returns the matrix that is 1 at the entries, n×m.
func (h HeldOut) Matrix(n, m int) (*CSR, error) {
	if len(h) != n {
		return nil, fmt.Errorf("entries are held out of %d samples, and there are %d", len(h), n)
	}
	start, columns := make([]int, 1, n+1), []int{}
	for _, of := range h {
		columns = append(columns, of...)
		start = append(start, len(columns))
	}
	held, err := sparse.New(n, m, start, columns, slices.Repeat([]float64{1}, len(columns)))
	if err != nil {
		return nil, fmt.Errorf("entries held out: %w", err)
	}
	return held, nil
}

// without returns the data with 0 in place of the entries.
func (h HeldOut) without(d view.Data) view.Data {
	if s, ok := d.(*view.Sparse); ok {
		n, m := s.Dims()
		left := make([]sparse.Entry, 0, s.X.NNZ())
		for i, of := range h {
			columns, values := s.X.Row(i)
			for at, j := range columns {
				for len(of) > 0 && of[0] < j {
					of = of[1:]
				}
				if len(of) == 0 || of[0] != j {
					left = append(left, sparse.Entry{Row: i, Col: j, Value: values[at]})
				}
			}
		}
		return view.NewSparse(sparse.FromEntries(n, m, left))
	}
	x := mat.DenseCopyOf(d.Matrix())
	for i, of := range h {
		row := x.RawRowView(i)
		for _, j := range of {
			row[j] = 0
		}
	}
	return view.Dense{X: x}
}

// seenCost is a cost that does not count some entries. Where these hold 0 in the data, its
// value is that of the cost of all entries less Σ y² over those held out, Σ y under the
// divergence, Y = vᵀu.
//
// Its blocks are those of the data with the present y in place of what is held out. What that
// cost is more than this one, Σ (y − present y)² over the entries held out or the divergence
// of these, is never negative and 0 where the factors are: a step that does not raise the one
// does not raise the other, by whatever solver (expectation maximisation: Srebro and Jaakkola
// 2003; Zhang, Wang, Ford and Makedon 2006). The products are those with the data and
// O(entries held out · k) more.
type seenCost struct {
	cost
	x    view.Data
	kl   bool
	term func(x, y float64) float64
	held *view.Sparse // 1 at the entries
	u, v *mat.Dense
	// inU and inV are what the entries held out add to the linear parts of the blocks, and with
	// wholeU and wholeV all of these parts.
	inU, inV       *mat.Dense
	haveU, haveV   bool
	wholeU, wholeV bool
	less           float64 // what is not counted of the cost of all entries, known with haveU
}

func newSeenCost(c Cost, x view.Data, held *CSR, u, v *mat.Dense) *seenCost {
	return &seenCost{cost: newCost(c, x, u, v), x: x, kl: c == CostKL, term: costs[c].term, held: view.NewSparse(held), u: u, v: v, inU: algebra.Like(u), inV: algebra.Like(v)}
}

func (c *seenCost) moved(v bool) {
	c.haveU, c.haveV, c.wholeU, c.wholeV = false, false, false, false
	c.cost.moved(v)
}

// findU finds what the entries held out add in the basis block, and less.
func (c *seenCost) findU() {
	switch {
	case c.haveU:
		return
	case c.kl:
		c.held.TimesCoefficients(c.inU, c.v)
		c.less = algebra.Inner(c.inU, c.u)
	default:
		c.less = c.held.Along(c.inU, c.held.ByFeature(), c.u, c.v, squares)
	}
	c.haveU = true
}

func (c *seenCost) findV() {
	switch {
	case c.haveV:
		return
	case c.kl:
		c.held.TimesBasis(c.inV, c.u)
	default:
		c.held.Along(c.inV, c.held.Samples, c.v, c.u, squares)
	}
	c.haveV = true
}

// squares adds the rows of b, each times its y = a·row, and returns Σ y².
func squares(sum, a, rows []float64, at []int, _, y []float64) float64 {
	simd.Dots(y, a, rows, at)
	simd.AddRows(sum, y, rows, at)
	return algebra.Dot(y, y)
}

func (c *seenCost) basisBlock() Block {
	b := c.cost.basisBlock()
	if !c.wholeU {
		c.findU()
		algebra.AddTo(c.inU, 1, b.Linear)
		c.wholeU = true
	}
	b.Linear = c.inU
	return b
}

func (c *seenCost) coefficientBlock() Block {
	b := c.cost.coefficientBlock()
	if !c.wholeV {
		c.findV()
		algebra.AddTo(c.inV, 1, b.Linear)
		c.wholeV = true
	}
	b.Linear = c.inV
	return b
}

func (c *seenCost) value() float64 {
	whole := c.cost.value()
	c.findU()
	if j := whole - c.less; j >= nearZero*whole {
		return j
	}
	return c.termByTerm()
}

// termByTerm returns the cost, whose digits the difference of two others has lost.
func (c *seenCost) termByTerm() (sum float64) {
	n, m := c.x.Dims()
	k, _ := c.u.Dims()
	sums := make([]float64, n)
	parallel.DoWork(n*m*k, n, func(i int) {
		x, y := make([]float64, m), make([]float64, m)
		view.CopyRow(x, c.x.Matrix(), i)
		for r := range k {
			algebra.Axpy(c.v.At(r, i), c.u.RawRowView(r), y)
		}
		out, _ := c.held.X.Row(i)
		for j, x := range x {
			switch {
			case len(out) > 0 && out[0] == j:
				out = out[1:]
			default:
				sums[i] += c.term(x, y[j])
			}
		}
	})
	return elementary.Sum(sums)
}
