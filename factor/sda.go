package factor

import (
	"cmp"
	"context"

	"gonum.org/v1/gonum/mat"
)

// SDA is semi-supervised discriminant analysis (Cai, He and Han 2007): the
// directions in which the scatter S_b between the class means is largest
// beside the whole scatter S_t of the labelled samples, the roughness over a graph
// of all samples, labelled or not, and a ridge:
//
//	S_b·v = λ·(S_t + α·XLXᵀ + β·I)·v, with vᵀ(S_t + α·XLXᵀ + β·I)v = 1
//
// Its [Model] is a [Linear]. There are as many directions as the rank says but
// at most c − 1, c being the number of classes, and no more than those in which
// the means differ.
type SDA struct {
	// Alpha is the weight α of the graph and Ridge is β; 0 means 0.1, WeightNone
	// means 0. Both are to be seen against the size of the data.
	Alpha float64 `setting:"alpha" default:"0.1" help:"weight α of the graph over all samples"`
	Ridge float64 `setting:"ridge" default:"0.1" help:"what is added to the scatter in every direction"`
	Neighbourhood
	// Similarity, if set, is the symmetric n×n graph S itself, in place of the
	// neighbourhood's.
	Similarity *CSR
}

// Needs says what the method needs.
func (SDA) Needs() Needs { return Needs{Labels: true, Signed: true, Direct: true, Classes: twoClasses} }

// Fit implements [Method].
func (s SDA) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	alpha, ridge := orDefault(s.Alpha, 0.1), orDefault(s.Ridge, 0.1)
	if err := cmp.Or(checkWeight("alpha", alpha), checkWeight("the ridge", ridge)); err != nil {
		return nil, err
	}
	t, err := newTraining(ctx, x, known, opt)
	if err != nil {
		return nil, err
	}
	if err := t.useLabels(known.Labels); err != nil {
		return nil, err
	}
	if err := t.centre(ctx, func(int) bool { return true }); err != nil {
		return nil, err
	}
	graph := s.Similarity
	n, _ := t.x.Dims()
	if graph == nil {
		graph, err = s.graph(ctx, t.data)
	} else {
		err = checkSimilarity(graph, n)
	}
	if err != nil {
		return nil, err
	}

	// The directions lie among those in which the samples vary: along others
	// S_b is 0 and only the ridge is not.
	a, err := t.ask(ctx, func(sigma []float64) int { return len(sigma) })
	if err != nil {
		return nil, err
	}
	y, err := a.coordinates(ctx)
	if err != nil {
		return nil, err
	}
	between, err := t.between(ctx, y)
	if err != nil {
		return nil, err
	}
	against, err := scatter(ctx, t.labelledRows(y))
	if err != nil {
		return nil, err
	}
	rough, err := graphScatter(ctx, y, graph)
	if err != nil {
		return nil, err
	}
	for i := range against.SymmetricDim() {
		for j := i; j < against.SymmetricDim(); j++ {
			against.SetSym(i, j, against.At(i, j)+alpha*rough.At(i, j))
		}
		against.SetSym(i, i, against.At(i, i)+ridge)
	}
	v, err := generalised(ctx, between, against, min(opt.Rank, len(t.sizes)-1))
	if err != nil {
		return nil, err
	}
	return t.result(ctx, a, v)
}
