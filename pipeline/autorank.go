package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/internal/settings"
)

// AutoRank says that the number of basis vectors is chosen by the samples, without labels: see
// [factor.ChooseRank]. Its zero value is auto.
type AutoRank struct {
	Among RankRange       `json:",omitzero" setting:"among" help:"from which ranks, as in 2..40"`
	By    factor.RankRule `json:",omitempty" setting:"by" help:"by what: entries that are held out, or basis vectors that are the same from every start"`
}

// RankRange is a range of ranks; its zero value is from 2 to 40, or to half of the samples or
// features.
type RankRange struct{ From, To int }

const (
	autoText     = "auto"
	mostAutoRank = 40   // where no range is given
	rankSamples  = 1000 // are looked at, at most
	mostMisfit   = 1e30 // that a record may hold
)

// DecodeSetting reads auto or a range such as 2..40.
func (r *RankRange) DecodeSetting(v *settings.Value) error {
	*r = RankRange{}
	if v.Text == autoText {
		return nil
	}
	a, b, err := interval(v.Text)
	if err != nil || a < 1 || b < a || b > maxClasses {
		return v.Errorf("%q is no range of ranks such as 2..40", v.Text)
	}
	r.From, r.To = a, b
	return nil
}

// String returns what an experiment file would hold.
func (r RankRange) String() string {
	if r.To == 0 {
		return autoText
	}
	return fmt.Sprintf("%d..%d", r.From, r.To)
}

// String returns the choice in words.
func (a AutoRank) String() string {
	if a.Among.To == 0 {
		return fmt.Sprintf("auto, by %s", a.By)
	}
	return fmt.Sprintf("auto, from %s by %s", a.Among, a.By)
}

// most is the largest rank that can be chosen.
func (a AutoRank) most() int {
	if a.Among.To == 0 {
		return mostAutoRank
	}
	return a.Among.To
}

// check reports that there is no rank of the range for n samples.
func (a AutoRank) check(n int) error {
	if a.Among.From > n {
		return fmt.Errorf("rank: %s begins above the %d samples that there may be", a.Among, n)
	}
	return nil
}

// RankChoice is a rank that was chosen, and why.
type RankChoice struct {
	Rank  int               `json:"rank"`
	By    factor.RankRule   `json:"by"`
	Curve *factor.RankCurve `json:"curve"`
}

// String says which rank was chosen among which, and by what.
func (c RankChoice) String() string {
	ranks := c.Curve.Rank
	at := c.Curve.Best(c.By)
	return fmt.Sprintf("rank %d, chosen from %d to %d by %s (held-out misfit %.1f %%, stability %.2f)",
		c.Rank, ranks[0], ranks[len(ranks)-1], c.By, 100*c.Curve.Misfit[at], c.Curve.Stability[at])
}

// AtLimit tells whether the rank is the largest that was tried, and below the most that the data have.
func (c RankChoice) AtLimit(most int) bool {
	return c.Rank < most && c.Rank == slices.Max(c.Curve.Rank)
}

// AtLimitNote says so, of how many draws where there are several.
func (c RankChoice) AtLimitNote(draws string) string {
	return fmt.Sprintf("rank: auto ended at its limit%s: %d is the largest rank that was tried, and a larger one may be better, as in among=2..%d", draws, c.Rank, 2*c.Rank)
}

// Check reports parts of the choice that are missing or do not fit together.
func (c *RankChoice) Check() error {
	n := 0
	if c.Curve != nil {
		n = len(c.Curve.Rank)
	}
	if n == 0 || n > maxClasses || len(c.Curve.Misfit) != n || len(c.Curve.Deviation) != n || len(c.Curve.Stability) != n {
		return errors.New("a choice of the rank without a curve")
	}
	within := func(v, most float64) bool { return v >= 0 && v <= most }
	for i, k := range c.Curve.Rank {
		if k < 1 || k > maxClasses || i > 0 && k <= c.Curve.Rank[i-1] || !within(c.Curve.Misfit[i], mostMisfit) || !within(c.Curve.Deviation[i], mostMisfit) || !within(c.Curve.Stability[i], 1) {
			return fmt.Errorf("a choice of the rank among %v", c.Curve.Rank)
		}
	}
	return nil
}

// choose chooses the rank of samples, a row each, or of 1,000 of them that are drawn.
func (a AutoRank) choose(ctx context.Context, x mat.Matrix, seed uint64, progress func(done, total int)) (*RankChoice, error) {
	n, m := x.Dims()
	var rows []int
	if n > rankSamples {
		rows = someRows(n, rankSamples, nil, false, seed)
		x, n = selectRows(x, rows), rankSamples
	}
	s := factor.RankSearch{By: a.By, From: a.Among.From, To: min(a.Among.To, n, m), Seed: seed, Progress: progress}
	rank, curve, err := factor.ChooseRank(ctx, x, s)
	var bad *factor.SampleError
	if errors.As(err, &bad) && rows != nil {
		bad.Sample = rows[bad.Sample]
	}
	if err != nil {
		return nil, fmt.Errorf("choosing the rank: %w", err)
	}
	return &RankChoice{rank, a.By, curve}, nil
}

// ChooseRank chooses the number of basis vectors of the inputs, by NMF and without labels. It
// calls progress, which may be nil, after each rank of "choosing the rank". A panic is an error.
func (a AutoRank) ChooseRank(ctx context.Context, in *Inputs, seed uint64, progress Progress) (*RankChoice, error) {
	return reported(ctx, progress, func(r *reporter) (*RankChoice, error) {
		return a.chooseFor(ctx, in, seed, r.of("choosing the rank"))
	})
}

func (a AutoRank) chooseFor(ctx context.Context, in *Inputs, seed uint64, progress func(done, total int)) (*RankChoice, error) {
	if in.X == nil {
		return nil, errors.New("the rank is not chosen by samples that are read in blocks: set rank")
	}
	if err := in.checkRankSigns(); err != nil {
		return nil, err
	}
	n, m := in.Dims()
	s := problem{n: n, m: m}
	s.sparse, s.stored = in.source().density()
	release, err := memory.FromContext(ctx).Acquire(ctx, a.memory(s), fmt.Sprintf("choosing the rank of %d samples of %d features", n, m))
	if err != nil {
		return nil, err
	}
	defer release()
	c, err := a.choose(ctx, in.X, rng.Seed(seed, "rank"), progress)
	return c, in.nameRows(err, nil)
}

// memory is about how many bytes it takes to choose the rank of a problem.
func (a AutoRank) memory(s problem) int64 {
	size := factor.Size{Samples: min(s.n, rankSamples), Features: s.m, Rank: a.most()}
	if s.sparse {
		size.Stored = int(max(s.stored*float64(size.Samples), 1))
	}
	return factor.RankMemory(size)
}

// ranked returns the groups with a rank that is chosen already.
func (g Groups) ranked(ctx context.Context, in *Inputs) (Groups, error) {
	if _, own := builtin(g.Method.Name); own || g.Rank == nil || g.Rank.Auto == nil {
		return g, nil
	}
	c, err := g.Rank.Auto.chooseFor(ctx, in, g.Seed, nil)
	if err == nil {
		g.Rank = &Rank{Fixed: true, Plus: c.Rank}
	}
	return g, err
}

// checkRankSigns reports values by which no rank is chosen.
func (in *Inputs) checkRankSigns() error {
	if in.HasNegative() {
		return fmt.Errorf("the rank is chosen by NMF, which needs values of 0 or more, and %s has others: say it with a number", in.Set.Name)
	}
	return nil
}
