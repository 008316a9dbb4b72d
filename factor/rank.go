package factor

import (
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
)

// RankRule says by what a rank is chosen.
type RankRule int

const (
	// RankHeldOut takes the least rank that predicts entries that are held out as well as the
	// best does, within one standard error of that (Breiman, Friedman, Olshen and Stone 1984).
	RankHeldOut RankRule = iota
	// RankStability takes the largest rank whose basis vectors are the same from every start,
	// or the one with the most stable ones where no rank is.
	RankStability
)

var rankRuleNames = enum.Of[RankRule]("rule", "held-out", "stability")

// String, UnmarshalText, MarshalText and Values use the names that settings have.
func (r RankRule) String() string                   { return rankRuleNames.String(r) }
func (r *RankRule) UnmarshalText(name []byte) error { return rankRuleNames.UnmarshalText(r, name) }
func (r RankRule) MarshalText() ([]byte, error)     { return rankRuleNames.MarshalText(r) }
func (RankRule) Values() []string                   { return rankRuleNames.Values() }

// RankSearch says among which ranks one is chosen, and by what.
type RankSearch struct {
	By RankRule
	// From and To are the least and the largest rank; 0 means 2, and 40 or as many as half of
	// the samples or features.
	From, To int
	// Seed makes starts and what is held out repeatable.
	Seed uint64
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
	// Rank are the ranks that were looked at, rising.
	Rank []int `json:"rank"`
	// Misfit is the mean of Σ (x − y)²/Σ x² over the entries held out, of five fits with others
	// held out and other starts, and Deviation its standard error.
	Misfit    []float64 `json:"misfit"`
	Deviation []float64 `json:"deviation"`
	// Stability is how alike the basis vectors of the five fits are, from 0 to 1: the mean
	// cosine between a vector of one fit and the most similar one of another, over all
	// vectors and pairs of fits.
	Stability []float64 `json:"stability"`
}

// ChooseRank chooses the number of basis vectors of NMF of the samples x, n×m of values of 0 or
// more, dense or a *CSR, of which it knows no labels. Five fits of each rank have each a tenth of
// the entries held out, drawn at random over the whole matrix (Wold 1978; of NMF Kanagal and
// Sindhwani 2010; another way, blocks, is Owen and Perry 2009), and predict them by the product
// of their factors. How alike the basis vectors of the five are is the stability of Wu et al.
// (2016), 1 less their instability. It looks at ranks that grow by a quarter, and then between
// those next to the one chosen. The answer depends on x, rule, range and seed.
func ChooseRank(ctx context.Context, x mat.Matrix, s RankSearch) (rank int, curve *RankCurve, err error) {
	d, err := view.New(x)
	if err != nil {
		return 0, nil, err
	}
	n, m := d.Dims()
	if s, err = s.within(n, m); err != nil {
		return 0, nil, err
	}
	if i, j, value, signed := view.FirstNegative(d); signed {
		return 0, nil, view.NegativeError(i, j, value)
	}
	share := min(rankShare, mostHeldOut/(float64(n)*float64(m)))
	held := make([]HeldOut, rankFits)
	for fit := range held {
		held[fit] = HoldOut(n, m, share, rng.Seed(s.Seed, "rank", fit))
	}
	curve = &RankCurve{}
	todo := s.grid()
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

// RankMemory returns about how many bytes ChooseRank takes at most beside x, with Rank the
// largest rank.
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
	if s.From == 0 {
		s.From = min(2, most)
	}
	if s.To == 0 {
		s.To = max(s.From, min(40, most/2))
	}
	if s.From < 1 || s.To < s.From || s.To > most {
		return s, fmt.Errorf("ranks from %d to %d of %d samples of %d features; want two numbers from 1 to %d, the second not below the first", s.From, s.To, n, m, most)
	}
	return s, nil
}

// grid returns the ranks of the first look.
func (s RankSearch) grid() (ranks []int) {
	for k := s.From; k < s.To; k = max(k+1, int(rankGrowth*float64(k))) {
		ranks = append(ranks, k)
	}
	return append(ranks, s.To)
}

// between returns what lies in the middle between the rank at a place and those next to it.
func (c *RankCurve) between(at int) (ranks []int) {
	for _, pair := range [][2]int{{at - 1, at}, {at, at + 1}} {
		if pair[0] < 0 || pair[1] >= len(c.Rank) {
			continue
		}
		a, b := c.Rank[pair[0]], c.Rank[pair[1]]
		if b-a > max(1, b/rankFineness) {
			ranks = append(ranks, (a+b)/2)
		}
	}
	return ranks
}

// look adds a rank.
func (c *RankCurve) look(ctx context.Context, x mat.Matrix, held []HeldOut, k int, seed uint64) error {
	bases, misfits, failed := make([]*mat.Dense, len(held)), make([]float64, len(held)), make([]error, len(held))
	parallel.Do(len(held), func(i int) {
		res, err := Parts{HeldOut: held[i]}.Fit(ctx, x, Known{}, Options{Rank: k, Iterations: 300, Tolerance: 1e-4, Seed: rng.Seed(seed, "rank", i)})
		if err != nil {
			failed[i] = err
			return
		}
		off, whole := held[i].Misfit(x, res)
		if whole == 0 {
			failed[i] = errors.New("there is too little data: of a tenth of the entries none is other than 0")
			return
		}
		bases[i], misfits[i] = res.Basis, off/whole
	})
	if i := slices.IndexFunc(failed, func(err error) bool { return err != nil }); i >= 0 {
		return failed[i]
	}
	at, _ := slices.BinarySearch(c.Rank, k)
	mean, deviation := elementary.MeanStdDev(misfits)
	c.Rank = slices.Insert(c.Rank, at, k)
	c.Misfit = slices.Insert(c.Misfit, at, mean)
	c.Deviation = slices.Insert(c.Deviation, at, deviation/math.Sqrt(float64(len(misfits))))
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
