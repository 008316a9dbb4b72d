package factor

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/settings/enum"
)

// SSNMF is semi-supervised NMF of the samples' similarities (Chen, Rege, Dong
// and Fotouhi): min ‖Ã − GSGᵀ‖² over G, n×k, and S, k×k, both ≥ 0. Ã is XᵀX, n×n, in
// which must-linked samples have the largest of all similarities and
// cannot-linked ones the smallest. The links are those of Known.MustLink and
// Known.CannotLink, as they are given, and all pairs of labelled samples; without
// any it is NMF of the similarities.
//
// The result has G for its coefficients, whose largest entry in a row is the
// sample's group, and S for its association. It says nothing of features: Basis
// and Model are nil. G starts as [Options].Init says of coefficients.
type SSNMF struct {
	// Rule says how far G moves.
	Rule SimilarityRule `setting:"rule" help:"damped never lets the objective rise, printed is the paper's step, which can"`
	// Similarity, if set, is the symmetric n×n matrix of similarities ≥ 0 in
	// place of XᵀX.
	Similarity *mat.Dense
	// Initial is S at the start, symmetric k×k, if it is set. Otherwise S is 1
	// on the diagonal and 0.01 elsewhere: groups that start apart.
	Initial *mat.Dense
}

// SimilarityRule says how far the coefficients move when similarities are
// factorised, G ← G∘[(ÃGS)/(GSGᵀGS)]^η.
type SimilarityRule int

const (
	// SimilarityRuleDamped is η = ¼, with which the objective never rises.
	SimilarityRuleDamped SimilarityRule = iota
	// SimilarityRulePrinted is η = 1 as in the paper, which is faster but can oscillate.
	SimilarityRulePrinted
)

var similarityRuleNames = enum.Of[SimilarityRule]("rule", "damped", "printed")

// String implements [fmt.Stringer].
func (r SimilarityRule) String() string { return similarityRuleNames.String(r) }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (r *SimilarityRule) UnmarshalText(b []byte) error {
	return similarityRuleNames.UnmarshalText(r, b)
}

// MarshalText implements [encoding.TextMarshaler]. A value without a name is an error.
func (r SimilarityRule) MarshalText() ([]byte, error) { return similarityRuleNames.MarshalText(r) }

// Values returns the names of the values.
func (SimilarityRule) Values() []string { return similarityRuleNames.Values() }

// Needs says what the method needs.
func (SSNMF) Needs() Needs { return Needs{Links: true} }

// Memory returns about how many bytes the method takes.
func (SSNMF) Memory(s Size) int64 {
	n := float64(s.Samples)
	return view.Bytes(float64(Parts{}.Memory(s)) + 24*n*n)
}

// Fit implements [Method].
func (m SSNMF) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	if err := named(m.Rule); err != nil {
		return nil, err
	}
	d, err := newOwnRuleData(x, known, opt)
	if err != nil {
		return nil, err
	}
	n, _ := d.Dims()
	a, err := m.similarity(ctx, d)
	if err != nil {
		return nil, err
	}
	if largest := mat.Max(a); !(largest >= view.SmallestValue && largest <= view.LargestValue) {
		return nil, fmt.Errorf("the largest similarity is %.3g; it must lie between %g and %g", largest, view.SmallestValue, view.LargestValue)
	}
	link(a, known)
	none, err := newCondensation(n, TieNone, nil, nil, CostFrobenius)
	if err != nil {
		return nil, err
	}
	first, err := Parts{}.initial(ctx, x, d, none, opt)
	if err != nil {
		return nil, err
	}
	s, err := m.association(opt.Rank)
	if err != nil {
		return nil, err
	}
	f := &similarityFactors{a: view.Dense{X: a}, g: first.v, s: s, power: 0.25}
	if m.Rule == SimilarityRulePrinted {
		f.power = 1
	}
	history, stop, err := descend(ctx, opt, f.value(), func(bool) (float64, error) {
		f.step()
		return f.value(), nil
	})
	if err != nil {
		return nil, err
	}
	if !algebra.Finite(f.g) || !algebra.Finite(f.s) {
		return nil, errors.New("the factors have outgrown what numbers can hold")
	}
	return &Result{Coefficients: algebra.Transpose(f.g), Association: f.s, Objective: history, Stop: stop}, nil
}

