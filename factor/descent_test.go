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
	"github.com/seed4492f2cd/partwise/internal/testkit"
)

// A rule is a method that iterates, and what its theory promises.
type rule struct {
	method Method
	// parts are what the method is made of but for ties and penalties.
	parts Parts
	// descends tells whether the objective never rises, signed whether the
	// data may have negative values.
	descends, signed bool
	// grows tells whether the objective has no bound below, so that the
	// factors may outgrow what numbers hold: an error that says so.
	grows bool
	// solver is nil for the method's own.
	solver Solver
}

// rules are all methods of the registry that iterate, and all combinations of
// parts, with λ for all weights, and those that other solvers serve with these.
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
	named("cf", CF{}, concept)
	named("lccf", LCCF{Lambda: lambda}, concept)
	named("ccf", CCF{}, concept)
	named("cf-ogl", CFOGL{Lambda: lambda, Beta: lambda, Mu: 2}, Parts{Basis: BasisConcept, FitWeight: 2})
	named("ss-nmf", SSNMF{}, Parts{})
	named("sparse-coding", SparseCoding{Lambda: lambda}, concept)

	graph := Graph{Lambda: lambda, Neighbourhood: Neighbourhood{Edges: EdgesHeat}}
	penalties := map[string]Penalties{
		"": nil, "-graph": {graph}, "-learned": {LearnedGraph{Lambda: lambda, Beta: lambda, Parts: 1}},
		"-links": {Links{Must: WeightNone, Cannot: lambda}}, "-must": {Links{Must: lambda, Cannot: lambda}},
		"-l1": {L1{lambda}}, "-smooth": {Smooth{lambda}}, "-all": {graph, L1{lambda}, Smooth{lambda}},
	}
	combine := func(base string, p Parts) {
		for _, tie := range []Tie{TieNone, TieLabels} {
			p.Tie = tie
			for name, penalty := range penalties {
				if !p.Kernel.Features() && slices.ContainsFunc(penalty, Penalty.OnBasis) {
					continue // refused
				}
				p.Penalties = penalty
				named(fmt.Sprintf("%s%s-tie-%v", base, name, tie), p, p)
			}
			p.Penalties, p.Weighting = nil, WeightingNormalisedCut
			named(fmt.Sprintf("%s-ncw-tie-%v", base, tie), p, p)
			p.Weighting = WeightingEqual
		}
	}
	for _, cost := range []Cost{CostFrobenius, CostKL} {
		for _, basis := range []Basis{BasisFree, BasisConcept, BasisRankOne} {
			combine(fmt.Sprintf("%v-%v", cost, basis), Parts{Cost: cost, Basis: basis})
		}
	}
	for _, name := range []string{"rbf", "polynomial", "cubic", "intersection"} {
		combine(name, Parts{Basis: BasisConcept, Kernel: kernels()[name]})
	}

	// These promise nothing: the step is the paper's, or the coefficients do
	// not follow the basis.
	for name, m := range map[string]Method{
		"cf-ogl-printed": CFOGL{Lambda: lambda, Beta: lambda, Rule: GraphRulePrinted},
		"ss-nmf-printed": SSNMF{Rule: SimilarityRulePrinted},
		"l2-snmf":        L2SNMF{Cannot: lambda},
		"d-snmf":         DSNMF{Cannot: lambda},
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
	return p.Basis == BasisConcept && p.Cost == CostFrobenius && p.Weighting == WeightingEqual && p.Kernel.Function != KernelIntersection &&
		!slices.ContainsFunc(p.Penalties, Penalty.OnBasis)
}

