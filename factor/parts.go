package factor

import (
	"cmp"
	"context"
	"encoding"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/settings"
	"github.com/seed4492f2cd/partwise/internal/settings/enum"
	"github.com/seed4492f2cd/partwise/internal/timing"
)

// Parts is a factorisation method as a combination of parts. The named methods are the combinations of the papers; any
// other combination is also a method. The zero value is NMF.
type Parts struct {
	Cost Cost `setting:"cost" help:"cost: divergence between data and reconstruction"`
	// Exponent is β of CostBeta; 0 means 0.5, WeightNone means 0.
	Exponent float64 `setting:"exponent" default:"0.5" range:"[0,4]" help:"exponent β of cost beta"`
	// Threshold is δ of CostHuber; 0 means a tenth of the mean value.
	Threshold float64 `setting:"threshold" default:"a tenth of the mean value" range:"[1e-60,1e60]" help:"threshold δ of cost huber; larger errors count less than their squares"`
	Basis     Basis   `setting:"basis" help:"kind of basis vectors; concept allows data of any sign"`
	// FeatureRank is l, the number of groups of features of BasisTri; 0 means the rank.
	FeatureRank int `setting:"feature-rank" default:"rank" range:"[1,1e6]" help:"number of groups of features of basis tri"`
	Tie         Tie `setting:"tie" help:"hard constraint; labels gives all samples of a class the same coefficients"`
	// Orthogonal is the factor with orthogonal columns.
	Orthogonal Orthogonality `setting:"orthogonal" help:"hard constraint of orthogonal columns, on the coefficients, the basis vectors (basis tri: the groups of features) or both"`
	// Weighting is the weight of each sample in the cost.
	Weighting Weighting `setting:"weighting" help:"weights of samples"`
	// Penalties are terms added to the cost.
	Penalties Penalties `setting:"penalty" default:"none" help:"penalty added to the cost; + joins several"`
	// UnitNorm scales the vectors of a free basis to unit length in every iteration, so that shrinking V and growing
	// U cannot lower a penalty. The coefficients are not rescaled, so the objective can rise.
	UnitNorm bool  `setting:"unit-norm" help:"scale basis vectors to unit length in every iteration"`
	Kernel         // the inner product of samples, for a concept basis under the Frobenius cost
	Image    Image // the image size of samples, for a rank-one basis and some penalties
	// Fixed, if set, m×r, holds basis vectors that stay as they are: the first r columns of U. The others are learned. It
	// requires a free or semi basis.
	Fixed *mat.Dense
	// HeldOut, if not nil, holds the entries excluded from the fit. It requires plain NMF under either cost.
	HeldOut HeldOut
	// EntryWeights reports that the samples are a [Weighted] with missing entries or weights of entries. Fit sets it, so
	// that a Solver can refuse it.
	EntryWeights bool
	// FitWeight is the weight of the cost relative to the penalties; 0 means 1. WeightNone is invalid.
	FitWeight float64
}

// Tie is the constraint that makes samples share their coefficients.
type Tie int

const (
	TieNone   Tie = iota // every sample has its own coefficients
	TieLabels            // samples of one class share their coefficients, V = A·Z (CNMF paper, eq. 5)
)

var tieNames = enum.Of[Tie]("tie", "none", "labels")

// String returns the name of the ties in settings.
func (t Tie) String() string                   { return tieNames.String(t) }
func (t *Tie) UnmarshalText(name []byte) error { return tieNames.UnmarshalText(t, name) }
func (t Tie) MarshalText() ([]byte, error)     { return tieNames.MarshalText(t) }
func (Tie) Values() []string                   { return tieNames.Values() }

// Weighting is the weight of each sample in the cost.
type Weighting int

const (
	WeightingEqual Weighting = iota // weight 1
	// WeightingNormalisedCut gives sample i the weight γ_i = 1/Σ_j x_iᵀx_j: a relaxed normalised cut (Xu, Liu and
	// Gong 2003).
	WeightingNormalisedCut
)

var weightingNames = enum.Of[Weighting]("weighting", "equal", "normalised-cut")

