package fitting

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
	CountSamples = 1000 // for the choice of a number of groups, at most
)

// ChooseCount chooses the number of groups of samples, a row each, or of 1,000 of them that are
// drawn: that with the largest gap of eigenvalues.
func ChooseCount(ctx context.Context, x mat.Matrix, from, to int, seed uint64) (*spec.CountChoice, error) {
	if n, _ := x.Dims(); n > CountSamples {
		x = matrix.SelectRows(x, SomeRows(n, CountSamples, nil, false, seed))
	}
	if n, _ := x.Dims(); to >= n {
		return nil, fmt.Errorf("choosing the number of groups: up to %d of the %d samples that are looked at", to, n)
	}
	gaps, err := cluster.EigenGaps(ctx, x, to)
	if err != nil {
		return nil, fmt.Errorf("choosing the number of groups: %w", err)
	}
	gaps = gaps[from-1:]
	return &spec.CountChoice{K: from + floats.MaxIdx(gaps), From: from, Gap: gaps}, nil
}

// ChooseRank chooses the rank of samples, a row each, or of 1,000 of them that are drawn.
func ChooseRank(ctx context.Context, a spec.AutoRank, x mat.Matrix, seed uint64, progress func(done, total int)) (*spec.RankChoice, error) {
	n, m := x.Dims()
	var rows []int
	if n > rankSamples {
		rows = SomeRows(n, rankSamples, nil, false, seed)
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
	return &spec.RankChoice{Rank: rank, By: a.By, Curve: curve}, nil
}

// RankMemory is about how many bytes it takes to choose the rank of a problem.
func RankMemory(a spec.AutoRank, s Problem) int64 {
	size := factor.Size{Samples: min(s.N, rankSamples), Features: s.M, Rank: a.Most()}
	if s.Sparse {
		size.Stored = int(max(s.Stored*float64(size.Samples), 1))
	}
	return factor.RankMemory(size)
}

// SomeRows returns at most so many of n rows, drawn at random, labelled rows first if labels count.
func SomeRows(n, most int, labels []int, labelled bool, seed uint64) []int {
	order := rng.New(seed, "samples looked at").Perm(n)
	if labelled {
		slices.SortStableFunc(order, func(i, j int) int { return min(labels[j], 0) - min(labels[i], 0) })
	}
	rows := order[:min(n, most)]
	slices.Sort(rows)
	return rows
}
