package factor

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
)

// problem is a random factorisation problem.
type problem struct {
	x     *mat.Dense
	known Known
	opt   Options
	image Image
}

func (p problem) String() string {
	n, m := p.x.Dims()
	return fmt.Sprintf("n=%d m=%d k=%d seed=%d", n, m, p.opt.Rank, p.opt.Seed)
}

// randomProblem draws a problem of 1 to 30 samples of any scale, with any share of zeros and labels, and any rank.
func randomProblem(seed uint64, signed bool) problem {
	src := rand.New(rand.NewPCG(seed, 7))
	n, m := 1+src.IntN(30), 1+src.IntN(30)
	density := src.Float64()
	scale := math.Pow(10, 4*src.Float64()-2)
	x := mat.NewDense(n, m, nil)
	for i := range n {
		row := x.RawRowView(i)
		for j := range row {
			if src.Float64() < density {
				row[j] = scale * (1 - src.Float64())
				if signed && src.Float64() < 0.3 {
					row[j] = -row[j]
				}
			}
		}
		row[src.IntN(m)] = scale // never all zero
	}
	classes := 1 + src.IntN(5)
	share := src.Float64()
	if src.IntN(4) == 0 {
		share = 1
	}
	labels := make([]int, n)
	for i := range labels {
		if labels[i] = -1; src.Float64() < share {
			labels[i] = src.IntN(classes)
		}
	}
	labels[src.IntN(n)] = 0 // one at least
	height := int(math.Sqrt(float64(m)))
	for m%height != 0 {
		height--
	}
	return problem{x, Known{Labels: labels}, Options{Rank: 1 + src.IntN(n), Seed: seed, Iterations: 30}, Image{Height: height, Width: m / height}}
}

func randomLambda(seed uint64) float64 {
	src := rand.New(rand.NewPCG(seed, 11))
	if src.IntN(6) == 0 {
		return WeightNone
	}
	return math.Pow(10, 6*src.Float64()-3) // 0.001 to 1000
}

// combinations returns the composed methods of the registry, and most combinations of parts, with every registered
// cost and basis; rules returns all.
func combinations(lambda float64) map[string]Parts {
	out := map[string]Parts{}
	for _, info := range registry {
		if c, ok := info.zero.(Composition); ok {
			out["method "+info.Name] = c.AsParts()
		}
	}
	for cost := range Cost(len(costs)) {
		for basis := range Basis(len(bases)) {
			for _, tie := range []Tie{TieNone, TieLabels} {
				for _, graph := range []bool{false, true} {
					p := Parts{Cost: cost, Basis: basis, Tie: tie}
					name := fmt.Sprintf("%v-%v-tie%d", cost, basis, tie)
					if graph {
						p.Penalties = []Penalty{Graph{Lambda: lambda, LabelEdges: tie == TieNone}}
						name += "-graph"
					}
					if p.validate() == nil {
						out[name] = p
					}
				}
			}
		}
	}
	for _, cost := range []Cost{CostFrobenius, CostKL} {
		for _, tie := range []Tie{TieNone, TieLabels} {
			out[fmt.Sprintf("%v-links-tie%d", cost, tie)] = Parts{Cost: cost, Tie: tie, Penalties: []Penalty{Links{Must: WeightNone, Cannot: lambda}}}
			for _, basis := range []Basis{BasisFree, BasisConcept, BasisRankOne} {
				out[fmt.Sprintf("%v-%v-l1-smooth-tie%d", cost, basis, tie)] = Parts{Cost: cost, Basis: basis, Tie: tie, Penalties: []Penalty{L1{lambda}, Smooth{lambda}}}
			}
			out[fmt.Sprintf("%v-unit-links-tie%d", cost, tie)] = Parts{Cost: cost, Tie: tie, UnitNorm: true, Penalties: []Penalty{Links{Must: 1e-4, Cannot: lambda}}}
		}
	}
	learned := LearnedGraph{Lambda: lambda, Beta: lambda, Parts: 1}
	out["learned-graph"] = Parts{Basis: BasisConcept, Penalties: []Penalty{learned}}
	out["learned-graph-free"] = Parts{Penalties: []Penalty{learned}, FitWeight: 3}
	out["learned-graph-kl-ties"] = Parts{Cost: CostKL, Tie: TieLabels, Penalties: []Penalty{learned}}
	for name, k := range kernels() {
		out[name] = Parts{Basis: BasisConcept, Kernel: k}
		out[name+"-ties-graph"] = Parts{Basis: BasisConcept, Tie: TieLabels, Kernel: k, Penalties: []Penalty{Graph{Lambda: lambda}}}
	}
	out["rbf-learned-graph"] = Parts{Basis: BasisConcept, Kernel: Kernel{Function: KernelRBF}, Penalties: []Penalty{learned}}
	out["intersection-ncw-ties"] = Parts{Basis: BasisConcept, Kernel: Kernel{Function: KernelIntersection}, Weighting: WeightingNormalisedCut, Tie: TieLabels}
	out["ncw"] = Parts{Weighting: WeightingNormalisedCut}
	out["ncw-ties"] = Parts{Weighting: WeightingNormalisedCut, Tie: TieLabels}
	return out
}

// solved is a combination of parts with a solver that supports it.
type solved struct {
	Parts
	solver Solver
}

// bySolvers returns all combinations, each with all registered solvers that support it.
func bySolvers(combinations map[string]Parts) map[string]solved {
	out := map[string]solved{}
	for name, p := range combinations {
		for _, s := range solvers {
			if s.Solver.Serves(p) == nil {
				out[name+" by "+s.Name] = solved{p, s.Solver}
			}
		}
	}
	return out
}

