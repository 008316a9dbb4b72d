package factor

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/lasso"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/internal/settings/enum"
	"github.com/seed4492f2cd/partwise/internal/simd"
)

// SparseCoding learns a dictionary B of atoms and sparse codes V (Lee, Battle, Raina and Ng 2006):
//
//	min ‖X − BVᵀ‖² + λ·Σ|v_ij|, ‖b_j‖ ≤ 1
//
// Each iteration minimises over V, then over each atom in turn. The data may be of any sign. With InitRandom the atoms
// start as random samples scaled to unit length; Start.Basis may be of any sign. The codes start at 0. On exit
// the codes are computed once more, unless Options.KeepScale is set.
type SparseCoding struct {
	// Lambda is λ, in the scale of the samples' length: a sample of unit length gets the code 0 if its cosine with
	// every atom is at most λ/2. 0 means 0.1, WeightNone means 0.
	Lambda float64 `setting:"lambda" default:"0.1" help:"weight λ of the L1 norm of the codes"`
}

func (SparseCoding) Needs() Needs        { return Needs{Signed: true} }
func (SparseCoding) Memory(s Size) int64 { return Parts{}.Memory(s) }

// Fit implements [Method].
func (s SparseCoding) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (_ *Result, err error) {
	defer guard.Catch(&err)
	lambda := orDefault(s.Lambda, 0.1)
	guard.Check(view.CheckWeight("lambda", lambda))
	d := newOwnRuleData(x, known, opt)
	n, _ := d.Dims()
	b := initialDictionary(ctx, x, d, opt)
	codes := mat.NewDense(n, opt.Rank, nil)
	size := view.SumSquares(d)
	last, penalty := size, []float64{0}
	keptCodes, keptAtoms := algebra.Like(codes), algebra.Like(b)
	history, stop := descend(ctx, opt, size, func(bool) float64 {
		keptCodes.Copy(codes)
		keptAtoms.Copy(b)
		encode(ctx, d, b, lambda, codes)
		v := algebra.Transpose(codes)
		stepAtoms(d, b, v)
		var share float64
		for _, x := range codes.RawMatrix().Data {
			share += math.Abs(x)
		}
		share *= lambda
		if now := d.Residual(b, v) + share; now <= last*(1+1e-12)+1e-13*size {
			last, penalty = now, append(penalty, share)
			return now
		}
		// The objective rose by rounding, because atoms are nearly dependent: undo the step.
		codes.Copy(keptCodes)
		b.Copy(keptAtoms)
		penalty = append(penalty, penalty[len(penalty)-1])
		return last
	})
	model := &SparseCode{Dictionary: algebra.Transpose(b), Lambda: lambda}
	if !opt.KeepScale {
		codes = guard.Must(model.Transform(ctx, x))
	}
	return &Result{Basis: model.Dictionary, Model: model, Coefficients: codes, Objective: history, Penalty: penalty, Stop: stop}, nil
}

// initialDictionary returns the initial atoms as rows. It calls guard.Fail.
func initialDictionary(ctx context.Context, x mat.Matrix, d view.Data, opt Options) *mat.Dense {
	n, m := d.Dims()
	if opt.Start != nil && opt.Start.Basis != nil {
		guard.Check(checkFactor(opt.Start.Basis, "the initial atoms", m, opt.Rank, -view.LargestValue))
		b := algebra.Transpose(opt.Start.Basis)
		for r := range opt.Rank {
			capLength(b.RawRowView(r))
		}
		return b
	}
	if opt.Init != InitRandom && opt.Init != "" {
		opt.Start = nil
		first := Parts{}.initial(ctx, x, d, view.NewCondensation(n, nil, nil, 2), opt)
		u := first.parameters[0]
		algebra.DivideRows(u, algebra.Lengths(u))
		return u
	}
	atom := make([]int, n) // each sample's place in a random order; the first Rank become atoms
	for at, i := range rng.New(opt.Seed, "dictionary").Perm(n) {
		atom[i] = at
	}
	b := mat.NewDense(opt.Rank, m, nil)
	d.Each(func(i, j int, x float64) {
		if atom[i] < opt.Rank {
			b.Set(atom[i], j, x)
		}
	})
	algebra.DivideRows(b, algebra.Lengths(b))
	return b
}

