package factor

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// problem is a random factorisation problem.
type problem struct {
	x     *mat.Dense
	known Known
	opt   Options
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
	return problem{x, Known{Labels: labels}, Options{Rank: 1 + src.IntN(n), Seed: seed, Iterations: 30, Height: m, Width: 1}}
}

func randomLambda(seed uint64) float64 {
	src := rand.New(rand.NewPCG(seed, 11))
	if src.IntN(6) == 0 {
		return None
	}
	return math.Pow(10, 6*src.Float64()-3) // 0.001 to 1000
}

// combinations are all methods whose objective the theory says never rises.
func combinations(lambda float64) map[string]Parts {
	out := map[string]Parts{}
	for _, cost := range []Cost{Frobenius, KL} {
		for _, basis := range []Basis{Free, Concept} {
			for _, tie := range []Tie{NoTie, Labels} {
				for _, graph := range []bool{false, true} {
					p := Parts{Cost: cost, Basis: basis, Tie: tie}
					name := fmt.Sprintf("%v-%v-tie%d", cost, basis, tie)
					if graph {
						p.Penalty = Graph{Lambda: lambda, LabelEdges: tie == NoTie}
						name += "-graph"
					}
					out[name] = p
				}
			}
		}
	}
	for _, cost := range []Cost{Frobenius, KL} {
		for _, tie := range []Tie{NoTie, Labels} {
			out[fmt.Sprintf("%v-rank-one-tie%d", cost, tie)] = Parts{Cost: cost, Basis: RankOne, Tie: tie}
			out[fmt.Sprintf("%v-links-tie%d", cost, tie)] = Parts{Cost: cost, Tie: tie, Penalty: Links{Must: None, Cannot: lambda}}
			out[fmt.Sprintf("%v-unit-links-tie%d", cost, tie)] = Parts{Cost: cost, Tie: tie, UnitNorm: true, Penalty: Links{Must: 1e-4, Cannot: lambda}}
		}
	}
	learned := LearnedGraph{Lambda: lambda, Beta: lambda, Parts: 1}
	out["learned-graph"] = Parts{Basis: Concept, Penalty: learned}
	out["learned-graph-free"] = Parts{Penalty: learned, FitWeight: 3}
	out["ncw"] = Parts{Weighting: NormalisedCut}
	out["ncw-ties"] = Parts{Weighting: NormalisedCut, Tie: Labels}
	return out
}

// TestObjectiveNeverRises. Two kinds promise nothing and are left out: the
// divergence with a graph, where the two-part rule is no majorisation, and unit
// norm in every iteration, which the coefficients do not follow.
func TestObjectiveNeverRises(t *testing.T) {
	for seed := range uint64(200) {
		for name, parts := range combinations(randomLambda(seed)) {
			_, links := parts.Penalty.(Links)
			if parts.UnitNorm || parts.Cost == KL && parts.Penalty != nil && !links {
				continue
			}
			for _, signed := range []bool{false, true} {
				if signed && !(parts.Basis == Concept && parts.Cost == Frobenius) {
					continue
				}
				p := randomProblem(seed, signed)
				res, err := parts.Fit(context.Background(), p.x, p.known, p.opt)
				if err != nil {
					t.Fatalf("%s %v: %v", name, p, err)
				}
				size := sumSquares(denseData{p.x})
				for i := 1; i < len(res.Objective); i++ {
					if before, now := res.Objective[i-1], res.Objective[i]; now > before+1e-9*before+1e-13*size {
						t.Fatalf("%s signed=%v %v: objective rises from %v to %v at iteration %d", name, signed, p, before, now, i)
					}
				}
			}
		}
	}
}

// TestNothingIsNotANumber: also where no descent is promised.
func TestNothingIsNotANumber(t *testing.T) {
	for seed := range uint64(50) {
		for name, parts := range combinations(randomLambda(seed)) {
			p := randomProblem(seed, false)
			res, err := parts.Fit(context.Background(), p.x, p.known, p.opt)
			if err != nil {
				t.Fatalf("%s %v: %v", name, p, err)
			}
			for _, a := range []*mat.Dense{res.Basis, res.Coefficients, res.Weights} {
				if a != nil && (!finite(a) || mat.Min(a) < 0) {
					t.Fatalf("%s %v: a factor holds negative values or none at all", name, p)
				}
			}
		}
	}
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
		out := like(a)
		for to, from := range order {
			out.SetRow(to, a.RawRowView(from))
		}
		return out
	}
	return &Start{Basis: draw(m), Rows: draw(m), Columns: draw(1), Weights: pick(draw(n)), Coefficients: pick(draw(n))}
}

// unique makes the answer of a learned graph one: where several eigenvalues of
// its Laplacian are equal, which vectors stand for them is open.
func unique(p Parts) Parts {
	if g, ok := p.Penalty.(LearnedGraph); ok {
		g.Beta = None
		p.Penalty = g
	}
	return p
}