// similarity returns a copy of the similarities, checked.
func (m SSNMF) similarity(ctx context.Context, x view.Data) (*mat.Dense, error) {
	n, _ := x.Dims()
	if err := view.CheckMemory(ctx, fmt.Sprintf("the similarities of %d samples", n), 1, n, n); err != nil {
		return nil, err
	}
	if m.Similarity == nil {
		a, err := view.InnerProducts(ctx, x)
		if err != nil {
			return nil, err
		}
		for i := range n {
			for j, v := range a.RawRowView(i) {
				if v < 0 {
					return nil, &view.SampleError{Sample: i, Problem: fmt.Sprintf("its inner product with sample %d is %v, and similarities must be 0 or more", j+1, v)}
				}
			}
		}
		return a, nil
	}
	if r, c := m.Similarity.Dims(); r != n || c != n {
		return nil, fmt.Errorf("the similarities are %d×%d for %d samples", r, c, n)
	}
	if err := checkSymmetric(m.Similarity, "the similarities"); err != nil {
		return nil, err
	}
	return mat.DenseCopyOf(m.Similarity), nil
}

// association returns S at the start.
func (m SSNMF) association(k int) (*mat.Dense, error) {
	if m.Initial != nil {
		if r, c := m.Initial.Dims(); r != k || c != k {
			return nil, fmt.Errorf("the initial association is %d×%d, want %d×%d", r, c, k, k)
		}
		return mat.DenseCopyOf(m.Initial), checkSymmetric(m.Initial, "the initial association")
	}
	s := mat.NewDense(k, k, nil)
	s.Apply(func(i, j int, _ float64) float64 {
		if i == j {
			return 1
		}
		return 0.01
	}, s)
	return s, nil
}

// checkSymmetric reports values that are not ≥ 0 or not the same, but for
// rounding, on both sides of the diagonal.
func checkSymmetric(a *mat.Dense, what string) error {
	n, _ := a.Dims()
	for i := range n {
		for j, x := range a.RawRowView(i) {
			if !(x >= 0 && x <= view.LargestValue) {
				return fmt.Errorf("%s hold %v at row %d, column %d; they must be numbers from 0 to %g", what, x, i+1, j+1, view.LargestValue)
			}
			if y := a.At(j, i); math.Abs(x-y) > 1e-12*max(x, y) {
				return fmt.Errorf("%s are not symmetric: %v at row %d, column %d, and %v on the other side", what, x, i+1, j+1, y)
			}
		}
	}
	return nil
}

// link gives linked pairs the largest and the smallest of the similarities. What
// is known is free of contradictions.
func link(a *mat.Dense, known Known) {
	largest, smallest := mat.Max(a), mat.Min(a)
	set := func(i, j int, x float64) {
		if i != j {
			a.Set(i, j, x)
			a.Set(j, i, x)
		}
	}
	for i, c := range known.Labels {
		for j, b := range known.Labels[:i] {
			switch {
			case c < 0 || b < 0:
			case c == b:
				set(i, j, largest)
			default:
				set(i, j, smallest)
			}
		}
	}
	for _, p := range known.MustLink {
		set(p[0], p[1], largest)
	}
	for _, p := range known.CannotLink {
		set(p[0], p[1], smallest)
	}
}

// similarityFactors are the factors of a ≈ GSGᵀ; g is transposed, k×n.
type similarityFactors struct {
	a     view.Dense
	g, s  *mat.Dense
	power float64
}

// step moves S, then G with the new S.
func (f *similarityFactors) step() {
	ga, gag := algebra.Like(f.g), algebra.Like(f.s)
	f.a.TimesBasis(ga, f.g)
	algebra.Gemm(gag, ga, algebra.NoTrans, f.g, algebra.Trans)
	gg := algebra.SelfGram(f.g)

	// S ← S∘(GᵀÃG)/(GᵀGSGᵀG)
	gs := algebra.Times(gg, f.s)
	below := algebra.Times(gs, gg)
	k, _ := f.s.Dims()
	for r := range k {
		row, lin, pos := f.s.RawRowView(r), gag.RawRowView(r), below.RawRowView(r)
		multiply(row, lin, pos, nil, nil)
	}

	// G ← G∘[(ÃGS)/(GSGᵀGS)]^η; S is symmetric.
	above := algebra.Times(f.s, ga)
	sgs := algebra.Times(algebra.Times(f.s, gg), f.s)
	below = algebra.Times(sgs, f.g)
	for r := range k {
		row, lin, pos := f.g.RawRowView(r), above.RawRowView(r), below.RawRowView(r)
		for i, x := range row {
			row[i] = algebra.Moved(x, elementary.Pow(lin[i]/max(pos[i], algebra.LeastDenominator), f.power))
		}
	}
}

// value returns ‖Ã − GSGᵀ‖².
func (f *similarityFactors) value() float64 {
	return f.a.Residual(algebra.Times(f.s, f.g), f.g)
}
