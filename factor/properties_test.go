package factor

import (
	"context"
	"fmt"
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

// randomProblem draws a problem of any shape: from one sample to 30, with few
// or many zeros, of some scale, from no label to all, and any rank.
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

// combinations are parts put together in most ways there are; rules has all.
func combinations(lambda float64) map[string]Parts {
	out := map[string]Parts{}
	for _, cost := range []Cost{CostFrobenius, CostKL} {
		for _, basis := range []Basis{BasisFree, BasisConcept} {
			for _, tie := range []Tie{TieNone, TieLabels} {
				for _, graph := range []bool{false, true} {
					p := Parts{Cost: cost, Basis: basis, Tie: tie}
					name := fmt.Sprintf("%v-%v-tie%d", cost, basis, tie)
					if graph {
						p.Penalties = []Penalty{Graph{Lambda: lambda, LabelEdges: tie == TieNone}}
						name += "-graph"
					}
					out[name] = p
				}
			}
		}
	}
	for _, cost := range []Cost{CostFrobenius, CostKL} {
		for _, tie := range []Tie{TieNone, TieLabels} {
			out[fmt.Sprintf("%v-rank-one-tie%d", cost, tie)] = Parts{Cost: cost, Basis: BasisRankOne, Tie: tie}
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

// solved is a combination of parts with one of the solvers that serve it.
type solved struct {
	Parts
	solver Solver
}

// bySolvers returns all combinations with all solvers of the list that serve them.
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

// posed is a problem of a rank below both sizes of the data, for solvers whose steps are
// exact: where data is fitted exactly, a rounding decides which of many answers comes out.
func (s solved) posed(p problem) problem {
	n, m := p.x.Dims()
	if s.solver != solvers[0].Solver {
		p.opt.Rank = 1 + p.opt.Rank%max(1, min(n, m)/2)
	}
	p.opt.Solver = s.solver
	return p
}

// tolerance is how far answers may be apart that differ by the order of sums: the steps of
// fast under the divergence are computed in single precision.
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

// unique makes the answer of a learned graph one: where several eigenvalues of
// its Laplacian are equal, which vectors stand for them is open.
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

// TestPermutingSamples: samples in another order get the same answers in that
// order, whichever of them are labelled.
func TestPermutingSamples(t *testing.T) {
	for seed := range uint64(30) {
		for name, parts := range bySolvers(combinations(randomLambda(seed))) {
			p := parts.posed(randomProblem(seed, false))
			n, _ := p.x.Dims()
			// No two samples at the same distance from a third: among those
			// the graph takes the one that comes first.
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
	for seed := range uint64(40) {
		for name, parts := range bySolvers(combinations(1)) {
			if parts.Tie != TieLabels {
				continue
			}
			p := randomProblem(seed, false)
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

// TestScaling: the data times a number gives the same basis, of unit vectors,
// and the coefficients times that number; without a penalty.
func TestScaling(t *testing.T) {
	for _, by := range []float64{1e-20, 1e-3, 255, 1e20} {
		for name, parts := range bySolvers(combinations(WeightNone)) {
			if parts.Weighting == WeightingNormalisedCut || parts.Penalties != nil || !parts.Kernel.Features() {
				continue
			}
			p := randomProblem(5, false)
			p.opt.Solver = parts.solver
			p.opt.Iterations = 50
			want, err := ForImages(parts.Parts, p.image).Fit(context.Background(), p.x, p.known, p.opt)
			if err != nil {
				t.Fatal(err)
			}
			var x mat.Dense
			x.Scale(by, p.x)
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

// TestSparseEqualsDense: the same numbers stored in either way.
func TestSparseEqualsDense(t *testing.T) {
	for seed := range uint64(40) {
		for name, parts := range bySolvers(combinations(randomLambda(seed))) {
			p := parts.posed(randomProblem(seed, false))
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
			rounding := 1e-13 * (mat.Sum(p.x) + math.Pow(mat.Norm(p.x, 2), 2)) // all that there is of an objective of 0
			last := len(want.Objective) - 1
			nearNumber(t, what+" objective", got.Objective[last], want.Objective[last], within/1000*want.Objective[0]+rounding)
		}
	}
}

// TestConceptFastEqualsPlain: through the samples' inner products, formed or
// not, and through the basis itself.
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
			weight, _ = normalisedCutWeights(d, nil)
		}
		n, _ := p.x.Dims()
		ch, err := newCondensation(n, parts.Tie, p.known.Labels, weight, CostFrobenius)
		if err != nil {
			t.Fatal(err)
		}
		first, err := parts.initial(context.Background(), p.x, d, ch, p.opt)
		if err != nil {
			t.Fatal(err)
		}
		plain.v = first.v
		plain.model = parts.plainModel(d, ch.data(d, CostFrobenius), nil, first)
		plain.factors = []*mat.Dense{first.w, first.v}
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

// TestConceptOfManySamples: 20,000 samples have 3.2 GB of inner products.
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

// planted is made of three images of rank one that share few pixels, 30 samples
// each a sum of them.
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

// TestTransformAgrees: of methods without ties and penalties, the coefficients
// of the samples are those that the model gives to them as new ones, once the
// iterations stand still. Of the largest they differ by some 1e-3, in kernels
// that see the parts as more alike by 1e-2: a coefficient that goes to 0 gets
// there slowly, in the fit as in the steps of Transform.
func TestTransformAgrees(t *testing.T) {
	methods := map[string]Method{
		"nmf": NMF{}, "nmf-kl": NMFKL{}, "nmf-ncw": NMFNCW{}, "ntf": NTF{}, "ntf-kl": Parts{Cost: CostKL, Basis: BasisRankOne},
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
		for seed := range uint64(5) {
			p := planted(seed)
			p.opt.Init = InitNMF
			res, err := ForImages(m, p.image).Fit(context.Background(), p.x, Known{}, p.opt)
			if err != nil {
				t.Fatal(err)
			}
			got, largest := transformed(t, res.Model, p.x), mat.Max(res.Coefficients)
			got.Scale(1/largest, got)
			res.Coefficients.Scale(1/largest, res.Coefficients)
			near(t, fmt.Sprint(name, " ", seed), got, res.Coefficients, tolerance)
		}
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

// TestPenaltyShare: what the result says of the penalty is the penalty of its
// factors, and the rest the fit.
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
		"ties":  {Parts{Tie: TieLabels, Penalties: []Penalty{Graph{Lambda: 3, Similarity: graph}}}, func(v *mat.Dense) float64 { return 3 * smooth(v) }},
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
