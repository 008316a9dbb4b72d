package factor

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/links"
	"github.com/seed4492f2cd/partwise/internal/sparse"
	"github.com/seed4492f2cd/partwise/internal/topk"
)

// MFA is marginal Fisher analysis (Yan et al. 2007): after [PCA], the directions
// in which samples of different classes that lie near each other are far apart
// beside neighbours of one class, L'·v = λ·L·v between the scatters Σ(y_i − y_j)²
// of the two graphs, with vᵀLv = 1. Neighbours are found in the features. It
// learns from the labelled samples, and its [Model] is a [Linear]. There are as
// many directions as the rank says, or as PCA leaves, and pairs part, where they
// are fewer.
type MFA struct {
	// K1 is how many of its nearest of its own class each sample is joined to; 0
	// means 5.
	K1 int `setting:"k1" default:"5" help:"nearest of its own class that each sample is joined to"`
	// K2 is how many nearest pairs of a sample inside and one outside are to be
	// parted for each class; 0 means 40 times the size of the class.
	K2 int `setting:"k2" default:"40 × class size" help:"nearest pairs across its border that each class is parted by"`
	// Variance is as in LDA.
	Variance float64 `setting:"variance" default:"0.9" help:"share of the variance that PCA keeps before"`
}

// Needs says what the method needs.
func (MFA) Needs() Needs {
	return Needs{Labels: true, Signed: true, Direct: true, Classes: twoClassesOnePair}
}

// Fit implements [Method].
func (m MFA) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	if m.K1 < 0 || m.K2 < 0 {
		return nil, fmt.Errorf("k1 is %d and k2 is %d; they must be 1 or more", m.K1, m.K2)
	}
	share, err := varianceShare(m.Variance, 0.9)
	if err != nil {
		return nil, err
	}
	t, err := newDiscriminant(ctx, x, known, opt)
	if err != nil {
		return nil, err
	}
	joined, parted, err := m.pairs(ctx, t)
	if err != nil {
		return nil, err
	}
	n, _ := t.x.Dims()
	groups, err := links.Close(n, joined, nil)
	if err != nil {
		return nil, err
	}
	a, y, err := t.reduced(ctx, share, slices.Max(groups)+1)
	if err != nil {
		return nil, err
	}
	inside, err := graphScatter(ctx, y, binaryGraph(n, joined))
	if err != nil {
		return nil, err
	}
	across, err := graphScatter(ctx, y, binaryGraph(n, parted))
	if err != nil {
		return nil, err
	}
	v, err := generalised(ctx, across, inside, opt.Rank)
	if err != nil {
		return nil, err
	}
	return t.result(ctx, a, v)
}

// pair is two samples and their squared distance.
type pair struct {
	i, j int
	d    float64
}

func (p pair) compare(q pair) int { return cmp.Or(cmp.Compare(p.d, q.d), p.i-q.i, p.j-q.j) }

// pairs returns those of each sample and its nearest of its own class, and the
// nearest pairs across the border of each class.
func (m MFA) pairs(ctx context.Context, t *training) (joined, parted [][2]int, err error) {
	k1 := cmp.Or(m.K1, 5)
	n, _ := t.x.Dims()
	square := make([]float64, n)
	for i := range n {
		row := t.x.RawRowView(i)
		square[i] = dot(row, row)
	}
	borders := make([]*topk.Selection[[2]int32], len(t.sizes))
	for c := range borders {
		borders[c] = topk.NewSelection[[2]int32](cmp.Or(m.K2, 40*t.sizes[c]))
	}
	var nearest []pair
	err = t.eachGram(ctx, func(from int, part *mat.Dense) {
		r, _ := part.Dims()
		for a := range r {
			i := from + a
			c := t.class[i]
			nearest = nearest[:0]
			own, others := math.Inf(1), borders[c].Limit()
			for j, g := range part.RawRowView(a) {
				d := squaredDistance(square[i], square[j], g)
				switch {
				case t.class[j] != c:
					if d <= others {
						borders[c].Add(d, [2]int32{int32(min(i, j)), int32(max(i, j))})
						others = borders[c].Limit()
					}
				case d <= own && j != i:
					if nearest = topk.Insert(nearest, k1, pair{i, j, d}, pair.compare); len(nearest) == k1 {
						own = nearest[k1-1].d
					}
				}
			}
			for _, p := range nearest {
				joined = append(joined, [2]int{min(i, p.j), max(i, p.j)})
			}
		}
	})
	for _, b := range borders {
		b.Each(func(p [2]int32) { parted = append(parted, [2]int{int(p[0]), int(p[1])}) })
	}
	return joined, parted, err
}

// binaryGraph returns the symmetric graph of the pairs, of which some may be there twice, with weights of 1.
func binaryGraph(n int, pairs [][2]int) *CSR {
	entries := make([]sparse.Entry, 0, 2*len(pairs))
	for _, p := range pairs {
		entries = append(entries, sparse.Entry{Row: p[0], Col: p[1], Value: 1}, sparse.Entry{Row: p[1], Col: p[0], Value: 1})
	}
	g := sparse.FromEntries(n, n, entries)
	for p := range g.Values {
		g.Values[p] = 1
	}
	return g
}
