package factor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/internal/settings/enum"
	"github.com/seed4492f2cd/partwise/internal/simd"
	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// HeldOut are entries of the data that a fit does not see, for each sample its columns, rising. How far the
// product of the factors is from them judges a rank. See [Parts.HeldOut].
type HeldOut [][]int

// HoldOut draws entries of n×m data: each is held out with the chance share, from 0 to 1, by a stream of
// the sample's own (Wold 1978).
func HoldOut(n, m int, share float64, seed uint64) HeldOut {
	h := make(HeldOut, n)
	if !(share > 0) {
		return h
	}
	for i := range h {
		src := rng.New(seed, "held out", i)
		gap := func() int { // before the next entry; 0 of a share of 1
			return int(min(elementary.Log(1-src.Float64())/elementary.Log1p(-min(share, 1)), math.MaxInt32))
		}
		for j := gap(); j < m; j += 1 + gap() {
			h[i] = append(h[i], j)
		}
	}
	return h
}

// Misfit returns Σ (x − y)² over the entries that are held out, Y = V·Uᵀ of the result, and Σ x² over
// them. x is what was fitted, n×m, dense or a *CSR, and the result has a basis.
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
		what = fmt.Sprintf("cost %v", p.Cost)
	case p.Basis != BasisFree:
		what = fmt.Sprintf("basis %v", p.Basis)
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
	return fmt.Errorf("held-out entries are not supported with %s", what)
}

// hold returns the matrix that is 1 at the entries, nil for no HeldOut, and the data with 0 in place of them.
func (h HeldOut) hold(d view.Data) (held *CSR, rest view.Data, err error) {
	if h == nil {
		return nil, d, nil
	}
	n, m := d.Dims()
	if len(h) != n {
		return nil, nil, fmt.Errorf("held-out entries of %d samples; expected %d", len(h), n)
	}
	start, columns := make([]int, 1, n+1), []int{}
	for _, of := range h {
		columns = append(columns, of...)
		start = append(start, len(columns))
	}
	if held, err = sparse.New(n, m, start, columns, slices.Repeat([]float64{1}, len(columns))); err != nil {
		return nil, nil, fmt.Errorf("entries held out: %w", err)
	}
	if s, ok := d.(*view.Sparse); ok {
		left := make([]sparse.Entry, 0, s.X.NNZ())
		d.Each(func(i, j int, x float64) {
			if _, out := slices.BinarySearch(h[i], j); !out {
				left = append(left, sparse.Entry{Row: i, Col: j, Value: x})
			}
		})
		return held, view.NewSparse(sparse.FromEntries(n, m, left)), nil
	}
	x := mat.DenseCopyOf(d.Matrix())
	for i, of := range h {
		for _, j := range of {
			x.Set(i, j, 0)
		}
	}
	return held, view.Dense{X: x}, nil
}

// seenCost is a cost that does not count some entries, which hold 0 in the data: that of all entries less Σ y²
// over those held out, or Σ y under the divergence, Y = vᵀu.
//
// Its blocks are those of the data with the present y in place of what is held out. That cost exceeds this
// one by Σ (y − present y)² over the entries, or their divergence, which is 0 where the factors are: a step
// that does not raise the one does not raise the other (expectation maximisation: Srebro and Jaakkola 2003;
// Zhang, Wang, Ford and Makedon 2006). It takes O(entries held out · k) more.
type seenCost struct {
	cost
	x    view.Data
	kl   bool
	term func(x, y float64) float64
	held *view.Sparse // 1 at the entries
	u, v *mat.Dense
	inU  *mat.Dense // what the entries held out add to the linear part of the block in u
	less float64    // what is not counted of the cost of all entries
	have bool       // inU and less are of the present factors
}

func (c *seenCost) moved(v bool) {
	c.have = false
	c.cost.moved(v)
}

func (c *seenCost) find() {
	switch {
	case c.have:
	case c.kl:
		c.held.TimesCoefficients(c.inU, c.v)
		c.less = algebra.Inner(c.inU, c.u)
	default:
		c.less = c.held.Along(c.inU, c.held.ByFeature(), c.u, c.v, squares)
	}
	c.have = true
}

// squares adds the rows of b, each times its y = a·row, and returns Σ y².
func squares(sum, a, rows []float64, at []int, _, y []float64) float64 {
	simd.Dots(y, a, rows, at)
	simd.AddRows(sum, y, rows, at)
	return algebra.Dot(y, y)
}

