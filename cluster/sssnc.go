package cluster

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/links"
)

// SSSNC is semi-supervised normalised cuts (Ji and Xu 2006, as the SS-NMF
// poster compares with): the cut of a similarity in which links count most.
// Links pull, they need not hold in the answer. The fields of NormalisedCut
// mean what they mean there.
type SSSNC struct {
	NormalisedCut
}

// Fit clusters n samples by their n×n similarity and links, which are pairs of
// rows.
func (s SSSNC) Fit(ctx context.Context, similarity mat.Matrix, must, cannot [][2]int) (*Result, error) {
	linked, err := LinkSimilarity(similarity, must, cannot)
	if err != nil {
		return nil, fmt.Errorf("ss-snc: %w", err)
	}
	return s.NormalisedCut.Fit(ctx, linked)
}

// LinkSimilarity returns the n×n similarity with every must-link's entries set
// to its largest value and every cannot-link's to its smallest. A pair that
// both must and cannot link is an error.
func LinkSimilarity(similarity mat.Matrix, must, cannot [][2]int) (*mat.SymDense, error) {
	sym, err := readSymmetric(similarity)
	if err != nil {
		return nil, err
	}
	n := sym.SymmetricDim()
	must, cannot, err = links.Distinct(n, must, cannot)
	if err != nil {
		return nil, err
	}
	largest, smallest := mat.Max(sym), mat.Min(sym)
	linked := mat.NewSymDense(n, nil)
	linked.CopySym(sym)
	for _, p := range must {
		linked.SetSym(p[0], p[1], largest)
	}
	for _, p := range cannot {
		linked.SetSym(p[0], p[1], smallest)
	}
	return linked, nil
}
