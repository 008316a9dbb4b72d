package factor

import (
	"context"

	"gonum.org/v1/gonum/mat"
)

// PCA is principal component analysis (Pearson 1901): the orthonormal directions
// in which the samples vary most, min ‖X − μ − PPᵀ(X − μ)‖². Its coefficients are the
// scores, its [Model] is a [Linear]. There are as many directions as the rank
// says, or as there are where they are fewer: at most n − 1, and m.
type PCA struct {
	// Variance, above 0 and at most 1, asks for the fewest directions that keep
	// that share of the variance, in place of the rank; 0 means the rank.
	Variance float64 `setting:"variance" default:"by rank" help:"share of the variance to keep, in place of the rank"`
}

// Needs says what the method needs.
func (PCA) Needs() Needs { return Needs{Signed: true, Direct: true} }

// Memory returns about how many bytes the method takes.
func (PCA) Memory(s Size) int64 { return byteCount(s.embedding(s.Samples)) }

// Fit implements [Method].
func (p PCA) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	share, err := varianceShare(p.Variance, 0)
	if err != nil {
		return nil, err
	}
	if share > 0 {
		opt.Rank = 1 // whatever it is
	}
	t, err := newTraining(ctx, x, known, opt)
	if err != nil {
		return nil, err
	}
	if err := t.centre(ctx, func(int) bool { return true }); err != nil {
		return nil, err
	}
	a, err := t.ask(ctx, func(sigma []float64) int {
		if share > 0 {
			return fewest(sigma, share)
		}
		return opt.Rank
	})
	if err != nil {
		return nil, err
	}
	directions, err := a.whole(ctx)
	if err != nil {
		return nil, err
	}
	return t.projected(ctx, directions)
}
