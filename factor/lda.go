package factor

import (
	"context"

	"gonum.org/v1/gonum/mat"
)

// LDA is linear discriminant analysis (Fisher 1936; Belhumeur, Hespanha and
// Kriegman 1997): after [PCA], the directions in which the scatter S_b between
// the class means is largest beside the scatter S_w within classes, S_b·v =
// λ·S_w·v with vᵀS_wv = 1. It learns from the labelled samples, and its [Model] is a
// [Linear]. There are as many directions as the rank says but at most c − 1, c
// being the number of classes, and no more than those in which the means differ.
type LDA struct {
	// Variance is the share that PCA keeps, with at most as many directions as
	// there are labelled samples less classes; 0 means 0.9.
	Variance float64 `setting:"variance" default:"0.9" help:"share of the variance that PCA keeps before"`
}

// Needs says what the method needs.
func (LDA) Needs() Needs {
	return Needs{Labels: true, Signed: true, Direct: true, Classes: twoClassesOnePair}
}

// Memory returns about how many bytes the method takes.
func (LDA) Memory(s Size) int64 { return byteCount(s.embedding(s.Labelled)) }

// Fit implements [Method].
func (l LDA) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	share, err := varianceShare(l.Variance, 0.9)
	if err != nil {
		return nil, err
	}
	t, err := newDiscriminant(ctx, x, known, opt)
	if err != nil {
		return nil, err
	}
	a, y, err := t.reduced(ctx, share, len(t.sizes))
	if err != nil {
		return nil, err
	}
	between, err := t.between(ctx, y)
	if err != nil {
		return nil, err
	}
	within, err := t.within(ctx, y)
	if err != nil {
		return nil, err
	}
	v, err := generalised(ctx, between, within, min(opt.Rank, len(t.sizes)-1))
	if err != nil {
		return nil, err
	}
	return t.result(ctx, a, v)
}