// String returns the name of the weighting in settings.
func (w Weighting) String() string                   { return weightingNames.String(w) }
func (w *Weighting) UnmarshalText(name []byte) error { return weightingNames.UnmarshalText(w, name) }
func (w Weighting) MarshalText() ([]byte, error)     { return weightingNames.MarshalText(w) }
func (Weighting) Values() []string                   { return weightingNames.Values() }

// DecodeSetting implements [settings.Decoder]. The mapping holds the settings of the parts and of all penalties.
func (p *Parts) DecodeSetting(v *settings.Value) error {
	if v.Kind != settings.KindMapping {
		return v.Want("keys and values in braces")
	}
	own, others := v.Split(settings.Names(*p))
	type plain Parts
	if err := settings.Decode(own, (*plain)(p)); err != nil {
		return err
	}
	return p.Penalties.decode(others, settings.Names(*p))
}

// Settings returns the settings of the parts and of all penalties.
func (p Parts) Settings() []Setting {
	return append(settings.List(p), penaltySettings()...)
}

// AsParts returns p.
func (p Parts) AsParts() Parts { return p }

func (p Parts) Needs() Needs {
	labels := p.Tie == TieLabels
	n := Needs{
		Labels: labels, TiesLabels: labels, Concept: p.Basis == BasisConcept, Images: p.Basis == BasisRankOne,
		Signed: p.signed() && p.Kernel.Function != KernelIntersection && (p.Weighting == WeightingEqual || !p.Kernel.isLinear()),
	}
	for _, penalty := range p.Penalties {
		n.Signed = n.Signed && (!penalty.OnBasis() || p.Basis == BasisSemi)
		of := NeedsOf(penalty)
		n.Labels, n.Links = n.Labels || of.Labels, n.Links || of.Links
		n.TiesLabels, n.Images = n.TiesLabels || of.TiesLabels, n.Images || of.Images
	}
	return n
}

// Fit implements [Method]. The data must be ≥ 0, except for a concept basis under the Frobenius cost. Fit returns
// an error for unusable data or options, on overflow, and when ctx ends.
func (p Parts) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (_ *Result, err error) {
	defer guard.Catch(&err)
	ready := timing.Start(ctx, timing.SetUp)
	f, err := p.start(ctx, x, known, opt)
	ready()
	guard.Check(err)
	guard.Check(f.iterate(ctx, opt))
	return f.finish(opt)
}

func (p Parts) validate() (err error) {
	defer guard.Catch(&err)
	guard.Check(checkEnums(p.Cost, p.Basis, p.Tie, p.Weighting, p.Orthogonal))
	guard.Must(p.Kernel.withDefaults())
	guard.FailIf(!p.Kernel.isLinear() && !p.usesGram(), "a kernel needs basis concept and cost frobenius, got basis %v and cost %v", p.Basis, p.Cost)
	guard.FailIf(p.FitWeight == WeightNone, "the weight of the fit is 0; expected more than 0")
	guard.FailIf(p.EntryWeights && p.Basis == BasisConcept,
		"basis concept supports no missing values or weights of entries: it adds whole samples; use basis free")
	guard.FailIf(p.EntryWeights && p.cost().split == nil, "cost %v supports no missing values or weights of entries", p.Cost)
	guard.FailIf(p.Basis != BasisTri && p.FeatureRank != 0, "feature-rank is for basis %v; the basis is %v", BasisTri, p.Basis)
	guard.FailIf(p.UnitNorm && !p.Basis.free(), "unit-norm needs basis free or semi, got %v", p.Basis)
	guard.Check(cmp.Or(p.checkSemi(), p.checkFixed(), p.checkOrthogonal(), p.Cost.check(p.Exponent, p.Threshold), view.CheckWeight("the weight of the fit", p.FitWeight), p.HeldOut.supports(p)))
	for _, penalty := range p.Penalties {
		guard.FailIf(penalty.OnBasis() && !p.Kernel.isLinear(),
			"the penalty %s needs basis vectors in feature space, and a kernel has none", penaltyName(penalty))
	}
	return nil
}

// checkEnums returns an error for the first value that is not in its enumeration.
func checkEnums(values ...encoding.TextMarshaler) error {
	for _, v := range values {
		if _, err := v.MarshalText(); err != nil {
			return err
		}
	}
	return nil
}