// stepAtoms minimises over each atom in turn, a row of b, with the codes v, k×n, fixed. With A = VᵀV and C = XV the
// minimum is b_j + (c_j − B·a_j)/a_jj, scaled down to unit length if longer. Atoms that no code uses stay.
func stepAtoms(x view.Data, b, v *mat.Dense) {
	k, m := b.Dims()
	a, c := algebra.SelfGram(v), algebra.Like(b)
	x.TimesCoefficients(c, v)
	rest := make([]float64, m)
	for j := range k {
		weights := a.RawRowView(j)
		if weights[j] < algebra.Floor*algebra.Floor {
			continue
		}
		copy(rest, c.RawRowView(j))
		for i, w := range weights {
			algebra.Axpy(-w, b.RawRowView(i), rest)
		}
		atom := b.RawRowView(j)
		algebra.Axpy(1/weights[j], rest, atom)
		capLength(atom)
	}
}

func capLength(x []float64) {
	if length := elementary.Norm(x); length > 1 {
		for i := range x {
			x[i] /= length
		}
	}
}

// SparseCode is a [Model] that represents a sample x by its code argmin ‖x − B·s‖² + λ·Σ|s_j|.
type SparseCode struct {
	Dictionary *mat.Dense // B, m×k, the k atoms as columns
	Lambda     float64    // λ; 0 means 0
}

// Vectors returns Dictionary, m×k.
func (s *SparseCode) Vectors() *mat.Dense { return s.Dictionary }

// Transform returns the codes, p×k, of the samples x, p×m. If dependent atoms allow several minima, it returns one.
func (s *SparseCode) Transform(ctx context.Context, x mat.Matrix) (_ *mat.Dense, err error) {
	defer guard.Catch(&err)
	rows, k := s.Dictionary.Dims()
	d := dataOf(x, rows, "the atoms")
	p, _ := d.Dims()
	guard.Check(view.CheckWeight("lambda", s.Lambda))
	codes := mat.NewDense(p, k, nil)
	encode(ctx, d, algebra.Transpose(s.Dictionary), s.Lambda, codes)
	guard.FailIf(!algebra.Finite(codes), "the codes overflow")
	return codes, nil
}

// encode minimises over the codes of the samples, n×k, in place, for the dictionary, k×m. It calls guard.Fail.
func encode(ctx context.Context, x view.Data, dictionary *mat.Dense, lambda float64, codes *mat.Dense) {
	n, k := codes.Dims()
	products := mat.NewDense(k, n, nil)
	x.TimesBasis(products, dictionary)
	products = algebra.Transpose(products) // XᵀB
	l := lasso.New(dictionary, lambda)
	for i := range n {
		guard.Check(ctx.Err())
		l.Solve(codes.RawRowView(i), products.RawRowView(i))
	}
}

// SSNMF is semi-supervised NMF of the samples' similarities (Chen, Rege, Dong and Fotouhi 2007): min ‖Ã − GSGᵀ‖² over G,
// n×k, and S, k×k, both ≥ 0. Ã is XᵀX, n×n, with the similarity of must-linked samples set to the largest value
// and of cannot-linked samples to the smallest. The links are Known.MustLink, Known.CannotLink and all pairs of
// labelled samples. Result.Coefficients is G, which [Options].Init initialises as coefficients, and
// Result.Association is S, which is 1 on the diagonal and 0.01 elsewhere at the start, for separated clusters.
// Result.Basis and Model are nil.
type SSNMF struct {
	// Rule is the step size of G.
	Rule SimilarityRule `setting:"rule" help:"update: damped (never increases the objective) or printed (as in the paper; can increase it)"`
}

// SimilarityRule is the step size η of the coefficients of [SSNMF], G ← G∘[(ÃGS)/(GSGᵀGS)]^η.
type SimilarityRule int

const (
	SimilarityRuleDamped  SimilarityRule = iota // η = ¼: the objective never rises
	SimilarityRulePrinted                       // η = 1, as in the paper: faster, but can oscillate
)

var similarityRuleNames = enum.Of[SimilarityRule]("rule", "damped", "printed")

// String returns the name of the rule in settings.
func (r SimilarityRule) String() string { return similarityRuleNames.String(r) }
func (r *SimilarityRule) UnmarshalText(b []byte) error {
	return similarityRuleNames.UnmarshalText(r, b)
}
func (r SimilarityRule) MarshalText() ([]byte, error) { return similarityRuleNames.MarshalText(r) }
func (SimilarityRule) Values() []string               { return similarityRuleNames.Values() }
func (SSNMF) Needs() Needs                            { return Needs{Links: true, NoModel: true} }

func (SSNMF) Memory(s Size) int64 {
	n := float64(s.Samples)
	return view.Bytes(float64(Parts{}.Memory(s)) + 24*n*n)
}