// posed returns a problem whose rank is below both sizes of the data, for solvers with exact steps. If the data could
// be fitted exactly, rounding would select one of many solutions.
func (s solved) posed(p problem) problem {
	n, m := p.x.Dims()
	if s.Tie == TieLabels && s.Basis == BasisSemi { // tied samples count once
		known := map[int]bool{}
		for _, c := range p.known.Labels {
			if known[c] && c >= 0 {
				n--
			}
			known[c] = true
		}
	}
	if s.solver != solvers[0].Solver || s.Basis == BasisSemi {
		p.opt.Rank = 1 + p.opt.Rank%max(1, min(n, m)/2)
	}
	p.opt.Solver = s.solver
	return p
}

// tolerance is the allowed difference between results whose sums have another order. Under the divergence, fast
// computes steps in single precision.
func (s solved) tolerance() float64 {
	if s.solver == (Fast{}) && s.Cost == CostKL {
		return 1e-3
	}
	return 1e-6
}

// randomStart draws initial factors for the samples in the order given.
func randomStart(p problem, order []int) *Start {
	n, m := p.x.Dims()
	draw := func(r int) *mat.Dense {
		src := rand.New(rand.NewPCG(p.opt.Seed, uint64(r)))
		out := mat.NewDense(r, p.opt.Rank, nil)
		for i := range r {
			for j := range p.opt.Rank {
				out.Set(i, j, 0.1+src.Float64())
			}
		}
		return out
	}
	pick := func(a *mat.Dense) *mat.Dense {
		out := algebra.Like(a)
		for to, from := range order {
			out.SetRow(to, a.RawRowView(from))
		}
		return out
	}
	return &Start{Basis: draw(m), Rows: draw(p.image.Height), Columns: draw(p.image.Width), Weights: pick(draw(n)), Coefficients: pick(draw(n))}
}

// unique makes the solution of a learned graph unique: for equal eigenvalues of its Laplacian, the eigenvectors are
// arbitrary.
func unique(p Parts) Parts {
	p.Penalties = slices.Clone(p.Penalties)
	for i, one := range p.Penalties {
		if g, ok := one.(LearnedGraph); ok {
			g.Beta = WeightNone
			p.Penalties[i] = g
		}
	}
	return p
}

// TestPermutingSamples checks that permuted samples have permuted results, with any labels.
func TestPermutingSamples(t *testing.T) {
	for seed := range uint64(*problems) {
		for name, parts := range bySolvers(combinations(randomLambda(seed))) {
			p := parts.posed(randomProblem(seed, false)).positive(parts.Parts)
			n, _ := p.x.Dims()
			// No two samples are equally far from a third: at ties, the graph takes the first sample.
			src := rand.New(rand.NewPCG(seed, 5))
			p.x.Apply(func(_, _ int, x float64) float64 { return x + 0.01*src.Float64() }, p.x)
			order := rand.New(rand.NewPCG(seed, 3)).Perm(n)
			same := make([]int, n)
			x, labels := algebra.Like(p.x), make([]int, n)
			for to, from := range order {
				same[to] = to
				x.SetRow(to, p.x.RawRowView(from))
				labels[to] = p.known.Labels[from]
			}
			p.opt.Iterations = 10
			p.opt.Start = randomStart(p, same)
			within := parts.tolerance()
			parts := unique(parts.Parts)
			want, err := ForImages(parts, p.image).Fit(context.Background(), p.x, p.known, p.opt)
			if err != nil {
				t.Fatal(err)
			}
			p.opt.Start = randomStart(p, order)
			got, err := ForImages(parts, p.image).Fit(context.Background(), x, Known{Labels: labels}, p.opt)
			if err != nil {
				t.Fatal(err)
			}
			if want.Basis != nil {
				near(t, name+" "+p.String()+" basis", got.Basis, want.Basis, within*max(1, mat.Max(want.Basis)))
			}
			back := algebra.Like(want.Coefficients)
			for to, from := range order {
				back.SetRow(from, got.Coefficients.RawRowView(to))
			}
			near(t, name+" "+p.String()+" coefficients", back, want.Coefficients, within*max(1, mat.Max(want.Coefficients)))
		}
	}
}

func TestSameLabelSameCoefficients(t *testing.T) {
	for seed := range uint64(*problems) {
		for name, parts := range bySolvers(combinations(1)) {
			if parts.Tie != TieLabels {
				continue
			}
			p := randomProblem(seed, false).positive(parts.Parts)
			p.opt.Solver = parts.solver
			res, err := ForImages(parts.Parts, p.image).Fit(context.Background(), p.x, p.known, p.opt)
			if err != nil {
				t.Fatal(err)
			}
			first := map[int]int{}
			for i, c := range p.known.Labels {
				if c < 0 {
					continue
				}
				j, ok := first[c]
				if !ok {
					first[c] = i
					continue
				}
				for r := range p.opt.Rank {
					if res.Coefficients.At(i, r) != res.Coefficients.At(j, r) {
						t.Fatalf("%s %v: samples %d and %d share label %d but not coefficient %d", name, p, i, j, c, r)
					}
				}
			}
		}
	}
}

// TestScaling checks that scaled data without penalties has the same unit basis vectors and scaled coefficients.
func TestScaling(t *testing.T) {
	for _, by := range []float64{1e-20, 1e-3, 255, 1e20} {
		for name, parts := range bySolvers(combinations(WeightNone)) {
			if parts.Weighting == WeightingNormalisedCut || parts.Penalties != nil || !parts.Kernel.isLinear() {
				continue
			}
			if parts.solver != (Multiplicative{}) && parts.solver != (Fast{}) || parts.cost().robust {
				continue // the scale of its start may count
			}
			p := randomProblem(5, false).positive(parts.Parts)
			if p.opt.Solver = parts.solver; parts.Basis == BasisSemi {
				p = parts.posed(p)
			}
			p.opt.Iterations = 50
			n, _ := p.x.Dims()
			start := randomStart(p, order(n))
			if parts.cost().robust {
				p.opt.Start = start
			}
			want, err := ForImages(parts.Parts, p.image).Fit(context.Background(), p.x, p.known, p.opt)
			if err != nil {
				t.Fatal(err)
			}
			var x mat.Dense
			x.Scale(by, p.x)
			if parts.cost().robust && parts.Basis != BasisConcept { // the first errors depend on the start
				start.Coefficients.Scale(by, start.Coefficients)
			}
			got, err := ForImages(parts.Parts, p.image).Fit(context.Background(), &x, p.known, p.opt)
			if err != nil {
				t.Fatal(err)
			}
			near(t, name+" basis", got.Basis, want.Basis, 1e-7)
			var back mat.Dense
			back.Scale(1/by, got.Coefficients)
			near(t, name+" coefficients", &back, want.Coefficients, parts.tolerance()/10*mat.Max(want.Coefficients))
		}
	}
}

