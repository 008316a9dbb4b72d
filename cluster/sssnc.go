package cluster

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// SSSNC is semi-supervised normalised cuts (Ji and Xu 2006, as the SS-NMF
// poster compares with): the cut of a similarity in which links count most.
// Links pull, they need not hold in the answer. The fields of NormalisedCut
// mean what they mean there.
type SSSNC struct {
	NormalisedCut
}

// Cluster implements [Clusterer]: the similarity is the inner products of the rows.
func (s SSSNC) Cluster(ctx context.Context, x mat.Matrix, clusters int, known Known, seed uint64) (*Result, error) {
	products, err := innerProducts(ctx, x, 4)
	if err != nil {
		return nil, err
	}
	s.K, s.Seed = clusters, seed
	return s.Fit(ctx, products, known)
}

// Memory returns about how many bytes Cluster takes.
func (SSSNC) Memory(s Size) float64 { return memoryOfSquares(s, 6, 16) }

// Fit clusters n samples by their n×n similarity, with links and labels.
func (s SSSNC) Fit(ctx context.Context, similarity mat.Matrix, known Known) (*Result, error) {
	linked, err := LinkSimilarity(similarity, known)
	if err != nil {
		return nil, fmt.Errorf("ss-snc: %w", err)
	}
	return s.NormalisedCut.Fit(ctx, linked)
}

// LinkSimilarity returns the n×n similarity with every must-link's entries set
// to its largest value and every cannot-link's to its smallest; each two labelled
// samples are a link. A pair that both must and cannot link is an error.
func LinkSimilarity(similarity mat.Matrix, known Known) (*mat.SymDense, error) {
	sym, err := readSymmetric(similarity)
	if err != nil {
		return nil, err
	}
	n := sym.SymmetricDim()
	must, cannot, err := known.BeyondLabels(n)
	if err != nil {
		return nil, err
	}
	largest, smallest := mat.Max(sym), mat.Min(sym)
	linked := mat.NewSymDense(n, nil)
	linked.CopySym(sym)
	eachLink(known, must, cannot, func(i, j int, must bool) {
		if must {
			linked.SetSym(i, j, largest)
		} else {
			linked.SetSym(i, j, smallest)
		}
	})
	return linked, nil
}
