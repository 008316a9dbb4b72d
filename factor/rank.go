package factor

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/internal/settings/enum"
	"github.com/seed4492f2cd/partwise/internal/simd"
	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// HeldOut lists entries of the data that are excluded from a fit: for each sample its columns, in increasing order. The
// error of their prediction measures the quality of a rank. See [Parts.HeldOut].
type HeldOut [][]int

// HoldOut draws held-out entries of n×m data (Wold 1978). Each entry is drawn with probability share, from 0 to 1; each
// sample has its own random stream.
func HoldOut(n, m int, share float64, seed uint64) HeldOut {
	h := make(HeldOut, n)
	if !(share > 0) {
		return h
	}
	for i := range h {
		src := rng.New(seed, "held out", i)
		gap := func() int { // entries before the next held-out one; 0 if share is 1
			return int(min(elementary.Log(1-src.Float64())/elementary.Log1p(-min(share, 1)), math.MaxInt32))
		}
		for j := gap(); j < m; j += 1 + gap() {
			h[i] = append(h[i], j)
		}
	}
	return h
}

// Hide returns x without the held-out entries, which become missing. It first removes entries from h that are missing in
// x, and those without which a sample or a feature would have no observed entry.
func (h HeldOut) Hide(x mat.Matrix) *Weighted {
	n, m := x.Dims()
	values, left := mat.NewDense(n, m, nil), &Weighted{}
	if of, ok := x.(*Weighted); ok {
		*left = *of
	}
	left.Matrix = values
	rows, columns := make([]int, n), make([]int, m) // the number of observed entries
	for i := range n {
		matrix.Row(values.RawRowView(i), i, x)
		for j := range m {
			if !left.Missing(i, j) {
				rows[i]++
				columns[j]++
			}
		}
	}
	for i := range n {
		h[i] = slices.DeleteFunc(h[i], func(j int) bool {
			if left.Missing(i, j) || min(rows[i], columns[j]) < 2 {
				return true
			}
			values.Set(i, j, math.NaN())
			rows[i]--
			columns[j]--
			return false
		})
	}
	return left
}

// Misfit returns misfit = Σ (x − y)² and whole = Σ x² over the held-out entries, with Y = V·Uᵀ from the result r, and with
// the weights of the entries of x. x is the data of the fit, n×m, dense, a *CSR or a [Weighted]. r.Basis must not be nil.
func (h HeldOut) Misfit(x mat.Matrix, r *Result) (misfit, whole float64) {
	return h.misfit(x, func(i, j int) float64 { return algebra.Dot(r.Coefficients.RawRowView(i), r.Basis.RawRowView(j)) })
}

func (h HeldOut) misfit(x mat.Matrix, y func(i, j int) float64) (misfit, whole float64) {
	_, m := x.Dims()
	row := make([]float64, m)
	for i, columns := range h {
		if len(columns) == 0 {
			continue
		}
		matrix.Row(row, i, x)
		for _, j := range columns {
			w, d := 1.0, row[j]-y(i, j)
			if of, ok := x.(*Weighted); ok && of.Entries != nil {
				w = of.Entries.At(i, j)
			}
			misfit += w * d * d
			whole += w * row[j] * row[j]
		}
	}
	return misfit, whole
}

// supports returns an error if p does not support held-out entries.
func (h HeldOut) supports(p Parts) error {
	plain := (p.Cost == CostFrobenius || p.Cost == CostKL) && p.Basis == BasisFree && p.Tie == TieNone
	if h == nil || plain && p.Weighting == WeightingEqual && len(p.Penalties) == 0 && !p.UnitNorm && !p.EntryWeights && p.Fixed == nil {
		return nil
	}
	return errors.New("held-out entries need cost frobenius or kl and basis free, without ties, weights, penalties, unit-norm and fixed basis vectors")
}

// split returns the matrix that is 1 at held-out entries, and the data with these entries set to 0. If h is nil, held is
// nil and rest is d. It calls guard.Fail.
func (h HeldOut) split(d view.Data) (held *CSR, rest view.Data) {
	if h == nil {
		return nil, d
	}
	n, m := d.Dims()
	guard.FailIf(len(h) != n, "held-out entries of %d samples; expected %d", len(h), n)
	start, columns := make([]int, 1, n+1), []int{}
	for _, of := range h {
		columns = append(columns, of...)
		start = append(start, len(columns))
	}
	held, err := sparse.New(n, m, start, columns, slices.Repeat([]float64{1}, len(columns)))
	guard.Check(guard.Wrap(err, "entries held out"))
	if s, ok := d.(*view.Sparse); ok {
		left := make([]sparse.Entry, 0, s.X.NNZ())
		d.Each(func(i, j int, x float64) {
			if _, out := slices.BinarySearch(h[i], j); !out {
				left = append(left, sparse.Entry{Row: i, Col: j, Value: x})
			}
		})
		return held, view.NewSparse(sparse.FromEntries(n, m, left))
	}
	x := mat.DenseCopyOf(d.Matrix())
	for i, of := range h {
		for _, j := range of {
			x.Set(i, j, 0)
		}
	}
	return held, view.Dense{X: x}
}

