package factor

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/eigen"
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
	count := min(opt.Rank, len(t.sizes)-1)
	v, err := t.byMeans(ctx, a.sigma, y, count)
	if errors.Is(err, errNearlySingular) {
		v, err = t.byScatters(ctx, y, count)
	}
	if err != nil {
		return nil, err
	}
	return t.result(ctx, a, v)
}

// byScatters returns at most count of the directions in the coordinates y, n×q, whatever S_w is.
func (t *training) byScatters(ctx context.Context, y *mat.Dense, count int) (*mat.Dense, error) {
	between, err := t.between(ctx, y)
	if err != nil {
		return nil, err
	}
	within, err := t.within(ctx, y)
	if err != nil {
		return nil, err
	}
	return generalised(ctx, between, within, count)
}

// errNearlySingular says that S_w is, or might be but for rounding, singular.
var errNearlySingular = errors.New("the scatter within classes is nearly singular")

// byMeans is byScatters from no more than the c class means and the singular values sigma of y, where
// S_w is far from singular. With M the weighted means, c×q, S_b is MᵀM and S_w is Σ² − MᵀM: so in
// w = Σv and B = MΣ⁻¹ it is BᵀBw = λ(I − BᵀB)w. Its w are Bᵀg of the eigenvectors g of BBᵀ, c×c, and λ
// is μ/(1 − μ) of their values μ.
func (t *training) byMeans(ctx context.Context, sigma []float64, y *mat.Dense, count int) (*mat.Dense, error) {
	const leastSigma, leastWithin = 1e-3, 1e-4
	q := len(sigma)
	if !(sigma[q-1] > leastSigma*sigma[0]) {
		return nil, errNearlySingular
	}
	b, err := t.weightedMeans(y)
	if err != nil {
		return nil, err
	}
	for c := range t.sizes {
		row := b.RawRowView(c)
		for j, s := range sigma {
			row[j] /= s
		}
	}
	gram, err := symmetricProduct(ctx, b, noTrans, b, trans)
	if err != nil {
		return nil, err
	}
	mu, g, err := eigen.Largest(ctx, gram, min(count, q))
	if err != nil {
		return nil, fmt.Errorf("the directions of the embedding: %w", err)
	}
	if !(1-mu[0] > leastWithin) {
		return nil, errNearlySingular
	}
	lambda := make([]float64, len(mu))
	for i, m := range mu {
		lambda[i] = m / (1 - m)
	}
	count = parting(lambda)
	v := mat.NewDense(q, count, nil)
	gemm(v, b, trans, g.Slice(0, len(t.sizes), 0, count).(*mat.Dense), noTrans)
	for j, s := range sigma {
		row := v.RawRowView(j)
		for i := range row {
			row[i] /= s * math.Sqrt(mu[i]*(1-mu[i]))
		}
	}
	return v, nil
}