// TestSparseEqualsDense checks that sparse and dense data give the same results.
func TestSparseEqualsDense(t *testing.T) {
	for seed := range uint64(*problems) {
		for name, parts := range bySolvers(combinations(randomLambda(seed))) {
			p := parts.posed(randomProblem(seed, false)).positive(parts.Parts)
			p.opt.Iterations = 10
			within := parts.tolerance()
			parts := unique(parts.Parts)
			want, err := ForImages(parts, p.image).Fit(context.Background(), p.x, p.known, p.opt)
			if err != nil {
				t.Fatal(err)
			}
			got, err := ForImages(parts, p.image).Fit(context.Background(), toSparse(p.x), p.known, p.opt)
			if err != nil {
				t.Fatal(err)
			}
			what := name + " " + p.String()
			if want.Basis != nil {
				near(t, what+" basis", got.Basis, want.Basis, within*max(1, mat.Max(want.Basis)))
			}
			near(t, what+" coefficients", got.Coefficients, want.Coefficients, within*max(1, mat.Max(want.Coefficients)))
			rounding := 1e-13 * (mat.Sum(p.x) + math.Pow(mat.Norm(p.x, 2), 2)) // an objective of 0 consists of rounding errors
			last := len(want.Objective) - 1
			nearNumber(t, what+" objective", got.Objective[last], want.Objective[last], within/1000*want.Objective[0]+rounding)
		}
	}
}

// TestConceptFastEqualsPlain compares updates by the inner products of the samples, precomputed or not, and by the
// basis.
func TestConceptFastEqualsPlain(t *testing.T) {
	var formed, factored int
	for seed := range uint64(60) {
		p := randomProblem(seed, false)
		p.opt.Solver = Multiplicative{}
		parts := Parts{Basis: BasisConcept, Tie: Tie(seed % 2), Weighting: Weighting(seed / 2 % 2)}
		fast, err := parts.start(context.Background(), p.x, p.known, p.opt)
		if err != nil {
			t.Fatal(err)
		}
		if fast.model.(*conceptModel).k != nil {
			formed++
		} else {
			factored++
		}
		plain, err := parts.start(context.Background(), p.x, p.known, p.opt)
		if err != nil {
			t.Fatal(err)
		}
		d := view.Dense{X: p.x}
		var weight []float64
		if parts.Weighting == WeightingNormalisedCut {
			weight = normalisedCutWeights(d, nil)
		}
		n, _ := p.x.Dims()
		labels := p.known.Labels
		if parts.Tie == TieNone {
			labels = nil
		}
		ch := view.NewCondensation(n, labels, weight, 2)
		first := parts.initial(context.Background(), p.x, d, ch, p.opt)
		plain.v = first.v
		plain.model = parts.plainModel(d, ch.Data(d), nil, nil, nil, first)
		plain.factors = []*mat.Dense{first.parameters[0], first.v}
		p.opt.Iterations = 10
		for _, r := range []*Factorisation{fast, plain} {
			if err := r.iterate(context.Background(), p.opt); err != nil {
				t.Fatal(err)
			}
		}
		a, err := fast.finish(p.opt)
		if err != nil {
			t.Fatal(err)
		}
		b, err := plain.finish(p.opt)
		if err != nil {
			t.Fatal(err)
		}
		near(t, p.String()+" W", a.Weights, b.Weights, 1e-6*max(1, mat.Max(b.Weights)))
		near(t, p.String()+" V", a.Coefficients, b.Coefficients, 1e-6*max(1, mat.Max(b.Coefficients)))
		near(t, p.String()+" U", a.Basis, b.Basis, 1e-6*max(1, mat.Max(b.Basis)))
	}
	if formed < 5 || factored < 5 {
		t.Errorf("%d problems with the inner products formed and %d without; want some of each", formed, factored)
	}
}

// TestConceptOfManySamples has 20,000 samples, whose inner products would take 3.2 GB.
func TestConceptOfManySamples(t *testing.T) {
	x := mat.NewDense(20000, 8, nil)
	src := rand.New(rand.NewPCG(1, 1))
	for i := range 20000 {
		for j := range 8 {
			x.Set(i, j, src.Float64())
		}
	}
	r, err := Parts{Basis: BasisConcept}.start(context.Background(), x, Known{}, Options{Rank: 3})
	if err != nil {
		t.Fatal(err)
	}
	if r.model.(*conceptModel).k != nil {
		t.Fatal("the inner products of 20,000 samples of 8 features were formed")
	}
	if err := r.iterate(context.Background(), Options{Iterations: 3}); err != nil {
		t.Fatal(err)
	}
}

// planted has 30 samples, each a sum of three images of rank one that share few pixels.
func planted(seed uint64) problem {
	src := rand.New(rand.NewPCG(seed, 17))
	const n, h, w, k = 30, 6, 5, 3
	u, v, x := mat.NewDense(k, h*w, nil), mat.NewDense(n, k, nil), mat.NewDense(n, h*w, nil)
	for r := range k {
		for i := range h {
			for j := range w {
				if i/2 == r || (i == 0 && j == r) {
					u.Set(r, i*w+j, 1+float64((j+r)%3))
				}
			}
		}
	}
	labels := make([]int, n)
	for i := range n {
		labels[i] = i % k
		for r := range k {
			if i%k == r || src.IntN(2) == 0 {
				v.Set(i, r, 0.5+src.Float64())
			}
		}
		for r := range k {
			if i < k { // samples of one part alone
				v.Set(i, r, 0)
				v.Set(i, i, 1)
			}
		}
	}
	x.Mul(v, u)
	x.Apply(func(_, _ int, x float64) float64 { return x + 0.02*src.Float64() }, x)
	return problem{x, Known{Labels: labels}, Options{Rank: k, Seed: seed, Iterations: 3000}, Image{Height: h, Width: w}}
}