// Fit implements [Method].
func (m SSNMF) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (_ *Result, err error) {
	defer guard.Catch(&err)
	guard.Check(checkEnums(m.Rule))
	d := newOwnRuleData(x, known, opt)
	n, _ := d.Dims()
	a := innerProducts(ctx, d)
	checkSimilarities(a)
	largest := mat.Max(a)
	guard.FailIf(!(largest >= view.SmallestValue && largest <= view.LargestValue),
		"the largest similarity is %.3g; expected %g to %g", largest, view.SmallestValue, view.LargestValue)
	setLinks(a, known)
	first := Parts{}.initial(ctx, x, d, view.NewCondensation(n, nil, nil, 2), opt)
	return m.fit(ctx, a, first.v, opt), nil
}

// fit starts at g, k×n. It calls guard.Fail.
func (m SSNMF) fit(ctx context.Context, a, g *mat.Dense, opt Options) *Result {
	s := mat.NewDense(opt.Rank, opt.Rank, nil)
	s.Apply(func(i, j int, _ float64) float64 {
		if i == j {
			return 1
		}
		return 0.01
	}, s)
	f := &similarityFactors{a: view.Dense{X: a}, g: g, s: s, power: []float64{0.25, 1}[m.Rule]}
	return f.fit(ctx, opt)
}

// fit calls guard.Fail.
func (f *similarityFactors) fit(ctx context.Context, opt Options) *Result {
	history, stop := descend(ctx, opt, f.value(), func(bool) float64 {
		f.update()
		return f.value()
	})
	guard.FailIf(!algebra.Finite(f.g) || f.s != nil && !algebra.Finite(f.s), "the factors overflow")
	return &Result{Coefficients: algebra.Transpose(f.g), Association: f.s, Objective: history, Stop: stop}
}

// innerProducts calls guard.Fail.
func innerProducts(ctx context.Context, x view.Data) *mat.Dense {
	n, _ := x.Dims()
	guard.Check(view.CheckMemory(ctx, fmt.Sprintf("the similarities of %d samples", n), 1, n, n))
	return guard.Must(view.InnerProducts(ctx, x))
}

// checkSimilarities calls guard.Fail for the first negative value.
func checkSimilarities(a *mat.Dense) {
	n, _ := a.Dims()
	for i := range n {
		if j := slices.IndexFunc(a.RawRowView(i), func(v float64) bool { return v < 0 }); j >= 0 {
			guard.Check(&view.SampleError{Sample: i, Problem: fmt.Sprintf("its inner product with sample %d is %v; similarities must be 0 or more", j+1, a.At(i, j))})
		}
	}
}

// setLinks sets the similarity of must-linked pairs to the largest value and of cannot-linked pairs to the smallest. It
// calls guard.Fail.
func setLinks(a *mat.Dense, known Known) {
	n, _ := a.Dims()
	pairs, _, err := known.Pairs(n)
	guard.Check(err)
	values := map[bool]float64{true: mat.Max(a), false: mat.Min(a)}
	pairs(func(i, j int, must bool) {
		a.Set(i, j, values[must])
		a.Set(j, i, values[must])
	})
}

// similarityFactors are the factors of a ≈ GSGᵀ, or of a ≈ GGᵀ if s is nil; g is Gᵀ, k×n.
type similarityFactors struct {
	a          view.Data
	g, s       *mat.Dense
	power      float64
	sumSquares float64 // ‖a‖², if s is nil
}

// update updates S, then G with the new S.
func (f *similarityFactors) update() {
	k, _ := f.g.Dims()
	above := algebra.Like(f.g)
	f.a.TimesBasis(above, f.g)
	form := algebra.SelfGram(f.g)
	if f.s != nil {
		// S ← S∘(GᵀÃG)/(GᵀGSGᵀG)
		gag := algebra.Like(f.s)
		algebra.Gemm(gag, above, algebra.NoTrans, f.g, algebra.Trans)
		gs := algebra.Times(form, f.s)
		below := algebra.Times(gs, form)
		for r := range k {
			simd.Step(f.s.RawRowView(r), gag.RawRowView(r), below.RawRowView(r), algebra.LeastDenominator, algebra.Floor)
		}
		above = algebra.Times(f.s, above)
		form = algebra.Times(algebra.Times(f.s, form), f.s)
	}
	// G ← G∘[(ÃGS)/(GSGᵀGS)]^η; S is symmetric.
	below := algebra.Times(form, f.g)
	for r := range k {
		row, lin, pos := f.g.RawRowView(r), above.RawRowView(r), below.RawRowView(r)
		for i, x := range row {
			row[i] = algebra.FlooredProduct(x, elementary.Pow(lin[i]/max(pos[i], algebra.LeastDenominator), f.power))
		}
	}
}

