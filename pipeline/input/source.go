package input

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/sparse"
	"github.com/seed4492f2cd/partwise/internal/timing"
)

// The features come from X, from Blocks, or from a learner that each draw runs.

// Dims returns the number of samples and of features.
func (in *Inputs) Dims() (n, m int) {
	switch {
	case in.X != nil:
		return in.X.Dims()
	case in.Blocks != nil:
		return in.Blocks.Dims()
	}
	n = len(in.Rows)
	return n, cluster.Propagation{Ridge: in.Features.Whiten}.Columns(n, in.learner.columns())
}

// Density returns whether the features are sparse, and the mean number of stored values of a sample.
func (in *Inputs) Density() (isSparse bool, stored float64) {
	if in.learner != nil && !in.Features.Transductive() {
		return in.learner.density(in.Rows)
	}
	x, isSparse := in.X.(*sparse.CSR)
	if !isSparse {
		return false, 0
	}
	n, _ := x.Dims()
	return true, float64(x.NNZ()) / float64(n)
}

// FirstNegative returns the first negative value and its place. Blocks are not searched: their reader checks them.
func (in *Inputs) FirstNegative() (row, column int, value float64, found bool) {
	switch {
	case in.X != nil:
		return matrix.FirstNegative(in.X, matrix.AllRows(in.X))
	case in.learner != nil:
		return in.learner.firstNegative(in.Rows)
	}
	return 0, 0, 0, false
}

// PerDraw reports whether each draw learns its own features.
func (in *Inputs) PerDraw() bool {
	return in.X == nil || in.Features.Transductive()
}

// propagate whitens and propagates features as the settings say, and adds what new samples need to learned.
func (in *Inputs) propagate(ctx context.Context, x mat.Matrix, classes int, learned *Learned) (mat.Matrix, error) {
	f := in.Features
	if !f.Transductive() {
		return x, nil
	}
	by := cluster.Propagation{Ridge: f.Whiten, Share: f.Propagate, Clusters: classes}
	n, m := x.Dims()
	release, err := memory.FromContext(ctx).Acquire(ctx, int64(by.Memory(n, m)), describeSize("whitening and propagating "+in.Set.Name, n, m))
	if err != nil {
		return nil, err
	}
	defer release()
	var y *mat.Dense
	if learned.Propagated = f.Propagated; learned.Propagated != nil {
		y, err = learned.Propagated.Transform(ctx, x)
	} else {
		y, learned.Propagated, err = by.Fit(ctx, x)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", in.Set.Name, err)
	}
	return y, nil
}

// View is the features of a draw's samples, of its test samples, and of both. Rows are copied at the first call.
type View struct {
	X, Test, Both func() mat.Matrix
	Learned
}

// View returns the features of the rows of a draw of some classes, learned from train; test are the rows to classify.
// Whitening and propagation learn from both. seed is the draw's seed.
func (in *Inputs) View(ctx context.Context, train, test []int, classes int, seed uint64) (*View, error) {
	picked := func(x mat.Matrix, rows []int) func() mat.Matrix {
		return sync.OnceValue(func() mat.Matrix { return matrix.SelectRows(x, rows) })
	}
	both := slices.Concat(train, test)
	places := matrix.Range(len(both))
	switch {
	case in.X != nil && in.PerDraw() && len(both) < len(in.Rows):
		x, learned := matrix.SelectRows(in.extracted, both), in.Learned
		x, err := in.propagate(ctx, x, classes, &learned)
		return &View{picked(x, places[:len(train)]), picked(x, places[len(train):]), picked(x, places), learned}, err
	case in.X != nil:
		return &View{picked(in.X, train), picked(in.X, test), picked(in.X, both), in.Learned}, nil
	case in.Blocks != nil:
		return nil, errors.New("experiments do not support inputs in batches")
	case in.Bag != nil:
		defer timing.Start(ctx, timing.DrawnWords)()
	}
	all, learned, err := in.learner.learn(ctx, matrix.Take(in.Rows, both), len(train), seed)
	if err == nil {
		all, err = in.propagate(ctx, all, classes, &learned)
	}
	if err != nil {
		return nil, err
	}
	x, other := matrix.SelectRows(all, places[:len(train)]), matrix.SelectRows(all, places[len(train):])
	return &View{func() mat.Matrix { return x }, func() mat.Matrix { return other }, func() mat.Matrix { return all }, learned}, nil
}