// TestTransformAgrees checks that after convergence, Transform of the fitted samples returns their coefficients, for
// methods without ties and penalties. The tolerance is 1e-3 of the largest coefficient, and 1e-2 for kernels under which
// the parts are more similar, because coefficients approach 0 slowly in both.
func TestTransformAgrees(t *testing.T) {
	methods := map[string]Method{
		"nmf": NMF{}, "nmf-is": NMF{Cost: CostItakuraSaito}, "nmf-beta": NMF{Cost: CostBeta}, "nmf-kl": NMFKL{}, "nmf-ncw": NMFNCW{}, "semi-nmf": SemiNMF{}, "tri-nmf": TriNMF{}, "ntf": NTF{}, "ntf-kl": Parts{Cost: CostKL, Basis: BasisRankOne},
		"nmf-l21": NMF{Cost: CostL21}, "nmf-huber": NMF{Cost: CostHuber, Threshold: 0.01},
		"cf": CF{}, "cf-kl": Parts{Cost: CostKL, Basis: BasisConcept}, "unit": Parts{UnitNorm: true}, "unit-kl": Parts{Cost: CostKL, UnitNorm: true},
		"kl-ncw": Parts{Cost: CostKL, Weighting: WeightingNormalisedCut}, "cf-ncw": Parts{Basis: BasisConcept, Weighting: WeightingNormalisedCut},
	}
	for name, k := range kernels() {
		methods["kernel-"+name] = CF{k}
	}
	for name, m := range methods {
		tolerance := 5e-3
		if strings.HasPrefix(name, "kernel") {
			tolerance = 2e-2
		}
		p := planted(0)
		p.opt.Init = InitNMF
		res, err := ForImages(m, p.image).Fit(context.Background(), p.x, Known{}, p.opt)
		if err != nil {
			t.Fatal(err)
		}
		got, largest := transformed(t, res.Model, p.x), mat.Max(res.Coefficients)
		got.Scale(1/largest, got)
		res.Coefficients.Scale(1/largest, res.Coefficients)
		near(t, name, got, res.Coefficients, tolerance)
	}
	exact := embeddings()
	exact["sparse-coding"] = SparseCoding{}
	for name, m := range exact {
		p := planted(1)
		p.opt.Iterations = 10
		res, err := ForImages(m, p.image).Fit(context.Background(), p.x, p.known, p.opt)
		if err != nil {
			t.Fatal(err)
		}
		near(t, name, transformed(t, res.Model, p.x), res.Coefficients, 1e-12)
	}
}

// TestPenaltyShare checks that the penalty in the result is the penalty of its factors, and that the objective is the
// fit plus the penalty.
func TestPenaltyShare(t *testing.T) {
	p := randomProblem(3, false)
	p.opt.KeepScale = true
	n, _ := p.x.Dims()
	graph, err := Neighbourhood{}.Graph(context.Background(), p.x)
	if err != nil {
		t.Fatal(err)
	}
	smooth := func(v *mat.Dense) (sum float64) {
		for i := range n {
			cols, vals := graph.Row(i)
			for at, j := range cols {
				var d mat.VecDense
				d.SubVec(v.RowView(i), v.RowView(j))
				sum += vals[at] * mat.Dot(&d, &d) / 2
			}
		}
		return sum
	}
	linked := func(v *mat.Dense) (sum float64) {
		for i, a := range p.known.Labels {
			for j, b := range p.known.Labels {
				switch product := mat.Dot(v.RowView(i), v.RowView(j)); {
				case i == j || a < 0 || b < 0:
				case a == b:
					sum -= 0.01 * product
				default:
					sum += 2 * product
				}
			}
		}
		return sum
	}
	links := Links{Must: 0.01, Cannot: 2}
	for name, c := range map[string]struct {
		m       Method
		penalty func(v *mat.Dense) float64
	}{
		"gnmf":  {GNMF{Lambda: 3}, func(v *mat.Dense) float64 { return 3 * smooth(v) }},
		"lccf":  {LCCF{Lambda: 3}, func(v *mat.Dense) float64 { return 3 * smooth(v) }},
		"ties":  {Parts{Tie: TieLabels, Penalties: []Penalty{Graph{Lambda: 3}}}, func(v *mat.Dense) float64 { return 3 * smooth(v) }},
		"links": {Parts{Penalties: []Penalty{links}}, linked},
		"l1":    {Parts{Penalties: []Penalty{L1{0.7}}}, func(v *mat.Dense) float64 { return 0.7 * mat.Sum(v) }},
		"two":   {Parts{Penalties: []Penalty{L1{0.7}, links}}, func(v *mat.Dense) float64 { return 0.7*mat.Sum(v) + linked(v) }},
		"codes": {SparseCoding{Lambda: 0.7}, func(v *mat.Dense) float64 {
			var a mat.Dense
			a.Apply(func(_, _ int, x float64) float64 { return 0.7 * math.Abs(x) }, v)
			return mat.Sum(&a)
		}},
	} {
		res, err := ForImages(c.m, p.image).Fit(context.Background(), p.x, p.known, p.opt)
		if err != nil {
			t.Fatal(err)
		}
		if len(res.Penalty) != len(res.Objective) {
			t.Fatalf("%s: %d entries of the penalty and %d of the objective", name, len(res.Penalty), len(res.Objective))
		}
		last := len(res.Penalty) - 1
		want := c.penalty(res.Coefficients)
		nearNumber(t, name+" penalty", res.Penalty[last]/want, 1, 1e-9)
		fit := (view.Dense{X: p.x}).Residual(mat.DenseCopyOf(res.Basis.T()), mat.DenseCopyOf(res.Coefficients.T()))
		nearNumber(t, name+" fit", (res.Objective[last]-res.Penalty[last])/fit, 1, 1e-9)
	}
	res, err := NMF{}.Fit(context.Background(), p.x, p.known, p.opt)
	if err != nil || res.Penalty != nil {
		t.Errorf("nmf has the penalty %v (%v)", res.Penalty, err)
	}
}