func (c *seenCost) basisBlock() Block {
	c.find()
	return plus(c.cost.basisBlock(), c.inU)
}

func (c *seenCost) coefficientBlock() Block {
	in := algebra.Like(c.v)
	if c.kl {
		c.held.TimesBasis(in, c.u)
	} else {
		c.held.Along(in, c.held.Samples, c.v, c.u, squares)
	}
	return plus(c.cost.coefficientBlock(), in)
}

// plus returns the block with more in its linear part.
func plus(b Block, more *mat.Dense) Block {
	var sum mat.Dense
	sum.Add(more, b.Linear)
	b.Linear = &sum
	return b
}

func (c *seenCost) value() float64 {
	whole := c.cost.value()
	c.find()
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
			if _, held := slices.BinarySearch(out, j); !held {
				sums[i] += c.term(x, y[j])
			}
		}
	})
	return elementary.Sum(sums)
}

// RankRule says by what a rank is chosen.
type RankRule int

const (
	// RankHeldOut takes the least rank that predicts held-out entries within one standard error of the best
	// (Breiman, Friedman, Olshen and Stone 1984).
	RankHeldOut RankRule = iota
	// RankStability takes the largest rank whose basis vectors are the same from every start, or else the
	// rank with the most stable ones.
	RankStability
)

var rankRuleNames = enum.Of[RankRule]("rule", "held-out", "stability")

func (r RankRule) String() string                   { return rankRuleNames.String(r) }
func (r *RankRule) UnmarshalText(name []byte) error { return rankRuleNames.UnmarshalText(r, name) }
func (r RankRule) MarshalText() ([]byte, error)     { return rankRuleNames.MarshalText(r) }
func (RankRule) Values() []string                   { return rankRuleNames.Values() }

// RankSearch says among which ranks one is chosen, and by what.
type RankSearch struct {
	By RankRule
	// From and To are the least and the largest rank; 0 means 2, and the least of 40, n/2 and m/2.
	From, To int
	Seed     uint64 // makes starts and what is held out repeatable
	// Progress, if set, is called after each rank with how many of at most how many are done.
	Progress func(done, total int)
}

// What a rank is judged by.
const (
	rankFits     = 5       // of each rank, each with entries held out and a start of its own
	rankShare    = 0.1     // of the entries are held out
	mostHeldOut  = 2 << 20 // entries
	rankStable   = 0.98    // stability of basis vectors that are the same
	rankGrowth   = 1.25    // from one rank to the next of the first look
	rankFineness = 20      // ranks are told apart that differ by more than 1 of so many
)

// RankCurve is what ranks were judged by. Its slices are as long as Rank.
type RankCurve struct {
	Rank []int `json:"rank"` // the ranks that were looked at, rising
	// Misfit is the mean over five fits of Σ (x − y)²/Σ x² over the entries held out, Deviation its standard
	// error.
	Misfit    []float64 `json:"misfit"`
	Deviation []float64 `json:"deviation"`
	// Stability, from 0 to 1, is the mean cosine between a basis vector of one fit and the most similar one
	// of another.
	Stability []float64 `json:"stability"`
}

// ChooseRank chooses the number of basis vectors of NMF of the samples x, n×m of values of 0 or more, dense
// or a *CSR. Five fits of each rank each predict a tenth of the entries, held out at random (Wold 1978; of
// NMF Kanagal and Sindhwani 2010); how alike their basis vectors are is the stability of Wu et al. (2016). It
// looks at ranks that grow by a quarter, and then between those next to the one chosen. The answer depends on
// x, rule, range and seed.
func ChooseRank(ctx context.Context, x mat.Matrix, s RankSearch) (rank int, curve *RankCurve, err error) {
	d, err := view.New(x)
	if err != nil {
		return 0, nil, err
	}
	n, m := d.Dims()
	if s, err = s.within(n, m); err != nil {
		return 0, nil, err
	}
	if err := view.NonNegative(d, "this method"); err != nil {
		return 0, nil, err
	}
	share := min(rankShare, mostHeldOut/(float64(n)*float64(m)))
	held := make([]HeldOut, rankFits)
	for fit := range held {
		held[fit] = HoldOut(n, m, share, rng.Seed(s.Seed, "rank", fit))
	}
	curve = &RankCurve{}
	var todo []int
	for k := s.From; k < s.To; k = max(k+1, int(rankGrowth*float64(k))) {
		todo = append(todo, k)
	}
	todo = append(todo, s.To)
	total := len(todo) + 6 // at most
	for len(todo) > 0 {
		for _, k := range todo {
			if err := curve.look(ctx, x, held, k, s.Seed); err != nil {
				return 0, nil, fmt.Errorf("rank %d: %w", k, err)
			}
			if s.Progress != nil {
				s.Progress(min(len(curve.Rank), total), total)
			}
		}
		todo = curve.between(curve.Best(s.By))
	}
	return curve.Rank[curve.Best(s.By)], curve, nil
}

