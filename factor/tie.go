package factor

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/settings/enum"
)

// Tie says what makes the coefficients of several samples one.
type Tie int

const (
	// TieNone leaves every sample its own coefficients.
	TieNone Tie = iota
	// TieLabels gives all samples of one label the same coefficients, V = A·Z
	// (CNMF paper, eq. 5), so that a class stays together whatever the cost.
	TieLabels
)

var tieNames = enum.Of[Tie]("tie", "none", "labels")

// String, UnmarshalText, MarshalText and Values use the names that settings have.
func (t Tie) String() string                   { return tieNames.String(t) }
func (t *Tie) UnmarshalText(name []byte) error { return tieNames.UnmarshalText(t, name) }
func (t Tie) MarshalText() ([]byte, error)     { return tieNames.MarshalText(t) }
func (Tie) Values() []string                   { return tieNames.Values() }

// Weighting says how much each sample counts in the cost.
type Weighting int

const (
	// WeightingEqual weighs all samples alike.
	WeightingEqual Weighting = iota
	// WeightingNormalisedCut weighs sample i by γ_i = 1/Σ_j x_iᵀx_j, with which the
	// factorisation is a relaxed normalised cut (Xu, Liu and Gong 2003).
	WeightingNormalisedCut
)

var weightingNames = enum.Of[Weighting]("weighting", "equal", "normalised-cut")

// String, UnmarshalText, MarshalText and Values use the names that settings have.
func (w Weighting) String() string                   { return weightingNames.String(w) }
func (w *Weighting) UnmarshalText(name []byte) error { return weightingNames.UnmarshalText(w, name) }
func (w Weighting) MarshalText() ([]byte, error)     { return weightingNames.MarshalText(w) }
func (Weighting) Values() []string                   { return weightingNames.Values() }

// condensation is the change of variables by which ties and weights reach the
// engine: it condenses the data before a fit and expands V after it, and the
// engine in between knows of neither.
//
// With groups of samples that share coefficients, c_j the weight of group j,
// and E = C^(-1/β), β being the cost's degree, V = A·E·Ṽ, and
// the cost of the condensed data differs from that of the data by a constant:
// the multiplicative steps are the same steps.
type condensation struct {
	group  []int     // of each sample
	groups int       //
	expand []float64 // E of each group: a sample's coefficients are those of its group times this
	weight []float64 // γ of each sample
	c      []float64 // weight of each group
	none   bool      // every sample is its own group and weighs 1

	samples [][]int // of each group, from the first use of members on
}

// newCondensation numbers the groups and weighs them.
func newCondensation(n int, tie Tie, labels []int, weight []float64, cost Cost) (*condensation, error) {
	t := &condensation{group: make([]int, n), weight: weight, none: tie == TieNone && weight == nil}
	if weight == nil {
		t.weight = make([]float64, n)
		for i := range n {
			t.weight[i] = 1
		}
	}
	if tie == TieLabels && len(labels) == 0 {
		return nil, fmt.Errorf("ties by label need the labels of some samples, and none are known")
	}
	of := map[int]int{}
	for i := range n {
		g := t.groups
		if tie == TieLabels && labels[i] >= 0 {
			if have, ok := of[labels[i]]; ok {
				g = have
			} else {
				of[labels[i]] = g
			}
		}
		if g == t.groups {
			t.groups++
			t.c = append(t.c, 0)
		}
		t.group[i] = g
		t.c[g] += t.weight[i]
	}
	t.expand = make([]float64, t.groups)
	for j, c := range t.c {
		t.expand[j] = 1 / math.Pow(c, 1/costs[cost].degree)
	}
	return t, nil
}

// data condenses the data: row j is c_j^(1/β)·Σ γ_i·x_i/c_j.
func (t *condensation) data(d view.Data, cost Cost) view.Data {
	if t.none {
		return d
	}
	scale := make([]float64, len(t.group))
	for i, g := range t.group {
		scale[i] = t.weight[i] * math.Pow(t.c[g], 1/costs[cost].degree-1)
	}
	return d.Condense(t.groups, t.group, scale)
}

// rows condenses the rows of an n×p matrix as data does those of X.
func (t *condensation) Rows(dst, a *mat.Dense) {
	dst.Zero()
	for i, g := range t.group {
		algebra.Axpy(t.weight[i]*t.expand[g], a.RawRowView(i), dst.RawRowView(g))
	}
}

// columns condenses the columns of a k×n matrix as data does the rows of X.
func (t *condensation) columns(dst, a *mat.Dense) {
	if t.none {
		dst.Copy(a)
		return
	}
	k, _ := a.Dims()
	for r := range k {
		out := dst.RawRowView(r)
		clear(out)
		for i, x := range a.RawRowView(r) {
			g := t.group[i]
			out[g] += t.weight[i] * t.expand[g] * x
		}
	}
}

// constant is the part of the cost that condensing takes away: the cost of
// the data is that of the condensed data plus this, which is never below 0.
func (t *condensation) constant(whole, condensed view.Data, cost Cost) float64 {
	if t.none {
		return 0
	}
	return max(costs[cost].constant(t, whole, condensed), 0)
}

// expanded returns V, k×n, of condensed coefficients; with none it is they
// themselves.
func (t *condensation) expanded(condensed *mat.Dense) *mat.Dense {
	if t.none {
		return condensed
	}
	k, _ := condensed.Dims()
	out := mat.NewDense(k, len(t.group), nil)
	t.expandInto(out, condensed)
	return out
}

func (t *condensation) expandInto(dst, condensed *mat.Dense) {
	k, _ := condensed.Dims()
	for r := range k {
		from, to := condensed.RawRowView(r), dst.RawRowView(r)
		for i, g := range t.group {
			to[i] = from[g] * t.expand[g]
		}
	}
}

// pullBack adds up a part of the gradient in V, k×n, to one in the condensed
// coefficients: the transpose of expandInto.
func (t *condensation) pullBack(dst, a *mat.Dense) {
	k, _ := a.Dims()
	for r := range k {
		to := dst.RawRowView(r)
		clear(to)
		for i, x := range a.RawRowView(r) {
			g := t.group[i]
			to[g] += x * t.expand[g]
		}
	}
}

// pullBackDiagonal adds up the diagonal of a quadratic form in V, n values, to an upper
// bound of that of the condensed form. Both may be nil.
func (t *condensation) pullBackDiagonal(dst, diagonal []float64) {
	clear(dst)
	for i, q := range diagonal {
		g := t.group[i]
		dst[g] += q * t.expand[g] * t.expand[g]
	}
}

// condensed returns condensed coefficients of V, k×n: of a group the mean, or
// with first the row of its first sample.
func (t *condensation) condensed(v *mat.Dense, first bool) *mat.Dense {
	if t.none {
		return mat.DenseCopyOf(v)
	}
	k, _ := v.Dims()
	size := make([]float64, t.groups)
	out := mat.NewDense(k, t.groups, nil)
	for i, g := range t.group {
		if first && size[g] > 0 {
			continue
		}
		size[g]++
		for r := range k {
			out.Set(r, g, out.At(r, g)+v.At(r, i))
		}
	}
	for r := range k {
		row := out.RawRowView(r)
		for g := range row {
			row[g] /= size[g] * t.expand[g]
		}
	}
	return out
}

// members returns the samples of each group.
func (t *condensation) members() [][]int {
	if t.samples == nil {
		t.samples = make([][]int, t.groups)
		for i, g := range t.group {
			t.samples[g] = append(t.samples[g], i)
		}
	}
	return t.samples
}
