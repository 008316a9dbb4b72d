package factor

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/links"
	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// Links is the penalty tr(VᵀCV) = Σ C_ij·v_iᵀv_j of pairs of samples that belong
// together, C_ij = −Must, and that do not, C_ij = Cannot (Ambai et al. 2011, eq.
// 6). The pairs are those of Known.MustLink and Known.CannotLink, and all pairs
// of labelled samples. It moves the coefficients by the square root of their
// ratio. It is bounded below only while the weights of a sample's must-links
// stay small beside the fit, in all under 1: above that the coefficients may grow
// without end, which is reported.
type Links struct {
	// Must and Cannot are the weights, ≥ 0; 0 means 0.005 and 1, the D-SNMF
	// paper's, and WeightNone means 0.
	Must   float64 `setting:"must" default:"0.005" help:"weight of a must-link, −C_ij"`
	Cannot float64 `setting:"cannot" default:"1" help:"weight of a cannot-link, C_ij"`
}

// OnBasis implements [Penalty].
func (Links) OnBasis() bool { return false }

// Needs says what the penalty needs.
func (Links) Needs() Needs { return Needs{Labels: true, Links: true} }

// Bind implements [Penalty].
func (l Links) Bind(_ context.Context, p Problem) (BoundPenalty, error) {
	n, _ := p.data.Dims()
	known := p.Known
	b := &boundLinks{must: orDefault(l.Must, 0.005), cannot: orDefault(l.Cannot, 1)}
	b.labels, b.classes = links.Known(known).Classes()
	if err := cmp.Or(view.CheckWeight("the weight of must-links", b.must), view.CheckWeight("the weight of cannot-links", b.cannot)); err != nil {
		return nil, err
	}
	must, cannot, err := links.Known(known).BeyondLabels(n)
	if err != nil {
		return nil, err
	}
	b.mustPairs, b.cannotPairs = symmetric(n, must), symmetric(n, cannot)
	if b.classes == 0 && len(must) == 0 && len(cannot) == 0 {
		return nil, errors.New("a penalty on links needs links, or the labels of some samples, and none are known")
	}
	return b, nil
}

// boundLinks never forms the n×n matrix C of the labels: what is asked of it are
// sums over the samples of a class but one, and over those of all classes but one.
// They are sums of what comes before and what comes after. Differences from the sum of
// all would lose what is small beside what is taken away.
type boundLinks struct {
	must, cannot           float64
	labels                 []int // numbered from 0 to classes-1, or -1
	classes                int
	mustPairs, cannotPairs *CSR // 1 for a link that the labels do not say
}

// symmetric returns the symmetric matrix of the pairs.
func symmetric(n int, pairs [][2]int) *CSR {
	var entries []sparse.Entry
	for _, p := range pairs {
		entries = append(entries, sparse.Entry{Row: p[0], Col: p[1], Value: 1}, sparse.Entry{Row: p[1], Col: p[0], Value: 1})
	}
	return sparse.FromEntries(n, n, entries)
}

func (b *boundLinks) Root(Cost) bool { return true }

// Diagonal is 0, and between samples of one label there is −must.
func (b *boundLinks) Diagonal([]float64, float64) {}

// sums writes, for a row of v, the sums over must-linked samples and over
// cannot-linked ones of each sample.
func (b *boundLinks) sums(row, together, apart []float64) {
	clear(together)
	clear(apart)
	class, others := make([]float64, b.classes), make([]float64, b.classes)
	for i, c := range b.labels {
		if c >= 0 {
			together[i] = class[c]
			class[c] += row[i]
		}
	}
	var sum float64
	for c, x := range class {
		others[c] = sum
		sum += x
	}
	sum = 0
	for c, x := range slices.Backward(class) {
		others[c] += sum
		sum += x
	}
	clear(class)
	for i, c := range slices.Backward(b.labels) {
		if c >= 0 {
			together[i] += class[c]
			class[c] += row[i]
			apart[i] = others[c]
		}
	}
	addPairs(together, b.mustPairs, row)
	addPairs(apart, b.cannotPairs, row)
}

// addPairs adds pairs·row.
func addPairs(dst []float64, pairs *CSR, row []float64) {
	if pairs.NNZ() == 0 {
		return
	}
	for i := range dst {
		cols, vals := pairs.Row(i)
		for p, j := range cols {
			dst[i] += vals[p] * row[j]
		}
	}
}

// Gradient is C⁺V − C⁻V.
func (b *boundLinks) Gradient(positive, negative, v *mat.Dense, scale float64) {
	k, n := v.Dims()
	together, apart := make([]float64, n), make([]float64, n)
	for r := range k {
		b.sums(v.RawRowView(r), together, apart)
		algebra.Axpy(scale*b.must, together, negative.RawRowView(r))
		algebra.Axpy(scale*b.cannot, apart, positive.RawRowView(r))
	}
}

func (b *boundLinks) Value(v *mat.Dense) float64 {
	k, n := v.Dims()
	together, apart := make([]float64, n), make([]float64, n)
	var sum float64
	for r := range k {
		row := v.RawRowView(r)
		b.sums(row, together, apart)
		sum += b.cannot*algebra.Dot(row, apart) - b.must*algebra.Dot(row, together)
	}
	return sum
}

// Row implements [CoordinatePenalty].
func (b *boundLinks) Row(row []float64) PenaltyRow {
	labels := b.labels
	if len(labels) == 0 {
		labels = slices.Repeat([]int{-1}, len(row))
	}
	class := make([]float64, b.classes) // sums over the samples of each class
	for i, c := range labels {
		if c >= 0 {
			class[c] += row[i]
		}
	}
	add := func(sum float64, pairs *CSR, i int) float64 {
		cols, vals := pairs.Row(i)
		for p, j := range cols {
			sum += vals[p] * row[j]
		}
		return sum
	}
	return PenaltyRow{
		Gradient: func(i int) float64 {
			var together, apart float64
			if c := labels[i]; c >= 0 {
				for d, x := range class {
					if d != c {
						apart += x
					}
				}
				together = max(class[c]-row[i], 0)
			}
			return b.cannot*add(apart, b.cannotPairs, i) - b.must*add(together, b.mustPairs, i)
		},
		Moved: func(i int, delta float64) {
			if c := labels[i]; c >= 0 {
				class[c] = max(class[c]+delta, 0)
			}
		},
	}
}
