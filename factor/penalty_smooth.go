package factor

import (
	"context"

	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// Smooth is the penalty λ·Σ (u_p − u_q)² over the basis images and the pixels p and
// q of each that lie side by side or one above the other, for samples that are images
// (as of Zdunek and Cichocki 2008 with first differences). Images that shrink while
// coefficients grow lower it without end: the number of iterations is part of the
// method.
type Smooth struct {
	// Weight is λ; 0 means 0.1, WeightNone means 0. It is to be seen against the size of
	// the coefficients.
	Weight float64 `setting:"smooth-weight" default:"0.1" help:"weight λ of the differences of neighbouring pixels"`
}

// OnBasis implements [Penalty].
func (Smooth) OnBasis() bool { return true }

// Needs says what the penalty needs.
func (Smooth) Needs() Needs { return Needs{Images: true} }

// Bind implements [Penalty].
func (s Smooth) Bind(_ context.Context, p Problem) (BoundPenalty, error) {
	weight := orDefault(s.Weight, 0.1)
	if err := view.CheckWeight("the weight of neighbouring pixels", weight); err != nil {
		return nil, err
	}
	_, m := p.data.Dims()
	if err := p.Image.check(m, "a penalty on neighbouring pixels"); err != nil {
		return nil, err
	}
	return newLaplacian(p.Image.of(m).grid(), weight), nil
}

// grid is the graph that joins pixels side by side and one above the other.
func (i Image) grid() *CSR {
	var entries []sparse.Entry
	join := func(p, q int) {
		entries = append(entries, sparse.Entry{Row: p, Col: q, Value: 1}, sparse.Entry{Row: q, Col: p, Value: 1})
	}
	for y := range i.Rows() {
		for x := range i.Width {
			p := y*i.Width + x
			if x > 0 {
				join(p-1, p)
			}
			if y%i.Height > 0 { // channels lie one after another
				join(p-i.Width, p)
			}
		}
	}
	m := i.Rows() * i.Width
	return sparse.FromEntries(m, m, entries)
}