func (p Parts) cost() costInfo { return p.Cost.with(p.Exponent, p.Threshold) }

func (p Parts) usesGram() bool { return p.Basis == BasisConcept && p.Cost == CostFrobenius }

// signed reports whether samples with equal weights may have negative values.
func (p Parts) signed() bool { return bases[p.Basis].signed && p.Cost == CostFrobenius }

func (p Parts) start(ctx context.Context, x mat.Matrix, known Known, opt Options) (_ *Factorisation, err error) {
	defer guard.Catch(&err)
	plain, entries, samples, err := view.Unweighted(x, true)
	guard.Check(err)
	d := guard.Must(view.New(plain))
	n, m := d.Dims()
	p.EntryWeights = entries != nil
	guard.Check(cmp.Or(known.Check(n), opt.validate(n), p.validate(), p.checkFixedSize(m, opt.Rank)))
	p = guard.Must(p.withFeatureRank(opt.Rank, m))
	if opt.Solver != nil {
		guard.Check(opt.Solver.Serves(p))
	}
	held, d := p.HeldOut.split(d)
	x = d.Matrix()
	f := &Factorisation{parts: p, whole: d}
	guard.FailIf(held != nil && samples != nil, "held-out entries are not supported with weights of samples")
	if !p.Kernel.isLinear() {
		f.kernel = p.Kernel.bind(ctx, x, d)
	}
	negative := view.Negative(d)
	if negative != nil && f.kernel == nil && !(p.signed() && p.Weighting == WeightingEqual) {
		return nil, negative.Needing("this method")
	}
	if p.Basis == BasisRankOne {
		guard.Check(p.Image.validate(m, "a rank-one basis"))
	}
	weights, cost := entries, p.cost()
	if cost.constant == nil {
		dense := guard.Must(cost.samples(d))
		d, x, f.whole = dense, dense.X, dense
		if weights == nil && (cost.robust || p.Tie != TieNone || p.Weighting != WeightingEqual || samples != nil) {
			weights = onesMatrix(n, m)
		}
	}
	f.ties = p.condensation(d, f.kernel, known, weights, samples)
	if p.Cost == CostHuber && p.Threshold == 0 {
		p.Threshold = defaultThreshold(d, weights)
		f.parts = p
	}
	f.bindPenalties(ctx, known, opt.Rank, negative)
	made := timing.Start(ctx, timing.Initial)
	if entries != nil || samples != nil {
		x = &Weighted{Matrix: x, Entries: entries, Samples: samples}
	}
	first := p.initial(timing.Without(ctx), x, d, f.ties, opt)
	made()
	f.v, f.factors = first.v, append(first.parameters, first.v)
	var tied *view.Condensation
	switch {
	case cost.robust:
		f.data, tied = d, f.ties
	case weights != nil:
		whole := weights
		f.data, weights = f.ties.Means(d.(view.Dense), whole)
		f.offset = weightedOffset(f, whole)
	case f.kernel == nil:
		f.data = f.ties.Data(d)
		if !f.ties.None {
			f.offset = max(cost.constant(f.ties, d, f.data), 0)
		}
	}
	_, mu := opt.Solver.(Multiplicative)
	switch {
	case f.kernel != nil:
		f.model = newKernelModel(f.kernel.values, f.ties, first.parameters[0], first.v)
	case p.usesGram():
		f.model = newConceptModel(ctx, d, f.data, f.ties, first.parameters[0], first.v, negative != nil, !mu)
	default:
		f.model = p.plainModel(d, f.data, held, weights, tied, first)
	}
	return f, f.startSolver(opt.Solver)
}

// bindPenalties calls guard.Fail.
func (f *Factorisation) bindPenalties(ctx context.Context, known Known, rank int, negative *view.SampleError) {
	for _, penalty := range f.parts.Penalties {
		if penalty.OnBasis() && negative != nil && f.parts.Basis != BasisSemi {
			guard.Check(negative.Needing("the penalty " + penaltyName(penalty)))
		}
		bound := guard.Must(penalty.Bind(ctx, Problem{Known: known, Image: f.parts.Image, Rank: rank, data: f.whole}))
		if penalty.OnBasis() {
			f.onBasis = append(f.onBasis, bound)
		} else {
			f.onCoefficients = append(f.onCoefficients, bound)
		}
	}
}