// TestPermutingSamples: samples in another order get the same answers in that
// order, whichever of them are labelled.
func TestPermutingSamples(t *testing.T) {
	for seed := range uint64(30) {
		for name, parts := range combinations(randomLambda(seed)) {
			p := randomProblem(seed, false)
			n, _ := p.x.Dims()
			// No two samples at the same distance from a third: among those
			// the graph takes the one that comes first.
			src := rand.New(rand.NewPCG(seed, 5))
			p.x.Apply(func(_, _ int, x float64) float64 { return x + 0.01*src.Float64() }, p.x)
			order := rand.New(rand.NewPCG(seed, 3)).Perm(n)
			same := make([]int, n)
			x, labels := like(p.x), make([]int, n)
			for to, from := range order {
				same[to] = to
				x.SetRow(to, p.x.RawRowView(from))
				labels[to] = p.known.Labels[from]
			}
			p.opt.Iterations = 10
			p.opt.Start = randomStart(p, same)
			parts := unique(parts)
			want, err := parts.Fit(context.Background(), p.x, p.known, p.opt)
			if err != nil {
				t.Fatal(err)
			}
			p.opt.Start = randomStart(p, order)
			got, err := parts.Fit(context.Background(), x, Known{Labels: labels}, p.opt)
			if err != nil {
				t.Fatal(err)
			}
			near(t, name+" "+p.String()+" basis", got.Basis, want.Basis, 1e-6*max(1, mat.Max(want.Basis)))
			back := like(want.Coefficients)
			for to, from := range order {
				back.SetRow(from, got.Coefficients.RawRowView(to))
			}
			near(t, name+" "+p.String()+" coefficients", back, want.Coefficients, 1e-6*max(1, mat.Max(want.Coefficients)))
		}
	}
}

func TestSameLabelSameCoefficients(t *testing.T) {
	for seed := range uint64(40) {
		for name, parts := range combinations(1) {
			if parts.Tie != Labels {
				continue
			}
			p := randomProblem(seed, false)
			res, err := parts.Fit(context.Background(), p.x, p.known, p.opt)
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
		for name, parts := range combinations(None) {
			if parts.Weighting == NormalisedCut || parts.Penalty != nil {
				continue
			}
			p := randomProblem(5, false)
			p.opt.Iterations = 50
			want, err := parts.Fit(context.Background(), p.x, p.known, p.opt)
			if err != nil {
				t.Fatal(err)
			}
			var x mat.Dense
			x.Scale(by, p.x)
			got, err := parts.Fit(context.Background(), &x, p.known, p.opt)
			if err != nil {
				t.Fatal(err)
			}
			near(t, name+" basis", got.Basis, want.Basis, 1e-7)
			var back mat.Dense
			back.Scale(1/by, got.Coefficients)
			near(t, name+" coefficients", &back, want.Coefficients, 1e-7*mat.Max(want.Coefficients))
		}
	}
}

// TestSparseEqualsDense: the same numbers stored in either way.
func TestSparseEqualsDense(t *testing.T) {
	for seed := range uint64(40) {
		for name, parts := range combinations(randomLambda(seed)) {
			p := randomProblem(seed, false)
			p.opt.Iterations = 10
			parts := unique(parts)
			want, err := parts.Fit(context.Background(), p.x, p.known, p.opt)
			if err != nil {
				t.Fatal(err)
			}
			got, err := parts.Fit(context.Background(), toSparse(p.x), p.known, p.opt)
			if err != nil {
				t.Fatal(err)
			}
			what := name + " " + p.String()
			near(t, what+" basis", got.Basis, want.Basis, 1e-6*max(1, mat.Max(want.Basis)))
			near(t, what+" coefficients", got.Coefficients, want.Coefficients, 1e-6*max(1, mat.Max(want.Coefficients)))
			last := want.Objective[len(want.Objective)-1]
			nearNumber(t, what+" objective", got.Objective[len(got.Objective)-1]/want.Objective[0], last/want.Objective[0], 1e-9)
		}
	}
}

// TestConceptFastEqualsPlain: through the samples' inner products, formed or
// not, and through the basis itself.
func TestConceptFastEqualsPlain(t *testing.T) {
	var formed, factored int
	for seed := range uint64(60) {
		p := randomProblem(seed, false)
		parts := Parts{Basis: Concept, Tie: Tie(seed % 2), Weighting: Weighting(seed / 2 % 2)}
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
		d := denseData{p.x}
		var weight []float64
		if parts.Weighting == NormalisedCut {
			weight = normalisedCutWeights(d)
		}
		n, _ := p.x.Dims()
		ch, err := newChange(n, parts.Tie, p.known.Labels, weight, Frobenius)
		if err != nil {
			t.Fatal(err)
		}
		first, err := parts.initial(context.Background(), p.x, d, nil, ch, p.opt)
		if err != nil {
			t.Fatal(err)
		}
		plain.v = first.v
		plain.model = parts.plainModel(d, ch.data(d, Frobenius), first)
		p.opt.Iterations = 10
		for _, r := range []*run{fast, plain} {
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
	r, err := Parts{Basis: Concept}.start(context.Background(), x, Known{}, Options{Rank: 3})
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