// RankMemory returns about how many bytes ChooseRank takes at most beside x, with Rank the largest rank.
func RankMemory(s Size) int64 {
	entries := float64(s.Samples) * float64(s.Features)
	held := min(rankShare*entries, mostHeldOut)
	fit := float64(Parts{}.Memory(s)) + s.heldOut(held)
	return view.Bytes(rankFits * (fit + 8*held))
}

// within returns the search with its range for n×m data.
func (s RankSearch) within(n, m int) (RankSearch, error) {
	if err := named(s.By); err != nil {
		return s, err
	}
	most := min(n, m)
	s.From = cmp.Or(s.From, min(2, most))
	s.To = cmp.Or(s.To, max(s.From, min(40, most/2)))
	if s.From < 1 || s.To < s.From || s.To > most {
		return s, fmt.Errorf("ranks from %d to %d for %d samples of %d features; expected a rising range within 1 to %d", s.From, s.To, n, m, most)
	}
	return s, nil
}

// between returns what lies in the middle between the rank at a place and those next to it.
func (c *RankCurve) between(at int) (ranks []int) {
	for left := max(at-1, 0); left <= at && left+1 < len(c.Rank); left++ {
		a, b := c.Rank[left], c.Rank[left+1]
		if b-a > max(1, b/rankFineness) {
			ranks = append(ranks, (a+b)/2)
		}
	}
	return ranks
}

func (c *RankCurve) look(ctx context.Context, x mat.Matrix, held []HeldOut, k int, seed uint64) error {
	n := len(held)
	bases, misfits, failed := make([]*mat.Dense, n), make([]float64, n), make([]error, n)
	parallel.Do(n, func(i int) {
		opt := Options{Rank: k, Iterations: 300, Tolerance: 1e-4, Seed: rng.Seed(seed, "rank", i)}
		res, err := Parts{HeldOut: held[i]}.Fit(ctx, x, Known{}, opt)
		if failed[i] = err; err != nil {
			return
		}
		off, whole := held[i].Misfit(x, res)
		if whole == 0 {
			failed[i] = errors.New("too little data: all held-out entries are 0")
		}
		bases[i], misfits[i] = res.Basis, off/whole
	})
	if err := cmp.Or(failed...); err != nil {
		return err
	}
	at, _ := slices.BinarySearch(c.Rank, k)
	mean, deviation := elementary.MeanStdDev(misfits)
	c.Rank = slices.Insert(c.Rank, at, k)
	c.Misfit = slices.Insert(c.Misfit, at, mean)
	c.Deviation = slices.Insert(c.Deviation, at, deviation/math.Sqrt(float64(n)))
	c.Stability = slices.Insert(c.Stability, at, stability(bases))
	return nil
}

// Best returns the place of the rank that the rule chooses.
func (c *RankCurve) Best(by RankRule) int {
	if by == RankStability {
		for at, s := range slices.Backward(c.Stability) {
			if s >= rankStable {
				return at
			}
		}
		return floats.MaxIdx(c.Stability)
	}
	least := floats.MinIdx(c.Misfit)
	return slices.IndexFunc(c.Misfit, func(misfit float64) bool { return misfit <= c.Misfit[least]+c.Deviation[least] })
}

// stability returns how alike the columns of the bases, m×k, are.
func stability(bases []*mat.Dense) (sum float64) {
	units := make([]*mat.Dense, len(bases)) // k×m
	for i, b := range bases {
		units[i] = algebra.Transpose(b)
		algebra.DivideRows(units[i], algebra.Lengths(units[i]))
	}
	pairs := 0
	for a := range units {
		for b := range a {
			k, _ := units[a].Dims()
			cosines := mat.NewDense(k, k, nil)
			algebra.Gemm(cosines, units[a], algebra.NoTrans, units[b], algebra.Trans)
			for r := range k {
				sum += min(mat.Max(cosines.RowView(r)), 1) + min(mat.Max(cosines.ColView(r)), 1)
			}
			pairs += 2 * k
		}
	}
	return sum / float64(pairs)
}