// startSolver starts the solver. If solver is nil, it tries Fast, then Multiplicative.
func (f *Factorisation) startSolver(solver Solver) (err error) {
	if fast := (Fast{}); solver == nil && fast.Serves(f.parts) == nil {
		if f.step, err = fast.Start(f); err == nil {
			return nil
		}
	}
	if solver == nil {
		solver = Multiplicative{}
	}
	f.step, err = solver.Start(f)
	return err
}

// condensation multiplies the weights of entries, or nil, by the weights of samples. It calls guard.Fail.
func (p Parts) condensation(d view.Data, kernel *boundKernel, known Known, entries *mat.Dense, samples []float64) *view.Condensation {
	n, _ := d.Dims()
	weight, degree := slices.Clone(samples), p.cost().degree
	if p.Weighting == WeightingNormalisedCut {
		cuts := normalisedCutWeights(d, kernel)
		if weight == nil {
			weight = cuts
		} else {
			floats.Mul(weight, cuts)
		}
		// Under a cost of degree 1 the condensed coefficients are V times the weights, which must not overflow.
		for i, w := range weight {
			if !p.Cost.Quadratic() && !(w >= view.SmallestNumber && w <= view.LargestNumber) {
				guard.Check(&view.SampleError{Sample: i, Problem: fmt.Sprintf("its normalised-cut weight is %.3g; with cost %v, expected %g to %g", w, p.Cost, view.SmallestNumber, view.LargestNumber)})
			}
		}
	}
	if entries != nil {
		for i, w := range weight {
			algebra.ScaleRow(entries, i, w)
		}
		weight, degree = nil, math.Inf(1) // the coefficients keep their scale
	}
	var tied []int
	if p.Tie == TieLabels {
		tied = known.Labels
		guard.FailIf(len(tied) == 0, "label ties need labelled samples; none are given")
	}
	return view.NewCondensation(n, tied, weight, degree)
}

// plainModel combines cost and basis. held is 1 at held-out entries, or nil; weights are of the condensed entries, or nil.
// ties are of v under a robust cost, whose data is not condensed, else nil.
func (p Parts) plainModel(d, condensed view.Data, held *CSR, weights *mat.Dense, ties *view.Condensation, first *initialFactors) *plainModel {
	var u *mat.Dense
	if p.Basis.free() {
		u = first.parameters[0]
	} else {
		k, _ := first.v.Dims()
		_, m := d.Dims()
		u = mat.NewDense(k, m, nil)
	}
	b := bases[p.Basis].new(p, d, first.parameters, u)
	if p.Basis == BasisSemi {
		u.Zero() // values in the null space of V, which no step changes, would cost digits
	}
	if !p.Basis.free() || p.Fixed != nil {
		b.moved(0)
	}
	var cost cost
	info := p.cost()
	if weights == nil {
		cost = info.of(condensed, u, first.v)
	} else {
		cost = info.weighted(condensed.(view.Dense), weights, u, first.v, ties)
		if p.Basis == BasisSemi {
			cost = newImputedCost(cost.(*weightedCost))
		}
	}
	if held != nil {
		cost = &maskedCost{cost: cost, x: condensed, kl: p.Cost == CostKL, term: p.cost().term,
			held: view.NewSparse(held), u: u, v: first.v, inU: algebra.Like(u)}
	}
	return &plainModel{cost, b, u, append(first.parameters, first.v), p}
}

// normalisedCutWeights returns γ_i = 1/Σ_j k_ij for the kernel values or the inner products k_ij. It calls guard.Fail.
func normalisedCutWeights(x view.Data, kernel *boundKernel) []float64 {
	n, m := x.Dims()
	out := make([]float64, n)
	if kernel != nil {
		algebra.RowSums(out, kernel.values)
	} else {
		total := make([]float64, m)
		x.Each(func(_, j int, v float64) { total[j] += v })
		x.Each(func(i, j int, v float64) { out[i] += v * total[j] })
	}
	for i, s := range out {
		if !(s > 0) {
			guard.Check(&view.SampleError{Sample: i, Problem: fmt.Sprintf("its inner products with the samples sum to %v; normalised-cut weights need more than 0", s)})
		}
		out[i] = 1 / s
	}
	return out
}

