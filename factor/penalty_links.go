package factor

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

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
	// paper's, and None means 0.
	Must, Cannot float64
}

func (l Links) bind(_ context.Context, x data, known Known) (boundPenalty, error) {
	n, _ := x.dims()
	b := &boundLinks{must: orDefault(l.Must, 0.005), cannot: orDefault(l.Cannot, 1)}
	b.labels, b.classes = known.classes()
	for name, w := range map[string]float64{"must": b.must, "cannot": b.cannot} {
		if !(w >= 0 && w <= largestValue) {
			return nil, fmt.Errorf("%s-links weigh %v; the weight must be 0 or more", name, w)
		}
	}
	must, cannot, err := links.Distinct(n, known.MustLink, known.CannotLink)
	if err != nil {
		return nil, err
	}
	b.mustPairs, b.cannotPairs = b.beyondLabels(n, must), b.beyondLabels(n, cannot)
	if b.classes == 0 && len(must) == 0 && len(cannot) == 0 {
		return nil, fmt.Errorf("a penalty on links needs links, or the labels of some samples, and none are known")
	}
	return b, nil
}

// boundLinks never forms the n×n matrix C of the labels: in row i, the samples
// of i's class are the class's sum less the row itself, and those of the other
// classes the sum of all less the class's.
type boundLinks struct {
	must, cannot           float64
	labels                 []int // numbered from 0 to classes-1, or -1
	classes                int
	mustPairs, cannotPairs *CSR // 1 for a link that the labels do not say
}

// beyondLabels returns the symmetric matrix of the pairs of which not both are
// labelled.
func (b *boundLinks) beyondLabels(n int, pairs [][2]int) *CSR {
	var entries []sparse.Entry
	for _, p := range pairs {
		if len(b.labels) > 0 && b.labels[p[0]] >= 0 && b.labels[p[1]] >= 0 {
			continue
		}
		entries = append(entries, sparse.Entry{Row: p[0], Col: p[1], Value: 1}, sparse.Entry{Row: p[1], Col: p[0], Value: 1})
	}
	return sparse.FromEntries(n, n, entries)
}

func (b *boundLinks) root() bool { return true }

// sums writes, for a row of v, the sums over must-linked samples and over
// cannot-linked ones of each sample.
func (b *boundLinks) sums(row, together, apart []float64) {
	clear(together)
	clear(apart)
	class := make([]float64, b.classes)
	var all float64
	for i, c := range b.labels {
		if c >= 0 {
			class[c] += row[i]
			all += row[i]
		}
	}
	for i, c := range b.labels {
		if c >= 0 {
			together[i] = max(class[c]-row[i], 0)
			apart[i] = max(all-class[c], 0)
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

// add: C⁻V to the negative part and C⁺V to the positive one.
func (b *boundLinks) add(t *terms, v *mat.Dense, share float64) {
	k, n := v.Dims()
	together, apart := make([]float64, n), make([]float64, n)
	for r := range k {
		b.sums(v.RawRowView(r), together, apart)
		axpy(share*b.must, together, t.neg.RawRowView(r))
		axpy(share*b.cannot, apart, t.pos.RawRowView(r))
	}
}

func (b *boundLinks) value(v *mat.Dense) float64 {
	k, n := v.Dims()
	together, apart := make([]float64, n), make([]float64, n)
	var sum float64
	for r := range k {
		row := v.RawRowView(r)
		b.sums(row, together, apart)
		sum += b.cannot*dot(row, apart) - b.must*dot(row, together)
	}
	return sum
}