// A rule is an iterative method with the properties that its theory promises.
type rule struct {
	method Method
	// parts are the method's parts without ties and penalties.
	parts Parts
	// descends reports whether the objective never rises, and signed whether data may have negative values.
	descends, signed bool
	// grows reports whether the objective is unbounded below. The factors may then overflow, which is an error.
	grows bool
	// solver is nil for the method's own.
	solver Solver
}

// rules returns all iterative methods of the registry and all combinations of parts, with λ for all weights, and each
// of them also with the other solvers that support it.
func rules(lambda float64) map[string]rule {
	out := map[string]rule{}
	named := func(name string, m Method, p Parts) {
		out[name] = rule{method: m, parts: p, descends: true, signed: takesSigns(p)}
	}
	concept := Parts{Basis: BasisConcept}
	named("nmf", NMF{}, Parts{})
	named("nmf-kl", NMFKL{}, Parts{Cost: CostKL})
	named("nmf-ncw", NMFNCW{}, Parts{Weighting: WeightingNormalisedCut})
	named("ntf", NTF{}, Parts{Basis: BasisRankOne})
	named("gnmf", GNMF{Lambda: lambda}, Parts{})
	named("semi-gnmf", SemiGNMF{Lambda: lambda}, Parts{})
	named("cnmf", CNMF{}, Parts{})
	named("cnmf-kl", CNMFKL{}, Parts{Cost: CostKL})
	named("semi-nmf", SemiNMF{}, Parts{Basis: BasisSemi})
	named("tri-nmf", TriNMF{FeatureRank: 1}, Parts{Basis: BasisTri})
	named("cf", CF{}, concept)
	named("lccf", LCCF{Lambda: lambda}, concept)
	named("ccf", CCF{}, concept)
	named("cf-ogl", CFOGL{Lambda: lambda, Beta: lambda, Mu: 2}, Parts{Basis: BasisConcept, FitWeight: 2})
	named("ss-nmf", SSNMF{}, Parts{})
	named("eccf", ECCF{Lambda: lambda}, concept)
	named("sym-nmf", SymNMF{}, Parts{})
	named("sym-nmf-kernel", SymNMF{Similarity: SimilarityKernel}, Parts{})
	named("sym-nmf-rbf", SymNMF{Similarity: SimilarityKernel, Kernel: Kernel{Function: KernelRBF}}, Parts{Basis: BasisSemi})
	named("sparse-coding", SparseCoding{Lambda: lambda}, concept)

	graph := Graph{Lambda: lambda, Neighbourhood: Neighbourhood{Edges: EdgesHeat}}
	penalties := map[string]Penalties{
		"": nil, "-graph": {graph}, "-learned": {LearnedGraph{Lambda: lambda, Beta: lambda, Parts: 1}},
		"-links": {Links{Must: WeightNone, Cannot: lambda}}, "-must": {Links{Must: lambda, Cannot: lambda}},
		"-l1": {L1{lambda}}, "-smooth": {Smooth{lambda}}, "-all": {graph, L1{lambda}, Smooth{lambda}},
		"-elastic": {L1{lambda}, L2{lambda}, L1Basis{lambda}, L2Basis{lambda}}, "-orthogonal": {Orthogonal{lambda}, OrthogonalBasis{lambda}},
		"-volume": {Volume{Weight: lambda}, Variation{lambda}}, "-l2": {L2{lambda}, L2Basis{lambda}}, "-volume-l1": {Volume{Weight: lambda}, L1{lambda}},
	}
	combine := func(base string, p Parts) {
		for _, tie := range []Tie{TieNone, TieLabels} {
			p.Tie = tie
			for name, penalty := range penalties {
				if p.Penalties = penalty; p.validate() != nil {
					continue // refused
				}
				named(fmt.Sprintf("%s%s-tie-%v", base, name, tie), p, p)
			}
			p.Penalties, p.Weighting = nil, WeightingNormalisedCut
			named(fmt.Sprintf("%s-ncw-tie-%v", base, tie), p, p)
			p.Weighting = WeightingEqual
		}
	}
	for _, cost := range []Cost{CostFrobenius, CostKL} {
		for _, basis := range []Basis{BasisFree, BasisConcept, BasisRankOne, BasisTri} {
			combine(fmt.Sprintf("%v-%v", cost, basis), Parts{Cost: cost, Basis: basis})
		}
	}
	combine("semi", Parts{Basis: BasisSemi})
	combine("is-free", Parts{Cost: CostItakuraSaito})
	combine("beta-free", Parts{Cost: CostBeta, Exponent: []float64{0.5, 1.5, 3}[math.Float64bits(lambda)/8191%3]})
	combine("robust-free", Parts{Cost: CostL21 + Cost(math.Float64bits(lambda)/8191%2)})
	for _, name := range []string{"rbf", "polynomial", "cubic", "intersection"} {
		combine(name, Parts{Basis: BasisConcept, Kernel: kernels()[name]})
	}

	// These rules promise nothing: the step is the paper's, or the coefficients do not depend on the basis.
	for name, m := range map[string]Method{
		"cf-ogl-printed": CFOGL{Lambda: lambda, Beta: lambda, Rule: GraphRulePrinted},
		"ss-nmf-printed": SSNMF{Rule: SimilarityRulePrinted},
		"l2-snmf":        L2SNMF{Cannot: lambda},
		"d-snmf":         DSNMF{Cannot: lambda},
		"onmf":           ONMF{},
		"onmf-ties":      Parts{Orthogonal: OrthogonalityCoefficients, Tie: TieLabels, Weighting: WeightingNormalisedCut},
		"onmf-basis":     ONMF{OrthogonalityBasis},
		"tri-orthogonal": TriNMF{Orthogonal: OrthogonalityBoth},
		"unit-graph":     Parts{UnitNorm: true, Penalties: []Penalty{Graph{Lambda: lambda}}},
		"unit-kl-graph":  Parts{Cost: CostKL, UnitNorm: true, Tie: TieLabels, Penalties: []Penalty{Graph{Lambda: lambda}}},
		"unit-must":      Parts{UnitNorm: true, Penalties: []Penalty{Links{Must: lambda, Cannot: WeightNone}}},
	} {
		out[name] = rule{method: m}
	}
	added := map[string]rule{}
	for name, r := range out {
		r.grows = strings.Contains(name, "-must") || strings.Contains(name, "snmf")
		if Serves(Multiplicative{}, r.method) == nil {
			r.solver = Multiplicative{}
		}
		out[name] = r
		for _, s := range solvers[1:] {
			if c, ok := r.method.(Composition); ok && s.Solver.Serves(c.AsParts()) == nil {
				r.solver, r.descends = s.Solver, true
				added[s.Name+"-"+name] = r
			}
		}
	}
	maps.Copy(out, added)
	return out
}