func (f *similarityFactors) value() float64 {
	if f.s == nil {
		c := newFrobeniusCost(f.a, f.g, f.g, f.sumSquares)
		return c.value()
	}
	return f.a.Residual(algebra.Times(f.s, f.g), f.g)
}

// SymNMF is symmetric NMF of the samples' similarities (Kuang, Ding and Park 2012),
//
//	min ‖A − VVᵀ‖², A = D^-½·S·D^-½, V ≥ 0
//
// S holds the similarities, n×n, and D is the diagonal matrix of their row sums. A step is V ← V∘[(AV)/(VVᵀV)]^⅓, with which
// the objective never rises (He, Xie, Zdunek, Zhou and Cichocki 2011). The largest coefficient of a sample is its cluster.
// Result.Basis and Model are nil. Labels and links have no effect; see [SSNMF] for these.
type SymNMF struct {
	// Similarity is the source of S.
	Similarity Similarity `setting:"similarity" help:"similarities: graph (of nearest neighbours) or kernel"`
	Neighbourhood
	Kernel
}

// Similarity is the source of the similarities of [SymNMF].
type Similarity int

const (
	SimilarityGraph  Similarity = iota // the weights of the graph of Neighbourhood
	SimilarityKernel                   // the values of Kernel, which must be ≥ 0
)

var similarityNames = enum.Of[Similarity]("similarity", "graph", "kernel")

// String returns the name of the similarities in settings.
func (s Similarity) String() string                   { return similarityNames.String(s) }
func (s *Similarity) UnmarshalText(name []byte) error { return similarityNames.UnmarshalText(s, name) }
func (s Similarity) MarshalText() ([]byte, error)     { return similarityNames.MarshalText(s) }
func (Similarity) Values() []string                   { return similarityNames.Values() }

func (m SymNMF) Needs() Needs {
	return Needs{NoModel: true, Signed: m.Similarity == SimilarityGraph || m.Kernel.Function == KernelRBF}
}

func (m SymNMF) Memory(s Size) int64 {
	n := float64(s.Samples)
	similarities := 40 * n * n
	if m.Similarity == SimilarityGraph {
		similarities = 2 * s.graph(m.Neighbourhood)
	}
	return view.Bytes(float64(Parts{}.Memory(s)) + similarities)
}

// Fit implements [Method].
func (m SymNMF) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (_ *Result, err error) {
	defer guard.Catch(&err)
	guard.Check(checkEnums(m.Similarity))
	d := newOwnRuleData(x, known, opt)
	a := m.similarities(ctx, x, d)
	n, _ := d.Dims()
	first := Parts{}.initial(ctx, x, d, view.NewCondensation(n, nil, nil, 2), opt)
	f := &similarityFactors{a: a, g: first.v, power: 1. / 3, sumSquares: view.SumSquares(a)}
	f.scale()
	return f.fit(ctx, opt), nil
}

// similarities returns A. It calls guard.Fail.
func (m SymNMF) similarities(ctx context.Context, x mat.Matrix, d view.Data) view.Data {
	n, _ := d.Dims()
	if m.Similarity == SimilarityGraph {
		s := m.Neighbourhood.graph(ctx, d)
		a := view.NewSparse(s)
		degree := inverseRoots(a)
		for i := range n {
			columns, values := s.Row(i)
			for p, j := range columns {
				values[p] *= degree[i] * degree[j]
			}
		}
		return view.NewSparse(s)
	}
	var s *mat.Dense
	if m.Kernel.isLinear() {
		s = innerProducts(ctx, d)
	} else {
		s = m.Kernel.bind(ctx, x, d).values
	}
	checkSimilarities(s)
	degree := inverseRoots(view.Dense{X: s})
	s.Apply(func(i, j int, x float64) float64 { return x * degree[i] * degree[j] }, s)
	return view.Dense{X: s}
}

// inverseRoots returns the inverse square roots of the row sums, 0 for rows of zeros.
func inverseRoots(s view.Data) []float64 {
	n, _ := s.Dims()
	out := make([]float64, n)
	s.Each(func(i, _ int, x float64) { out[i] += x })
	for i, x := range out {
		if x > 0 {
			out[i] = 1 / math.Sqrt(x)
		}
	}
	return out
}

// scale multiplies V by the factor that minimises the objective.
func (f *similarityFactors) scale() {
	ga := algebra.Like(f.g)
	f.a.TimesBasis(ga, f.g)
	gg := algebra.SelfGram(f.g)
	if by := math.Sqrt(algebra.Inner(ga, f.g) / algebra.Inner(gg, gg)); by > 0 && algebra.FiniteNumber(by) {
		f.g.Scale(by, f.g)
	}
}
