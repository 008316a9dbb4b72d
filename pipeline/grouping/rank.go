package grouping

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/internal/fitting"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// ChooseRank chooses the number of basis vectors of the inputs, by NMF and without labels. It
// calls progress, which may be nil, after each rank of "choosing the rank". A panic is an error.
func ChooseRank(ctx context.Context, a spec.AutoRank, in *input.Inputs, seed uint64, progress input.Progress) (*spec.RankChoice, error) {
	return input.Reported(ctx, progress, func(r *input.Reporter) (*spec.RankChoice, error) {
		return chooseRankOf(ctx, a, in, seed, r.Of("choosing the rank"))
	})
}

func chooseRankOf(ctx context.Context, a spec.AutoRank, in *input.Inputs, seed uint64, progress func(done, total int)) (*spec.RankChoice, error) {
	if in.X == nil {
		return nil, errors.New("the rank is not chosen by samples that are read in blocks: set rank")
	}
	if err := in.CheckRankSigns(); err != nil {
		return nil, err
	}
	n, m := in.Dims()
	s := fitting.Problem{N: n, M: m}
	s.Sparse, s.Stored = in.Density()
	release, err := memory.FromContext(ctx).Acquire(ctx, fitting.RankMemory(a, s), fmt.Sprintf("choosing the rank of %d samples of %d features", n, m))
	if err != nil {
		return nil, err
	}
	defer release()
	c, err := fitting.ChooseRank(ctx, a, in.X, rng.Seed(seed, "rank"), progress)
	return c, in.NameRows(err, nil)
}