func takesSigns(p Parts) bool {
	return p.Weighting == WeightingEqual && (p.Basis == BasisSemi || p.Basis == BasisConcept && p.Cost == CostFrobenius &&
		p.Kernel.Function != KernelIntersection && !slices.ContainsFunc(p.Penalties, Penalty.OnBasis))
}

// size returns the size of the terms whose difference is the cost: ‖X‖², or Σx under the divergence, or tr(K) with a
// kernel.
func (r rule) size(x *mat.Dense) (float64, error) {
	d := view.Dense{X: x}
	n, _ := d.Dims()
	if _, similarities := r.method.(SSNMF); similarities {
		var sum float64 // of the squares of xᵀx, which is less than ‖Ã‖²
		for i := range n {
			square := algebra.Dot(x.RawRowView(i), x.RawRowView(i))
			sum += square * square
		}
		return sum, nil
	}
	if _, scaled := r.method.(SymNMF); scaled {
		return float64(n), nil // ≥ ‖A‖², whose eigenvalues are at most 1
	}
	terms := make([]float64, n)
	var kernel *boundKernel
	if !r.parts.Kernel.isLinear() {
		kernel = r.parts.Kernel.bind(context.Background(), x, d)
		for i := range n {
			terms[i] = kernel.values.At(i, i)
		}
	} else {
		d.Each(func(i, _ int, v float64) {
			switch of := r.parts.cost(); {
			case r.parts.Cost == CostL21: // at most the length of the sample
			case of.degree == 2:
				v *= v
			case of.degree != 1:
				v = math.Pow(v, of.degree) * max(1, 1/math.Abs(of.degree*(of.degree-1)))
			}
			terms[i] += v
		})
	}
	weight := slices.Repeat([]float64{1}, n)
	if r.parts.Weighting == WeightingNormalisedCut {
		weight = normalisedCutWeights(d, kernel)
	}
	return cmp.Or(r.parts.FitWeight, 1) * algebra.Dot(terms, weight), nil
}

// differences returns the size of the terms whose differences are the penalties of graphs, before or after the
// iteration: λ·n·‖V‖², βnc of a learned graph's embedding, and λ·m·‖U‖² of neighbouring pixels; and of the rounding of a volume. It is infinite if
// coefficients underflowed to 0.
func (r rule) differences(x mat.Matrix, p problem, iteration int) (float64, error) {
	c, ok := r.method.(Composition)
	if !ok {
		return 0, nil
	}
	n, m := x.Dims()
	var most float64
	zeros := -1
	opt := p.opt
	opt.KeepScale = true
	for t := max(iteration, 1); t <= iteration+1; t++ {
		opt.Iterations = t
		res, err := ForImages(r.method, p.image).Fit(context.Background(), x, p.known, opt)
		if err != nil {
			return 0, err
		}
		now := countZeros(res.Coefficients)
		vanished := zeros >= 0 && now > zeros
		zeros = now
		var size float64
		coefficients := float64(n) * algebra.Inner(res.Coefficients, res.Coefficients)
		for _, penalty := range c.AsParts().Penalties {
			switch penalty := penalty.(type) {
			case Graph:
				size += orDefault(penalty.Lambda, 100) * coefficients
			case LearnedGraph:
				parts := cmp.Or(penalty.Parts, p.opt.Rank)
				size += orDefault(penalty.Lambda, 100)*coefficients + orDefault(penalty.Beta, 100)*float64(n*parts)
			case L1:
				if vanished {
					size = math.Inf(1)
				}
			case Volume:
				size += 1e14 * orDefault(penalty.Weight, 0.1) * float64(p.opt.Rank) * (algebra.Inner(res.Basis, res.Basis) + 1)
			case Smooth:
				size += orDefault(penalty.Weight, 100) * float64(m) * algebra.Inner(res.Basis, res.Basis)
			}
		}
		most = max(most, size)
	}
	return most, nil
}

// countZeros returns the number of zeros in a.
func countZeros(a *mat.Dense) (count int) {
	for _, x := range a.RawMatrix().Data {
		if x == 0 {
			count++
		}
	}
	return count
}