// maskedCost is a cost without the held-out entries, which are 0 in the data. Its value is the cost of all entries minus
// Σ y² over the held-out ones, or Σ y under the divergence, with Y = vᵀu.
//
// Its blocks come from the data with held-out entries imputed by the current reconstruction (expectation
// maximisation: Srebro and Jaakkola 2003; Zhang, Wang, Ford and Makedon 2006). The cost of the imputed data is an
// upper bound that is tight at the current factors, so a step that does not raise it does not raise this cost. The
// overhead is O(held-out entries · k).
type maskedCost struct {
	cost
	x        view.Data
	kl       bool
	term     func(x, y float64) float64
	held     *view.Sparse // 1 at held-out entries
	u, v     *mat.Dense
	inU      *mat.Dense // contribution of the imputed entries to the linear part of the block in u
	heldCost float64    // cost of the held-out entries
	upToDate bool       // inU and less are up to date
}

func (c *maskedCost) moved(v bool) {
	c.upToDate = false
	c.cost.moved(v)
}

func (c *maskedCost) update() {
	switch {
	case c.upToDate:
	case c.kl:
		c.held.TimesCoefficients(c.inU, c.v)
		c.heldCost = algebra.Inner(c.inU, c.u)
	default:
		c.heldCost = c.held.Along(c.inU, c.held.ByFeature(), c.u, c.v, squares)
	}
	c.upToDate = true
}

// squares adds Σ y·row to sum, with y = a·row for each selected row, and returns Σ y².
func squares(sum, a, rows []float64, at []int, _, y []float64) float64 {
	simd.Dots(y, a, rows, at)
	simd.AddRows(sum, y, rows, at)
	return algebra.Dot(y, y)
}

func (c *maskedCost) basisBlock() Block {
	c.update()
	return addLinear(c.cost.basisBlock(), c.inU)
}

func (c *maskedCost) coefficientBlock() Block {
	in := algebra.Like(c.v)
	if c.kl {
		c.held.TimesBasis(in, c.u)
	} else {
		c.held.Along(in, c.held.Samples, c.v, c.u, squares)
	}
	return addLinear(c.cost.coefficientBlock(), in)
}

func addLinear(b Block, more *mat.Dense) Block {
	var sum mat.Dense
	sum.Add(more, b.Linear)
	b.Linear = &sum
	return b
}

func (c *maskedCost) value() float64 {
	whole := c.cost.value()
	c.update()
	if j := whole - c.heldCost; j >= nearZero*whole {
		return j
	}
	return c.termByTerm()
}

