package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/internal/settings"
)

// AutoRank chooses the number of basis vectors by the samples, without labels: see [factor.ChooseRank].
type AutoRank struct {
	Among RankRange       `json:",omitzero" setting:"among" help:"from which ranks, as in 2..40"`
	By    factor.RankRule `json:",omitempty" setting:"by" help:"by what: entries that are held out, or basis vectors that are the same from every start"`
}

// RankRange is a range of ranks; its zero value is from 2 to 40, or half of the samples or features.
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

// String returns the form of an experiment file.
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

// check returns an error if no rank of the range is possible with n samples.
func (a AutoRank) check(n int) error {
	if a.Among.From > n {
		return fmt.Errorf("rank: %s begins above the %d samples that there may be", a.Among, n)
	}
	return nil
}

// RankChoice is a chosen rank, and the reason.
type RankChoice struct {
	Rank  int               `json:"rank"`
	By    factor.RankRule   `json:"by"`
	Curve *factor.RankCurve `json:"curve"`
}

// String describes the choice.
func (c RankChoice) String() string {
	ranks, at := c.Curve.Rank, c.Curve.Best(c.By)
	return fmt.Sprintf("rank %d, chosen from %d to %d by %s (held-out misfit %.1f %%, stability %.2f)",
		c.Rank, ranks[0], ranks[len(ranks)-1], c.By, 100*c.Curve.Misfit[at], c.Curve.Stability[at])
}

// AtLimit tells whether the rank is the largest tried one, and below the most that the data allow.
func (c RankChoice) AtLimit(most int) bool {
	return c.Rank < most && c.Rank == slices.Max(c.Curve.Rank)
}

// AtLimitNote is the warning of a rank at its limit, in the given draws.
func (c RankChoice) AtLimitNote(draws string) string {
	return fmt.Sprintf("rank: auto ended at its limit%s: %d is the largest rank that was tried, and a larger one may be better, as in among=2..%d", draws, c.Rank, 2*c.Rank)
}

// Check returns an error for missing or impossible parts of the choice.
func (c *RankChoice) Check() error {
	if c.Curve == nil || len(c.Curve.Rank) == 0 || len(c.Curve.Rank) > maxClasses {
		return errors.New("a choice of the rank without a curve")
	}
	valid := c.Curve.Rank[0] >= 1 && slices.Max(c.Curve.Rank) <= maxClasses
	for i, k := range c.Curve.Rank[1:] {
		valid = valid && k > c.Curve.Rank[i]
	}
	for _, of := range []struct {
		values []float64
		most   float64
	}{{c.Curve.Misfit, mostMisfit}, {c.Curve.Deviation, mostMisfit}, {c.Curve.Stability, 1}} {
		valid = valid && len(of.values) == len(c.Curve.Rank) && floats.Min(of.values) >= 0 && floats.Max(of.values) <= of.most
	}
	if !valid {
		return fmt.Errorf("a choice of the rank among %v", c.Curve.Rank)
	}
	return nil
}

// choose chooses the rank of samples, a row each, or of 1,000 drawn ones.
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

// ChooseRank chooses the number of basis vectors of the inputs. It calls progress, which may be nil, after
// each rank of "choosing the rank". A panic is an error.
func (a AutoRank) ChooseRank(ctx context.Context, in *Inputs, seed uint64, progress Progress) (*RankChoice, error) {
	return reported(ctx, progress, func(r *reporter) (*RankChoice, error) {
		return a.chooseFor(ctx, in, seed, r.of("choosing the rank"))
	})
}

func (a AutoRank) chooseFor(ctx context.Context, in *Inputs, seed uint64, progress func(done, total int)) (*RankChoice, error) {
	if in.X == nil {
		return nil, errors.New("the rank is not chosen by samples that are read in blocks: say it with --rank")
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

// memory estimates the bytes that choosing the rank of a problem takes.
func (a AutoRank) memory(s problem) int64 {
	size := factor.Size{Samples: min(s.n, rankSamples), Features: s.m, Rank: a.most()}
	if s.sparse {
		size.Stored = int(max(s.stored*float64(size.Samples), 1))
	}
	return factor.RankMemory(size)
}

// checkRankSigns returns an error for values below 0, by which no rank is chosen.
func (in *Inputs) checkRankSigns() error {
	if in.HasNegative() {
		return fmt.Errorf("the rank is chosen by NMF, which needs values of 0 or more, and %s has others: say it with a number", in.Set.Name)
	}
	return nil
}