// degenerations change a problem so that it is degenerate.
var degenerations = []struct {
	name  string
	apply func(p *problem, src *rand.Rand)
}{
	{"copies of few samples", func(p *problem, src *rand.Rand) {
		n, _ := p.x.Dims()
		few := 1 + src.IntN(min(n, 3))
		for i := range n {
			p.x.SetRow(i, p.x.RawRowView(i%few))
		}
	}},
	{"features of zeros", func(p *problem, src *rand.Rand) {
		n, m := p.x.Dims()
		keep := src.IntN(m)
		for j := range m {
			if j != keep && src.IntN(2) == 0 {
				p.x.SetCol(j, make([]float64, n))
			}
		}
		for i := range n {
			p.x.Set(i, keep, mat.Max(p.x))
		}
	}},
	{"rank n", func(p *problem, _ *rand.Rand) { p.opt.Rank, _ = p.x.Dims() }},
	{"few samples", func(p *problem, src *rand.Rand) {
		n, m := p.x.Dims()
		n = min(n, 1+src.IntN(3))
		p.x = mat.DenseCopyOf(p.x.Slice(0, n, 0, m))
		p.known.Labels = p.known.Labels[:n]
		p.known.Labels[0] = 0
		p.opt.Rank = 1 + src.IntN(n)
	}},
	{"tiny values", func(p *problem, _ *rand.Rand) { p.x.Scale(1e-8/mat.Norm(p.x, math.Inf(1)), p.x) }},
	{"huge values", func(p *problem, _ *rand.Rand) { p.x.Scale(1e8/mat.Norm(p.x, math.Inf(1)), p.x) }},
	{"samples of all sizes", func(p *problem, src *rand.Rand) {
		n, _ := p.x.Dims()
		largest := mat.Norm(p.x, math.Inf(1))
		for i := range n {
			algebra.ScaleRow(p.x, i, math.Pow(10, 16*src.Float64()-8)/largest)
		}
	}},
	{"one value a sample", func(p *problem, src *rand.Rand) {
		n, m := p.x.Dims()
		for i := range n {
			row := p.x.RawRowView(i)
			x := mat.Norm(p.x.RowView(i), 1)
			clear(row)
			row[src.IntN(m)] = x
		}
	}},
	{"one feature", func(p *problem, _ *rand.Rand) {
		n, _ := p.x.Dims()
		x := mat.NewDense(n, 1, nil)
		for i := range n {
			x.Set(i, 0, mat.Norm(p.x.RowView(i), 1))
		}
		p.x, p.image = x, Image{Height: 1, Width: 1}
	}},
	{"all of one class", func(p *problem, _ *rand.Rand) { clear(p.known.Labels) }},
	{"one sample of a class labelled", func(p *problem, _ *rand.Rand) {
		for i := range p.known.Labels {
			p.known.Labels[i] = -1
		}
		p.known.Labels[0] = 3
	}},
	{"multiples of one sample", func(p *problem, src *rand.Rand) {
		n, _ := p.x.Dims()
		for i := range n {
			p.x.SetRow(i, p.x.RawRowView(0))
			algebra.ScaleRow(p.x, i, 1+src.Float64())
		}
	}},
	{"no labels", func(p *problem, _ *rand.Rand) { p.known.Labels = nil }},
}

// TestObjectiveNeverRises checks every rule that promises a monotone objective on random problems and as many degenerate
// ones, some with negative values, half of them sparse. All rules must return finite numbers, and factors that are
// not negative.
//
// docs/methods.md and Result.Objective define a rise.
func TestObjectiveNeverRises(t *testing.T) {
	random := max(len(degenerations), *problems)
	byProblem := make([]map[string]rule, 2*random)
	for seed := range byProblem {
		byProblem[seed] = rules(randomLambda(uint64(seed)))
	}
	for name := range byProblem[0] {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for i, byName := range byProblem {
				seed, r := uint64(i), byName[name]
				src := rand.New(rand.NewPCG(seed, 91))
				signed := r.signed && seed%3 == 0
				p := randomProblem(seed, signed)
				kind := ""
				if i >= random {
					d := degenerations[i%len(degenerations)]
					d.apply(&p, src)
					kind = d.name
				}
				p = p.positive(r.parts)
				what := fmt.Sprintf("%v signed=%v %s", p, signed, kind)
				p.opt.Iterations, p.opt.Solver = 12, r.solver
				if name == "eccf" { // refuses initial factors and fewer concepts than labelled classes
					n, _ := p.x.Dims()
					p.opt.Rank = min(n, max(p.opt.Rank, slices.Max(append(p.known.Labels, -1))+1))
				} else if i%5 == 0 {
					p.opt.Start = unevenStart(p, src)
				}
				var x mat.Matrix = p.x
				if seed%2 == 1 {
					x = toSparse(p.x)
				}
				res, err := ForImages(r.method, p.image).Fit(context.Background(), x, p.known, p.opt)
				if err == nil {
					err = r.check(x, p, res)
				} else if r.mayFail(p, err) {
					err = nil
				}
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
			}
		})
	}
}

// TestDivergenceWithGraph has two samples with large residuals and an edge between them. A step of the divergence
// alone would fit each sample in one iteration, however different they are, and the graph penalty would rise by more
// than the divergence falls.
func TestDivergenceWithGraph(t *testing.T) {
	x := mat.NewDense(4, 1, []float64{10, 10, 2, 1})
	start := &Start{Basis: mat.NewDense(1, 1, []float64{1}), Coefficients: mat.NewDense(4, 1, []float64{10, 10, 1e-6, 1e-6})}
	opt := Options{Rank: 1, Start: start, Iterations: 100}
	g := Graph{Lambda: 1000, Neighbourhood: Neighbourhood{Neighbours: 1}}
	l := LearnedGraph{Lambda: 1000, Beta: WeightNone, Parts: 1, Neighbourhood: g.Neighbourhood}
	for _, p := range []Penalty{g, l} {
		r := rule{parts: Parts{Cost: CostKL, Penalties: []Penalty{p}}, descends: true}
		res, err := r.parts.Fit(context.Background(), x, Known{}, opt)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.check(x, problem{x: x}, res); err != nil {
			t.Errorf("%T: %v", p, err)
		}
	}
}

// unevenStart draws factors of very different sizes, mostly far from a solution.
func unevenStart(p problem, src *rand.Rand) *Start {
	n, _ := p.x.Dims()
	same := make([]int, n)
	for i := range n {
		same[i] = i
	}
	s := randomStart(p, same)
	for _, a := range []*mat.Dense{s.Basis, s.Weights, s.Rows, s.Columns, s.Coefficients} {
		a.Apply(func(_, _ int, x float64) float64 { return x * math.Pow(10, 8*src.Float64()-4) }, a)
	}
	return s
}