// Size is the size of a problem, from which [Memory] estimates the memory of a fit.
type Size struct {
	// Samples, Features and Rank are n, m and k; Stored is the number of values that a sparse matrix stores.
	Samples, Features, Rank, Stored int
	Labelled, Links                 int  // the numbers of labels and of links
	Signed                          bool // the data has negative values
	Weighted                        bool // the data is a [Weighted]
	Init                            Init // Options.Init
}

// Memory returns an estimate of the largest number of bytes that a method or a penalty allocates, from its own
// Memory(Size) int64 if it has one. It returns 0 if there is no estimate.
func Memory(method any, s Size) int64 {
	switch m := method.(type) {
	case interface{ Memory(Size) int64 }:
		return m.Memory(s)
	case Composition:
		return m.AsParts().Memory(s)
	}
	if NeedsOf(method).Direct {
		return s.embedding()
	}
	return 0
}

// Memory estimates the bytes for factors, parts of gradients, copies of the data and Gram matrices. It adds the
// estimates of penalties that have a method Memory(Size) int64.
func (p Parts) Memory(s Size) int64 {
	n, m, k, factors := s.floats()
	need := 13*factors + 8*view.GramRows*(n+m) + 64*k*k
	if s.Stored > 0 { // the transpose, and factors with padded rows
		need += 16*float64(s.Stored) + 3*factors + 192*(n+m)
	}
	condensed := p.Tie == TieLabels || p.Weighting == WeightingNormalisedCut || s.Weighted
	if condensed {
		need += s.data()
	}
	if p.Cost > CostKL { // dense samples, and weights of entries
		need += 8 * n * m
		if condensed || p.cost().robust {
			need += 24 * n * m
		}
	}
	if s.Weighted { // samples and weights: given, condensed and transposed
		need += 5 * s.data()
		if p.Basis == BasisSemi {
			need += s.data()
		}
	}
	switch s.Init {
	case InitNMF:
		need += 2 * factors
	case InitNNDSVDa:
		need += 6*factors + 80*(n+m)
	}
	if p.Basis == BasisConcept {
		products := 0.0 // matrices of n×n
		switch {
		case !p.Kernel.isLinear():
			products = 6
		case s.Signed:
			products = 3
		case formsProducts(s.Samples, s.Features, true):
			products = 1
		}
		if condensed && products > 0 {
			products++
		}
		need += 64*k*n + products*8*n*n
	}
	if p.HeldOut != nil {
		held := 0
		for _, columns := range p.HeldOut {
			held += len(columns)
		}
		need += s.heldOut(float64(held))
	}
	for _, penalty := range p.Penalties {
		need += (450+32*k)*(n+m) + 250*float64(s.Links)
		need += float64(Memory(penalty, s))
	}
	return view.Bytes(need)
}

func (s Size) floats() (n, m, k, factors float64) {
	n, m, k = float64(s.Samples), float64(s.Features), float64(s.Rank)
	return n, m, k, 8 * k * (n + m)
}

func (s Size) data() float64 {
	if s.Stored > 0 {
		return 80 * float64(s.Stored)
	}
	return 8 * float64(s.Samples) * float64(s.Features)
}

// heldOut estimates the bytes of the data without held-out entries, of these in both orders, and of their gradients.
func (s Size) heldOut(held float64) float64 {
	n, m, _, factors := s.floats()
	return s.data() + 40*held + 5*factors + 192*(n+m)
}

func (s Size) graph(h Neighbourhood) float64 {
	n := float64(s.Samples)
	return 8*view.GramRows*n + 450*n*float64(min(h.neighbours(), s.Samples))
}

// embedding estimates the bytes of a linear embedding: dense samples, principal directions, scatter matrices, graphs.
func (s Size) embedding() int64 {
	n, m, _, factors := s.floats()
	r := min(n, m)
	return view.Bytes(16*n*m + 24*m*r + 24*n*r + 72*r*r + 2*factors + 9000*n)
}
