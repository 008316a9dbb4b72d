package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/eigen"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/panel"
)

// NormalisedCut is spectral clustering by normalised cuts (Shi and Malik 2000, in the form of Ng, Jordan and Weiss
// 2001): k-means on the rows of the leading K eigenvectors of the normalised similarity matrix.
type NormalisedCut struct {
	KMeans
}

// Cluster implements [Clusterer].
func (c NormalisedCut) Cluster(ctx context.Context, x mat.Matrix, clusters int, _ Known, seed uint64) (_ *Result, err error) {
	defer guard.Catch(&err)
	c.K, c.Seed = clusters, seed
	return c.Fit(ctx, guard.Must(innerProducts(ctx, x, 3)))
}

func (NormalisedCut) Memory(s Size) float64 { return memoryOfSquares(s, 4, 16) }

// Embed returns the spectral embedding, n×K, of n samples with the n×n similarity matrix S: the eigenvectors of the K
// largest eigenvalues of D^-½SD^-½, with rows scaled to unit length. D holds the row sums of S. A row sum of 0 gives a
// row of zeros; a negative one is an error. It takes O(n³) time and 16n² bytes, or 24n² for large K.
func (c NormalisedCut) Embed(ctx context.Context, similarity *mat.SymDense) (_ *mat.Dense, err error) {
	defer guard.CatchWithin(&err, "normalised cut")
	guard.Check(checkFinite(similarity))
	n := similarity.SymmetricDim()
	guard.FailIf(c.K < 1 || c.K > n, "number of clusters %d; expected 1 to the number of samples, %d", c.K, n)
	scale := make([]float64, n)
	for i := range n {
		var degree float64
		for j := range n {
			degree += similarity.At(i, j)
		}
		guard.FailIf(degree < 0, "row %d: the similarities sum to %v; expected more than 0", i+1, degree)
		if degree > 0 {
			scale[i] = 1 / math.Sqrt(degree)
		}
	}
	guard.Check(memory.FromContext(ctx).Check(8*int64(n)*int64(n)+int64(eigen.Memory(n, c.K)), fmt.Sprintf("the eigenvectors of the similarities of %d samples", n)))
	normalised := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			normalised.SetSym(i, j, scale[i]*similarity.At(i, j)*scale[j])
		}
	}
	_, vectors, err := eigen.Largest(ctx, normalised, c.K)
	guard.Check(guard.Wrap(err, "the eigenvectors of the similarity"))
	for i := range n {
		row := vectors.RawRowView(i)
		length := norm(row)
		for f := range row {
			if row[f] /= cmp.Or(length, 1); scale[i] == 0 {
				row[f] = 0
			}
		}
	}
	return vectors, nil
}

// Fit clusters n samples by their n×n similarity matrix. Result.Centres are K×K, in the coordinates of Embed.
func (c NormalisedCut) Fit(ctx context.Context, similarity *mat.SymDense) (*Result, error) {
	embedding, err := c.Embed(ctx, similarity)
	if err != nil {
		return nil, err
	}
	return c.KMeans.Fit(ctx, embedding)
}

// SSSNC is semi-supervised normalised cuts (Ji and Xu 2006): must-linked pairs get the largest similarity and
// cannot-linked pairs the smallest. The result can violate links.
type SSSNC struct {
	NormalisedCut
}

// Cluster implements [Clusterer].
func (s SSSNC) Cluster(ctx context.Context, x mat.Matrix, clusters int, known Known, seed uint64) (_ *Result, err error) {
	defer guard.Catch(&err)
	s.K, s.Seed = clusters, seed
	return s.Fit(ctx, guard.Must(innerProducts(ctx, x, 4)), known)
}

func (SSSNC) Memory(s Size) float64 { return memoryOfSquares(s, 6, 16) }

// Fit clusters n samples by their n×n similarity matrix, with links and labels.
func (s SSSNC) Fit(ctx context.Context, similarity *mat.SymDense, known Known) (*Result, error) {
	linked, err := linkSimilarity(similarity, known)
	if err != nil {
		return nil, err
	}
	return s.NormalisedCut.Fit(ctx, linked)
}

// linkSimilarity returns the similarity matrix with must-links set to its largest value, cannot-links to its smallest.
func linkSimilarity(similarity *mat.SymDense, known Known) (_ *mat.SymDense, err error) {
	defer guard.CatchWithin(&err, "ss-snc")
	guard.Check(checkFinite(similarity))
	links, _, err := known.Pairs(similarity.SymmetricDim())
	guard.Check(err)
	linked := mat.NewSymDense(similarity.SymmetricDim(), nil)
	linked.CopySym(similarity)
	largest, smallest := mat.Max(similarity), mat.Min(similarity)
	links(func(i, j int, must bool) {
		to := smallest
		if must {
			to = largest
		}
		linked.SetSym(i, j, to)
	})
	return linked, nil
}

// innerProducts returns the Gram matrix x·xᵀ, n×n, in O(n²m) time. It is an error if that many n×n matrices exceed the
// memory limit of ctx, or if an inner product overflows or underflows.
func innerProducts(ctx context.Context, x mat.Matrix, matrices int) (_ *mat.SymDense, err error) {
	defer guard.Catch(&err)
	n, m := x.Dims()
	guard.Check(memory.FromContext(ctx).Check(8*int64(matrices)*int64(n)*int64(n), fmt.Sprintf("the inner products of %d samples", n)))
	rows, all := readRows(x), matrix.Range(n)
	out := mat.NewSymDense(n, nil)
	raw := out.RawSymmetric()
	part := make([]float64, panelRows*panelRows)
	points := blas.Matrix{Cols: m, Stride: m, Data: make([]float64, min(panelRows, n)*m)}
	err = panel.Each(ctx, n, panelRows, func(lo, hi int) error {
		points.Rows = hi - lo
		clear(points.Data)
		for i := lo; i < hi; i++ {
			rows.addTo(points.Data[(i-lo)*m:][:m], 1, i)
		}
		// The panel with all rows up to it: the part above the diagonal.
		return panel.Each(ctx, hi, panelRows, func(first, last int) error {
			rows.dots(part, all[first:last], points)
			for i := first; i < last; i++ {
				for j := max(lo, i); j < hi; j++ {
					raw.Data[i*raw.Stride+j] = part[(i-first)*points.Rows+j-lo]
				}
			}
			return nil
		})
	})
	guard.Check(err)
	for i := range n {
		square, length := out.At(i, i), norm(rows.values(i))
		guard.FailIf(length != 0 && (!(square >= 1e-280) || math.IsInf(square, 1)),
			"sample %d: values of norm %v are out of range for inner products", i+1, length)
	}
	return out, nil
}

// checkFinite returns an error unless a has values, of which sums do not overflow.
func checkFinite(a *mat.SymDense) error {
	n := a.SymmetricDim()
	if n == 0 {
		return errors.New("the similarity matrix is empty")
	}
	limit := math.MaxFloat64 / 8 / float64(n) / float64(n)
	for i := range n {
		for j := i; j < n; j++ {
			if v := a.At(i, j); !(math.Abs(v) <= limit) {
				return fmt.Errorf("row %d, column %d: value %v", i+1, j+1, v)
			}
		}
	}
	return nil
}
