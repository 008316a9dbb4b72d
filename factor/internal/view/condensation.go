package view

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
)

// Condensation is the change of variables by which ties and weights reach the engine: it condenses the data before
// a fit and expands V after it. With c_j the weight of group j, β the cost's degree and E = C^(-1/β), V = A·E·Ṽ,
// and the costs of the data and of the condensed data differ by a constant: the multiplicative steps are the same.
type Condensation struct {
	Group  []int     // of each sample
	Groups int       // how many there are
	Expand []float64 // E of each group: a sample's coefficients are those of its group times this
	Weight []float64 // γ of each sample
	C      []float64 // weight of each group
	degree float64   // of the cost
	None   bool      // every sample is its own group and weighs 1

	members [][]int
}

// NewCondensation numbers the groups and weighs them. Samples of one label of 0 or more are a group, the
// others are alone; labels and weight may be nil.
func NewCondensation(n int, labels []int, weight []float64, degree float64) *Condensation {
	t := &Condensation{Group: make([]int, n), Weight: weight, None: labels == nil && weight == nil, degree: degree}
	if weight == nil {
		t.Weight = slices.Repeat([]float64{1}, n)
	}
	of := map[int]int{}
	for i := range n {
		g := t.Groups
		if labels != nil && labels[i] >= 0 {
			if have, ok := of[labels[i]]; ok {
				g = have
			} else {
				of[labels[i]] = g
			}
		}
		if g == t.Groups {
			t.Groups++
			t.C = append(t.C, 0)
		}
		t.Group[i] = g
		t.C[g] += t.Weight[i]
	}
	t.Expand = make([]float64, t.Groups)
	for j, c := range t.C {
		t.Expand[j] = 1 / math.Pow(c, 1/t.degree)
	}
	return t
}

// Data condenses the data: row j is c_j^(1/β)·Σ γ_i·x_i/c_j.
func (t *Condensation) Data(d Data) Data {
	if t.None {
		return d
	}
	scale := make([]float64, len(t.Group))
	for i, g := range t.Group {
		scale[i] = t.Weight[i] * math.Pow(t.C[g], 1/t.degree-1)
	}
	return d.Condense(t.Groups, t.Group, scale)
}

// Rows condenses the rows of an n×p matrix as Data does those of X.
func (t *Condensation) Rows(dst, a *mat.Dense) {
	dst.Zero()
	for i, g := range t.Group {
		algebra.Axpy(t.Weight[i]*t.Expand[g], a.RawRowView(i), dst.RawRowView(g))
	}
}

// Columns condenses the columns of a k×n matrix as Data does the rows of X.
func (t *Condensation) Columns(dst, a *mat.Dense) {
	if t.None {
		dst.Copy(a)
	} else {
		t.addColumns(dst, a, func(i int) float64 { return t.Weight[i] * t.Expand[t.Group[i]] })
	}
}

// addColumns adds up the columns i of each group, times by(i).
func (t *Condensation) addColumns(dst, a *mat.Dense, by func(i int) float64) {
	k, _ := a.Dims()
	for r := range k {
		out := dst.RawRowView(r)
		clear(out)
		for i, x := range a.RawRowView(r) {
			out[t.Group[i]] += by(i) * x
		}
	}
}

// Expanded returns V, k×n, of condensed coefficients, or these themselves with None.
func (t *Condensation) Expanded(condensed *mat.Dense) *mat.Dense {
	if t.None {
		return condensed
	}
	k, _ := condensed.Dims()
	out := mat.NewDense(k, len(t.Group), nil)
	for r := range k {
		from, to := condensed.RawRowView(r), out.RawRowView(r)
		for i, g := range t.Group {
			to[i] = from[g] * t.Expand[g]
		}
	}
	return out
}

// PullBack is the transpose of Expanded, for gradients in V, k×n.
func (t *Condensation) PullBack(dst, a *mat.Dense) {
	t.addColumns(dst, a, func(i int) float64 { return t.Expand[t.Group[i]] })
}

// PullBackDiagonal adds up the diagonal of a quadratic form in V, or nil, to an upper bound of that of the condensed
// form.
func (t *Condensation) PullBackDiagonal(diagonal []float64) []float64 {
	if diagonal == nil {
		return nil
	}
	out := make([]float64, t.Groups)
	for i, q := range diagonal {
		g := t.Group[i]
		out[g] += q * t.Expand[g] * t.Expand[g]
	}
	return out
}

// Condensed returns condensed coefficients of V, k×n: means of groups, or with first those of first samples.
func (t *Condensation) Condensed(v *mat.Dense, first bool) *mat.Dense {
	if t.None {
		return mat.DenseCopyOf(v)
	}
	k, _ := v.Dims()
	size := make([]float64, t.Groups)
	out := mat.NewDense(k, t.Groups, nil)
	for i, g := range t.Group {
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
			row[g] /= size[g] * t.Expand[g]
		}
	}
	return out
}

// Members returns the samples of each group.
func (t *Condensation) Members() [][]int {
	if t.members == nil {
		t.members = make([][]int, t.Groups)
		for i, g := range t.Group {
			t.members[g] = append(t.members[g], i)
		}
	}
	return t.members
}