// size is that of the terms of which the cost is a difference: ‖X‖², Σx under
// the divergence, tr(K) of a kernel.
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
	terms := make([]float64, n)
	var kernel *boundKernel
	if !r.parts.Kernel.Features() {
		var err error
		if kernel, err = r.parts.Kernel.bind(context.Background(), x, d); err != nil {
			return 0, err
		}
		for i := range n {
			terms[i] = kernel.values.At(i, i)
		}
	} else {
		d.Each(func(i, _ int, v float64) {
			if r.parts.Cost == CostFrobenius {
				v *= v
			}
			terms[i] += v
		})
	}
	weight := slices.Repeat([]float64{1}, n)
	if r.parts.Weighting == WeightingNormalisedCut {
		var err error
		if weight, err = normalisedCutWeights(d, kernel); err != nil {
			return 0, err
		}
	}
	return r.parts.fitWeight() * algebra.Dot(terms, weight), nil
}

// differences is the size of the terms of whose differences the penalties of graphs are
// made, before the iteration or after it: λ·n·‖V‖², and βnc of a learned graph's own
// embedding, and λ·m·‖U‖² of neighbouring pixels. It is infinite where a sum of
// coefficients has shrunk them below the least number that a factor holds, so that they
// became 0.
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
			case Smooth:
				size += orDefault(penalty.Weight, 100) * float64(m) * algebra.Inner(res.Basis, res.Basis)
			}
		}
		most = max(most, size)
	}
	return most, nil
}

// countZeros returns how many entries of a are 0.
func countZeros(a *mat.Dense) (count int) {
	for _, x := range a.RawMatrix().Data {
		if x == 0 {
			count++
		}
	}
	return count
}

// degenerations are what can be wrong with a problem.
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

// TestObjectiveNeverRises, of every rule that promises it, over 200 problems of
// no kind and 200 degenerate ones, some with signs; half of them stored
// sparse. Of all rules every number that comes out is one, and the factors are
// not below 0.
//
// What counts as a rise is in docs/methods.md and in Result.Objective.
func TestObjectiveNeverRises(t *testing.T) {
	problems := 400
	switch {
	case testkit.Race:
		problems = 2 * len(degenerations)
	case testing.Short():
		problems = 80
	}
	byProblem := make([]map[string]rule, problems)
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
				if i >= problems/2 {
					d := degenerations[i%len(degenerations)]
					d.apply(&p, src)
					kind = d.name
				}
				what := fmt.Sprintf("%v signed=%v %s", p, signed, kind)
				p.opt.Iterations, p.opt.Solver = 20, r.solver
				if i%5 == 0 {
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

// TestDivergenceWithGraph: the step of the divergence alone brings two samples
// that are hardly represented to what each of them is in one iteration, however
// far apart that is, and their edge costs more than is won.
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

// unevenStart draws factors of all sizes, most of them not what the data asks for.
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

// mayFail tells whether the method may answer with the error.
func (r rule) mayFail(p problem, err error) bool {
	text := err.Error()
	if len(p.known.Labels) == 0 && strings.Contains(text, "none are known") {
		return true
	}
	return r.grows && (strings.Contains(text, "outgrown") || strings.Contains(text, "beyond what numbers can hold"))
}

// check looks for numbers that must not be in the result.
func (r rule) check(x mat.Matrix, p problem, res *Result) error {
	_, codes := r.method.(SparseCoding)
	for name, a := range map[string]*mat.Dense{"basis": res.Basis, "coefficients": res.Coefficients, "weights": res.Weights, "association": res.Association} {
		mixed := codes || name == "basis" && r.signed
		if a != nil && (!algebra.Finite(a) || !mixed && mat.Min(a) < 0) {
			return fmt.Errorf("the %s hold what they must not: %v", name, mat.Formatted(a))
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

// TestStartOfAnySize: nor does an objective rise where the initial factors hold values of
// any size that is taken, and less.
func TestStartOfAnySize(t *testing.T) {
	for name, r := range rules(1) {
		if !r.descends || strings.Contains(name, "-") && !strings.HasPrefix(name, "fast-") && name != "nmf-kl" && name != "cnmf-kl" && name != "ss-nmf" {
			continue
		}
		for seed := range uint64(40) {
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
