package pipeline

import (
	"context"
	"errors"
	"io"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/sparse"
	"github.com/seed4492f2cd/partwise/internal/timing"
)

// source is where the features of inputs come from: a matrix of all samples, blocks that are read
// in turn, or a learner that each draw runs.
type source interface {
	dims() (n, m int)
	// density tells whether the features are sparse, and how many values of a sample are stored then,
	// on average.
	density() (isSparse bool, stored float64)
	firstNegative() (row, column int, value float64, found bool)
	// fingerprint writes what results depend on.
	fingerprint(w io.Writer)
	// view returns the features of the rows of a draw: those that are learned from, and those that
	// are classified. seed is that of the draw.
	view(ctx context.Context, train, test []int, seed uint64) (*view, error)
}

func (in *Inputs) source() source {
	switch {
	case in.X != nil:
		return wholeMatrix{in}
	case in.Blocks != nil:
		return inputBlocks{in.Blocks}
	}
	return perDraw{in}
}

// wholeMatrix is X: all draws have the same features.
type wholeMatrix struct{ in *Inputs }

func (s wholeMatrix) dims() (n, m int) { return s.in.X.Dims() }

func (s wholeMatrix) density() (isSparse bool, stored float64) {
	x, isSparse := s.in.X.(*sparse.CSR)
	if !isSparse {
		return false, 0
	}
	n, _ := x.Dims()
	return true, float64(x.NNZ()) / float64(n)
}

func (s wholeMatrix) firstNegative() (row, column int, value float64, found bool) {
	return negativeAmong(s.in.X, allRows(s.in.X))
}

func (s wholeMatrix) fingerprint(w io.Writer) { digestRows(w, s.in.X, allRows(s.in.X)) }

func (s wholeMatrix) view(_ context.Context, train, test []int, _ uint64) (*view, error) {
	in := s.in
	return &view{picked(in.X, train), picked(in.X, test), in.Vocabulary, in.Scales, in.wordWeights}, nil
}

// inputBlocks are rows that do not fit into memory together. They are grouped, and not drawn from.
type inputBlocks struct{ *features.Blocks }

func (s inputBlocks) dims() (n, m int)                                      { return s.Dims() }
func (inputBlocks) density() (isSparse bool, stored float64)                { return false, 0 }
func (inputBlocks) firstNegative() (row, column int, value float64, _ bool) { return } // their reader looks
func (inputBlocks) fingerprint(io.Writer)                                   {}
func (inputBlocks) view(context.Context, []int, []int, uint64) (*view, error) {
	return nil, errors.New("an experiment needs all features in memory, and these inputs are read in blocks")
}

// perDraw are features that each draw of a classification learns from its training samples.
type perDraw struct{ in *Inputs }

func (s perDraw) dims() (n, m int) { return len(s.in.Rows), s.in.learner.columns() }

func (s perDraw) density() (isSparse bool, stored float64) { return s.in.learner.density(s.in.Rows) }

func (s perDraw) firstNegative() (row, column int, value float64, found bool) {
	return s.in.learner.firstNegative(s.in.Rows)
}

func (s perDraw) fingerprint(w io.Writer) { s.in.learner.fingerprint(w, s.in.Rows) }

func (s perDraw) view(ctx context.Context, train, test []int, seed uint64) (*view, error) {
	in := s.in
	if in.bag != nil {
		defer timing.Start(ctx, timing.DrawnWords)()
	}
	drawn := slices.Concat(train, test)
	samples := make([]int, len(drawn))
	for at, row := range drawn {
		samples[at] = in.Rows[row]
	}
	all, err := in.learner.learn(ctx, samples, len(train), seed)
	if err != nil {
		return nil, err
	}
	places := allOf(len(drawn))
	x, other := selectRows(all.x, places[:len(train)]), selectRows(all.x, places[len(train):])
	return &view{func() mat.Matrix { return x }, func() mat.Matrix { return other }, all.vocabulary, all.scales, all.wordWeights}, nil
}