// termByTerm returns the cost summed over entries, without the cancellation in value.
func (c *maskedCost) termByTerm() (sum float64) {
	n, m := c.x.Dims()
	k, _ := c.u.Dims()
	sums := make([]float64, n)
	parallel.DoWork(n*m*k, n, func(i int) {
		x, y := make([]float64, m), make([]float64, m)
		matrix.Row(x, i, c.x.Matrix())
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

// RankRule is a criterion for the choice of a rank.
type RankRule int

const (
	// RankHeldOut chooses the smallest rank whose error on held-out entries is within one standard error of the
	// best (Breiman, Friedman, Olshen and Stone 1984).
	RankHeldOut RankRule = iota
	// RankStability chooses the largest rank with a stability of 0.98 or more, or else the rank with the highest
	// stability.
	RankStability
)

var rankRuleNames = enum.Of[RankRule]("rule", "held-out", "stability")

// String returns the name of the rule in settings.
func (r RankRule) String() string                   { return rankRuleNames.String(r) }
func (r *RankRule) UnmarshalText(name []byte) error { return rankRuleNames.UnmarshalText(r, name) }
func (r RankRule) MarshalText() ([]byte, error)     { return rankRuleNames.MarshalText(r) }
func (RankRule) Values() []string                   { return rankRuleNames.Values() }

// RankSearch holds the range of ranks and the criterion of [ChooseRank].
type RankSearch struct {
	By RankRule
	// From and To are the smallest and the largest rank; 0 means 2 for From, and min(40, n/2, m/2) for To.
	From, To int
	Seed     uint64 // the seed of initial factors and held-out entries
	// Progress, if set, is called after each rank with the number of ranks done and the largest total.
	Progress func(done, total int)
}

// Parameters of the search.
const (
	rankFits     = 5       // fits of each rank, each with its own held-out entries and initial factors
	rankShare    = 0.1     // fraction of held-out entries
	mostHeldOut  = 2 << 20 // largest number of held-out entries
	rankStable   = 0.98    // least stability for RankStability
	rankGrowth   = 1.25    // ratio of successive ranks in the first pass
	rankFineness = 20      // ranks are refined until neighbours differ by at most 1/rankFineness
)

// RankCurve holds the scores of the ranks of a search. All slices have the length of Rank.
type RankCurve struct {
	Rank []int `json:"rank"` // the ranks that were fitted, increasing
	// Misfit is the relative squared error Σ (x − y)²/Σ x² over held-out entries, averaged over five fits;
	// Deviation is its standard error.
	Misfit    []float64 `json:"misfit"`
	Deviation []float64 `json:"deviation"`
	// Stability, from 0 to 1, is the mean cosine between a basis vector of one fit and the most similar basis
	// vector of another.
	Stability []float64 `json:"stability"`
}

// ChooseRank chooses the number of basis vectors for NMF of the samples x, n×m, ≥ 0, dense, a *CSR or a [Weighted]. It fits each
// rank five times, each time with a tenth of the entries held out at random (Wold 1978; for NMF Kanagal and Sindhwani
// 2010). The similarity of the five bases is the stability of Wu et al. (2016). The search first tries ranks that grow
// by a factor of 1.25, then bisects around the best one. The result depends only on x and the rule, range and
// seed of s.
func ChooseRank(ctx context.Context, x mat.Matrix, s RankSearch) (rank int, curve *RankCurve, err error) {
	defer guard.Catch(&err)
	plain, _, _, err := view.Unweighted(x, true)
	guard.Check(err)
	d := guard.Must(view.New(plain))
	n, m := d.Dims()
	s = s.withDefaults(n, m)
	guard.Check(view.NonNegative(d, "this method"))
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
			guard.Within(func() { curve.evaluate(ctx, x, held, k, s.Seed) }, "rank %d", k)
			if s.Progress != nil {
				s.Progress(min(len(curve.Rank), total), total)
			}
		}
		todo = curve.midpoints(curve.Best(s.By))
	}
	return curve.Rank[curve.Best(s.By)], curve, nil
}

// RankMemory returns an estimate of the largest number of bytes that ChooseRank allocates; s.Rank is the largest rank.
func RankMemory(s Size) int64 {
	entries := float64(s.Samples) * float64(s.Features)
	if s.Weighted { // the samples are made dense
		s.Stored = 0
	}
	held := min(rankShare*entries, mostHeldOut)
	fit := float64(Parts{}.Memory(s)) + s.heldOut(held)
	if s.Weighted {
		fit += 8 * entries
	}
	return view.Bytes(rankFits * (fit + 8*held))
}

// withDefaults validates the range for n×m data and fills in its defaults. It calls guard.Fail.
func (s RankSearch) withDefaults(n, m int) RankSearch {
	guard.Check(checkEnums(s.By))
	most := min(n, m)
	s.From = cmp.Or(s.From, min(2, most))
	s.To = cmp.Or(s.To, max(s.From, min(40, most/2)))
	guard.FailIf(s.From < 1 || s.To < s.From || s.To > most,
		"ranks from %d to %d for %d samples of %d features; expected a rising range within 1 to %d", s.From, s.To, n, m, most)
	return s
}

// midpoints returns the midpoints between the rank at index at and its neighbours, unless they are too close.
func (c *RankCurve) midpoints(at int) (ranks []int) {
	for left := max(at-1, 0); left <= at && left+1 < len(c.Rank); left++ {
		a, b := c.Rank[left], c.Rank[left+1]
		if b-a > max(1, b/rankFineness) {
			ranks = append(ranks, (a+b)/2)
		}
	}
	return ranks
}

// evaluate adds the scores of rank k. It calls guard.Fail.
func (c *RankCurve) evaluate(ctx context.Context, x mat.Matrix, held []HeldOut, k int, seed uint64) {
	n := len(held)
	bases, misfits := make([]*mat.Dense, n), make([]float64, n)
	fit := func(i int) {
		opt := Options{Rank: k, Iterations: 300, Tolerance: 1e-4, Seed: rng.Seed(seed, "rank", i)}
		p, data := Parts{HeldOut: held[i]}, x
		if _, weighted := x.(*Weighted); weighted {
			p, data = Parts{}, held[i].Hide(x)
		}
		res := guard.Must(p.Fit(ctx, data, Known{}, opt))
		off, whole := held[i].Misfit(x, res)
		if left, weighted := data.(*Weighted); weighted {
			off, whole = held[i].misfit(x, guard.Must(Impute(ctx, res.Model, left, res.Coefficients)).At)
		}
		guard.FailIf(whole == 0, "too little data: all held-out entries are 0")
		bases[i], misfits[i] = res.Basis, off/whole
	}
	failed := make([]error, n)
	parallel.Do(n, func(i int) { failed[i] = guard.Try(func() { fit(i) }) })
	guard.Check(cmp.Or(failed...))
	at, _ := slices.BinarySearch(c.Rank, k)
	mean, deviation := elementary.MeanStdDev(misfits)
	c.Rank = slices.Insert(c.Rank, at, k)
	c.Misfit = slices.Insert(c.Misfit, at, mean)
	c.Deviation = slices.Insert(c.Deviation, at, deviation/math.Sqrt(float64(n)))
	c.Stability = slices.Insert(c.Stability, at, stability(bases))
}

// Best returns the index of the rank that the rule chooses.
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

// stability returns the mean cosine of best-matching columns over all pairs of bases, m×k.
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
