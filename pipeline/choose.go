package pipeline

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/rng"
)

const rankSamples = 1000 // are looked at, at most

// chooseCount chooses the number of groups of samples, a row each, or of 1,000 of them that are
// drawn: that with the largest gap of eigenvalues.
func chooseCount(ctx context.Context, x mat.Matrix, from, to int, seed uint64) (*CountChoice, error) {
	if n, _ := x.Dims(); n > countSamples {
		x = selectRows(x, someRows(n, countSamples, nil, false, seed))
	}
	if n, _ := x.Dims(); to >= n {
		return nil, fmt.Errorf("choosing the number of groups: up to %d of the %d samples that are looked at", to, n)
	}
	gaps, err := cluster.EigenGaps(ctx, x, to)
	if err != nil {
		return nil, fmt.Errorf("choosing the number of groups: %w", err)
	}
	gaps = gaps[from-1:]
	return &CountChoice{K: from + floats.MaxIdx(gaps), From: from, Gap: gaps}, nil
}

// countGroups sets into how many groups the samples of a draw are put, which it returns: one
// number for all methods.
func (p *Plan) countGroups(ctx context.Context, d *drawn, seen *view, rec *Record) (int, error) {
	e := p.Experiment
	from, to := e.Cluster.K.within(len(d.rows), d.id.k, !e.Labels.None())
	if e.Cluster.K == (GroupCount{}) {
		return from, nil
	}
	rec.Groups = from
	if !e.Cluster.K.Auto {
		return from, nil
	}
	var err error
	if rec.Count, err = d.count.get(ctx, func() (*CountChoice, error) {
		return chooseCount(ctx, seen.x(), from, to, rng.Seed(e.Seed, "number of groups", d.id.k, d.id.repeat))
	}); err != nil {
		return 0, err
	}
	rec.Groups = rec.Count.K
	return rec.Groups, nil
}

// chooseRank chooses the rank of samples, a row each, or of 1,000 of them that are drawn.
func chooseRank(ctx context.Context, a AutoRank, x mat.Matrix, seed uint64, progress func(done, total int)) (*RankChoice, error) {
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
func ChooseRank(ctx context.Context, a AutoRank, in *Inputs, seed uint64, progress Progress) (*RankChoice, error) {
	return reported(ctx, progress, func(r *reporter) (*RankChoice, error) {
		return chooseRankOf(ctx, a, in, seed, r.of("choosing the rank"))
	})
}

func chooseRankOf(ctx context.Context, a AutoRank, in *Inputs, seed uint64, progress func(done, total int)) (*RankChoice, error) {
	if in.X == nil {
		return nil, errors.New("the rank is not chosen by samples that are read in blocks: set rank")
	}
	if err := in.checkRankSigns(); err != nil {
		return nil, err
	}
	n, m := in.Dims()
	s := problem{n: n, m: m}
	s.sparse, s.stored = in.source().density()
	release, err := memory.FromContext(ctx).Acquire(ctx, rankMemory(a, s), fmt.Sprintf("choosing the rank of %d samples of %d features", n, m))
	if err != nil {
		return nil, err
	}
	defer release()
	c, err := chooseRank(ctx, a, in.X, rng.Seed(seed, "rank"), progress)
	return c, in.nameRows(err, nil)
}

// rankMemory is about how many bytes it takes to choose the rank of a problem.
func rankMemory(a AutoRank, s problem) int64 {
	size := factor.Size{Samples: min(s.n, rankSamples), Features: s.m, Rank: a.most()}
	if s.sparse {
		size.Stored = int(max(s.stored*float64(size.Samples), 1))
	}
	return factor.RankMemory(size)
}
