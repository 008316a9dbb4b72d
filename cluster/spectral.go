package cluster

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/eigen"
	"github.com/seed4492f2cd/partwise/internal/memory"
)

// NormalisedCut is spectral clustering by normalised cuts (Shi and Malik 2000, in the form of Ng, Jordan and
// Weiss 2001): k-means on the rows of the leading K eigenvectors of the normalised similarity.
type NormalisedCut struct {
	KMeans
}

func (c NormalisedCut) Cluster(ctx context.Context, x mat.Matrix, clusters int, _ Known, seed uint64) (*Result, error) {
	c.K, c.Seed = clusters, seed
	return onProducts(ctx, x, 3, func(products mat.Matrix) (*Result, error) { return c.Fit(ctx, products) })
}

func (NormalisedCut) Memory(s Size) float64 { return memoryOfSquares(s, 4, 16) }

// Embed returns n×K coordinates of n samples by their n×n similarity S, which must be symmetric and finite: the
// eigenvectors of the K largest eigenvalues of D^-½SD^-½, D holding the sums of S's rows, the largest first and
// then every row scaled to length 1. A row of S that sums to 0 gives a row of zeros; one that sums to less is
// an error. It takes O(n³) time and 16n² bytes, 24n² where K is large beside n.
func (c NormalisedCut) Embed(ctx context.Context, similarity mat.Matrix) (_ *mat.Dense, err error) {
	defer wrap(&err, "normalised cut")
	sym, err := readSymmetric(similarity)
	if err != nil {
		return nil, err
	}
	n := sym.SymmetricDim()
	if c.K < 1 || c.K > n {
		return nil, fmt.Errorf("%d clusters of %d samples", c.K, n)
	}
	scale := make([]float64, n)
	for i := range n {
		var degree float64
		for j := range n {
			degree += sym.At(i, j)
		}
		if degree < 0 {
			return nil, fmt.Errorf("the similarities of row %d sum to %v", i+1, degree)
		}
		if degree > 0 {
			scale[i] = 1 / math.Sqrt(degree)
		}
	}
	if err := memory.FromContext(ctx).Check(8*int64(n)*int64(n)+int64(eigen.Memory(n, c.K)), fmt.Sprintf("the eigenvectors of the similarities of %d samples", n)); err != nil {
		return nil, err
	}
	normalised := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			normalised.SetSym(i, j, scale[i]*sym.At(i, j)*scale[j])
		}
	}
	_, vectors, err := eigen.Largest(ctx, normalised, c.K)
	if err != nil {
		return nil, fmt.Errorf("the eigenvectors of the similarity: %w", err)
	}
	embedding := mat.NewDense(n, c.K, nil)
	for i := range n {
		if scale[i] == 0 {
			continue
		}
		row := embedding.RawRowView(i)
		copy(row, vectors.RawRowView(i))
		length := norm(row)
		for f := range row {
			row[f] /= cmp.Or(length, 1)
		}
	}
	return embedding, nil
}

// Fit clusters n samples by their n×n similarity. The answer's Centres are K×K, in the coordinates of Embed.
func (c NormalisedCut) Fit(ctx context.Context, similarity mat.Matrix) (*Result, error) {
	embedding, err := c.Embed(ctx, similarity)
	if err != nil {
		return nil, err
	}
	return c.KMeans.Fit(ctx, embedding)
}

// SSSNC is semi-supervised normalised cuts (Ji and Xu 2006, as the SS-NMF poster compares with): the cut of a
// similarity in which links count most. Links need not hold in the answer.
type SSSNC struct {
	NormalisedCut
}

func (s SSSNC) Cluster(ctx context.Context, x mat.Matrix, clusters int, known Known, seed uint64) (*Result, error) {
	s.K, s.Seed = clusters, seed
	return onProducts(ctx, x, 4, func(products mat.Matrix) (*Result, error) { return s.Fit(ctx, products, known) })
}

func (SSSNC) Memory(s Size) float64 { return memoryOfSquares(s, 6, 16) }

// Fit clusters n samples by their n×n similarity, with links and labels.
func (s SSSNC) Fit(ctx context.Context, similarity mat.Matrix, known Known) (*Result, error) {
	linked, err := linkSimilarity(similarity, known)
	if err != nil {
		return nil, fmt.Errorf("ss-snc: %w", err)
	}
	return s.NormalisedCut.Fit(ctx, linked)
}

// linkSimilarity returns the similarity with must-links at its largest value and cannot-links at its smallest.
func linkSimilarity(similarity mat.Matrix, known Known) (*mat.SymDense, error) {
	sym, err := readSymmetric(similarity)
	if err != nil {
		return nil, err
	}
	links, _, err := linksOf(sym.SymmetricDim(), known)
	if err != nil {
		return nil, err
	}
	linked := mat.NewSymDense(sym.SymmetricDim(), nil)
	linked.CopySym(sym)
	largest, smallest := mat.Max(sym), mat.Min(sym)
	links(func(i, j int, must bool) {
		to := smallest
		if must {
			to = largest
		}
		linked.SetSym(i, j, to)
	})
	return linked, nil
}
