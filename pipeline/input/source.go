package input

import (
	"context"
	"errors"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/matrix"
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
	return len(in.Rows), in.learner.columns()
}

// Density returns whether the features are sparse, and the mean number of stored values of a sample.
func (in *Inputs) Density() (isSparse bool, stored float64) {
	if in.learner != nil {
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

// View is the features of a draw's samples and of its test samples. Rows are copied at the first call.
type View struct {
	X, Test func() mat.Matrix
	Learned
}

// View returns the features of the rows of a draw, learned from train; test are the rows to classify. seed is the
// draw's seed.
func (in *Inputs) View(ctx context.Context, train, test []int, seed uint64) (*View, error) {
	picked := func(x mat.Matrix, rows []int) func() mat.Matrix {
		return sync.OnceValue(func() mat.Matrix { return matrix.SelectRows(x, rows) })
	}
	switch {
	case in.X != nil:
		return &View{picked(in.X, train), picked(in.X, test), in.Learned}, nil
	case in.Blocks != nil:
		return nil, errors.New("experiments do not support inputs in batches")
	case in.Bag != nil:
		defer timing.Start(ctx, timing.DrawnWords)()
	}
	samples := append(matrix.Take(in.Rows, train), matrix.Take(in.Rows, test)...)
	all, learned, err := in.learner.learn(ctx, samples, len(train), seed)
	if err != nil {
		return nil, err
	}
	places := matrix.Range(len(samples))
	x, other := matrix.SelectRows(all, places[:len(train)]), matrix.SelectRows(all, places[len(train):])
	return &View{func() mat.Matrix { return x }, func() mat.Matrix { return other }, learned}, nil
}