// mayFail reports whether the method may return the error.
func (r rule) mayFail(p problem, err error) bool {
	text := err.Error()
	if len(p.known.Labels) == 0 && strings.Contains(text, "none are given") {
		return true
	}
	return r.grows && strings.Contains(text, "overflow")
}

// check returns an error for invalid values in the result.
func (r rule) check(x mat.Matrix, p problem, res *Result) error {
	_, codes := r.method.(SparseCoding)
	for name, a := range map[string]*mat.Dense{"basis": res.Basis, "coefficients": res.Coefficients, "weights": res.Weights, "association": res.Association, "feature groups": res.FeatureGroups} {
		mixed := codes || name == "basis" && (r.signed || r.parts.Basis == BasisSemi)
		if a != nil && (!algebra.Finite(a) || !mixed && mat.Min(a) < 0) {
			return fmt.Errorf("the %s hold values that are negative or not finite: %v", name, mat.Formatted(a))
		}
	}
	if res.Model != nil && p.opt.Seed%4 == 0 {
		if v, err := res.Model.Transform(context.Background(), x); err != nil || !algebra.Finite(v) {
			return fmt.Errorf("transformed: %v", err)
		}
	}
	penalty := res.Penalty
	if penalty == nil {
		penalty = make([]float64, len(res.Objective))
	}
	for i, now := range res.Objective {
		if !algebra.FiniteNumber(now) || !algebra.FiniteNumber(penalty[i]) {
			return fmt.Errorf("objective %v, penalty %v after %d iterations", now, penalty[i], i)
		}
	}
	if !r.descends {
		return nil
	}
	size, err := r.size(p.x)
	if err != nil {
		return err
	}
	rounding := 1e-13 * size
	for i, now := range res.Objective[1:] {
		if before := res.Objective[i]; now > before+1e-12*math.Abs(before)+rounding {
			differences, err := r.differences(x, p, i)
			if err != nil {
				return err
			}
			root := math.Sqrt(max(before, 0)) + 1e-14*math.Sqrt(differences)
			if !(now <= root*root+1e-12*math.Abs(before)+rounding) {
				return fmt.Errorf("objective rises from %v to %v in iteration %d (penalty %v, data %v, penalised differences of terms of %v)", before, now, i+1, penalty[i+1], size, differences)
			}
		}
		if fit := now - penalty[i+1]; fit < 0 && (res.Penalty == nil || fit < -rounding-1e-12*math.Abs(penalty[i+1])) {
			return fmt.Errorf("the fit is %v after %d iterations, objective %v, penalty %v", fit, i+1, now, penalty[i+1])
		}
	}
	return nil
}

// TestStartOfAnySize checks that the objective does not rise for initial factors with values of any accepted size, and
// below.
func TestStartOfAnySize(t *testing.T) {
	for name, r := range rules(1) {
		if !r.descends || strings.Contains(name, "-") && !strings.HasPrefix(name, "fast-") && name != "nmf-kl" && name != "cnmf-kl" && name != "ss-nmf" {
			continue
		}
		for seed := range uint64(*problems) {
			src := rand.New(rand.NewPCG(seed, 47))
			p := randomProblem(seed, false)
			p.opt.Iterations, p.opt.Solver = 8, r.solver
			if seed%2 == 0 {
				p.x.Scale(1.1*view.SmallestValue/leastPeak(p.x), p.x)
			}
			p.opt.Start = unevenStart(p, src)
			least := []float64{-59, -300}[seed/2%2]
			for _, a := range []*mat.Dense{p.opt.Start.Basis, p.opt.Start.Weights, p.opt.Start.Rows, p.opt.Start.Columns, p.opt.Start.Coefficients} {
				a.Apply(func(int, int, float64) float64 { return math.Pow(10, least+(59-least)*src.Float64()) }, a)
			}
			res, err := ForImages(r.method, p.image).Fit(context.Background(), p.x, p.known, p.opt)
			if err != nil {
				continue
			}
			if err := r.check(p.x, p, res); err != nil {
				t.Errorf("%s, %v: %v", name, p, err)
			}
		}
	}
}

// TestAddingACost checks that an entry of the list of costs supports every basis, ties and penalties, and that the
// objective is the sum of the terms and never rises.
func TestAddingACost(t *testing.T) {
	defer func(before []costInfo) { costs = before }(costs)
	costs = append(costs[:len(costs):len(costs)], myBeta)
	var c Cost
	if err := c.UnmarshalText([]byte("my-beta")); err != nil {
		t.Fatal(err)
	}
	for _, p := range []Parts{
		{}, {Tie: TieLabels}, {Basis: BasisConcept}, {Basis: BasisRankOne}, {Tie: TieLabels, Weighting: WeightingNormalisedCut},
		{Penalties: []Penalty{L1{}, Graph{}}},
	} {
		p.Cost = c
		for seed := range uint64(3) {
			q := randomProblem(seed, false)
			q.opt.KeepScale = true
			res, err := ForImages(p, q.image).Fit(context.Background(), q.x, q.known, q.opt)
			if err != nil {
				t.Fatal(err)
			}
			for i, j := range res.Objective[1:] {
				if j > res.Objective[i]*(1+1e-9) {
					t.Errorf("%+v: the objective rises from %v to %v", p, res.Objective[i], j)
				}
			}
			if p.Penalties != nil || p.Weighting != WeightingEqual {
				continue
			}
			var want float64
			n, m := q.x.Dims()
			for i := range n {
				for j := range m {
					want += myBeta.term(q.x.At(i, j), algebra.Dot(res.Coefficients.RawRowView(i), res.Basis.RawRowView(j)))
				}
			}
			if got := res.Objective[len(res.Objective)-1]; !(math.Abs(got-want) <= 1e-9*want) {
				t.Errorf("%+v: the objective is %v, the sum of its terms %v", p, got, want)
			}
		}
	}
}
