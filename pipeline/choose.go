package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

const (
	rankSamples  = 1000 // for the choice of a rank, at most
	countSamples = 1000 // for the choice of a number of groups, at most
)

// chooseCount chooses the number of groups of samples, a row each, or of 1,000 of them that are
// drawn: that with the largest gap of eigenvalues.
func chooseCount(ctx context.Context, x mat.Matrix, from, to int, seed uint64) (*CountChoice, error) {
	if n, _ := x.Dims(); n > countSamples {
		x = matrix.SelectRows(x, someRows(n, countSamples, nil, false, seed))
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

// chooseRank chooses the rank of samples, a row each, or of 1,000 of them that are drawn.
func chooseRank(ctx context.Context, a spec.AutoRank, x mat.Matrix, seed uint64, progress func(done, total int)) (*RankChoice, error) {
	n, m := x.Dims()
	var rows []int
	if n > rankSamples {
		rows = someRows(n, rankSamples, nil, false, seed)
		x, n = matrix.SelectRows(x, rows), rankSamples
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

// rankMemory is about how many bytes it takes to choose the rank of a problem.
func rankMemory(a spec.AutoRank, s problem) int64 {
	size := factor.Size{Samples: min(s.n, rankSamples), Features: s.m, Rank: a.Most()}
	if s.sparse {
		size.Stored = int(max(s.stored*float64(size.Samples), 1))
	}
	return factor.RankMemory(size)
}

// someRows returns at most so many of n rows, drawn at random, labelled rows first if labels count.
func someRows(n, most int, labels []int, labelled bool, seed uint64) []int {
	order := rng.New(seed, "samples looked at").Perm(n)
	if labelled {
		slices.SortStableFunc(order, func(i, j int) int { return min(labels[j], 0) - min(labels[i], 0) })
	}
	rows := order[:min(n, most)]
	slices.Sort(rows)
	return rows
}
