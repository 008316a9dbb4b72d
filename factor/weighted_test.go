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
	"github.com/seed4492f2cd/partwise/internal/parallel"
)

// withHoles returns a copy of x with NaN at a share of the entries, at least one entry of each row and column left, and
// weights from 0.5 to 2.5 of entries and samples.
func withHoles(x *mat.Dense, share float64, src *rand.Rand) *Weighted {
	n, m := x.Dims()
	w := &Weighted{Matrix: mat.DenseCopyOf(x), Entries: mat.NewDense(n, m, nil)}
	for i := range n {
		for j := range m {
			if w.Entries.Set(i, j, 0.5+2*src.Float64()); src.Float64() < share && i%m != j && j%n != i {
				w.Matrix.(*mat.Dense).Set(i, j, math.NaN())
			}
		}
		w.Samples = append(w.Samples, 0.5+2*src.Float64())
	}
	return w
}

// threshold is δ in the tests of CostHuber.
const threshold = 0.1

// plainWeighted performs iterations of the multiplicative rule entry by entry. s are the weights of a graph or minus the
// weights of links.
func plainWeighted(x *Weighted, u, v *mat.Dense, cost Cost, labels []int, s *mat.Dense, iterations int) (objective float64) {
	n, m := x.Dims()
	_, k := u.Dims()
	weight := func(i, j int) float64 {
		if math.IsNaN(x.At(i, j)) {
			return 0
		}
		return x.Entries.At(i, j) * x.Samples[i]
	}
	y := func(i, j int) float64 { return mat.Dot(v.RowView(i), u.RowView(j)) }
	largest := func(i int) (most float64) {
		for j := range m {
			most = max(most, weight(i, j))
		}
		return most
	}
	length := func(i int) (sum float64) {
		for j := range m {
			if w := weight(i, j); w > 0 {
				sum += w / largest(i) * math.Pow(x.At(i, j)-y(i, j), 2)
			}
		}
		return math.Sqrt(sum)
	}
	parts := func(i, j int) (negative, positive float64) {
		w := weight(i, j)
		switch {
		case w == 0:
			return 0, 0
		case cost == CostFrobenius:
			return w * x.At(i, j), w * y(i, j)
		case cost == CostL21:
			w /= 2 * length(i)
			return w * x.At(i, j), w * y(i, j)
		case cost == CostHuber:
			w *= min(1, threshold/math.Abs(x.At(i, j)-y(i, j)))
			return w * x.At(i, j), w * y(i, j)
		}
		return w * x.At(i, j) / y(i, j), w
	}
	group := func(i int) (all []int) {
		for h := range n {
			if h == i || labels != nil && labels[i] >= 0 && labels[h] == labels[i] {
				all = append(all, h)
			}
		}
		return all
	}
	power, scale := 1.0, 1.0
	if cost == CostKL {
		power, scale = 0.5, 2
	}
	if s == nil {
		power = 1
	}
	for range iterations {
		next := mat.DenseCopyOf(u)
		for j := range m {
			for r := range k {
				var above, below float64
				for i := range n {
					negative, positive := parts(i, j)
					above += negative * v.At(i, r)
					below += positive * v.At(i, r)
				}
				next.Set(j, r, u.At(j, r)*above/below)
			}
		}
		u.Copy(next)
		next = mat.DenseCopyOf(v)
		for i := range n {
			for r := range k {
				var above, below float64
				for _, h := range group(i) {
					for j := range m {
						negative, positive := parts(h, j)
						above += negative * u.At(j, r)
						below += positive * u.At(j, r)
					}
					for g := range n {
						if s != nil {
							above += scale * s.At(h, g) * v.At(g, r)
							below += scale * s.At(h, g) * v.At(h, r)
						}
					}
				}
				next.Set(i, r, v.At(i, r)*math.Pow(above/below, power))
			}
		}
		v.Copy(next)
	}
	for i := range n {
		for j := range m {
			w := weight(i, j)
			if w == 0 {
				continue
			}
			switch r := math.Abs(x.At(i, j) - y(i, j)); {
			case cost == CostKL:
				objective += w * (x.At(i, j)*math.Log(x.At(i, j)/y(i, j)) - x.At(i, j) + y(i, j))
			case cost == CostHuber && r > threshold:
				objective += w * threshold * (2*r - threshold)
			case cost != CostL21:
				objective += w * r * r
			}
		}
		if cost == CostL21 {
			objective += largest(i) * length(i)
		}
		for g := range n {
			if s != nil {
				var d mat.VecDense
				d.SubVec(v.RowView(i), v.RowView(g))
				objective += s.At(i, g) / 2 * mat.Dot(&d, &d)
			}
		}
	}
	return objective
}

// TestWeightedRules compares the multiplicative rule under missing entries and weights with plain loops.
func TestWeightedRules(t *testing.T) {
	src := rand.New(rand.NewPCG(3, 3))
	x := mat.NewDense(13, 9, nil)
	x.Apply(func(int, int, float64) float64 { return 0.1 + src.Float64() }, x)
	holes := withHoles(x, 0.4, src)
	filled, _, _, err := view.Unweighted(holes, true)
	if err != nil {
		t.Fatal(err)
	}
	labels := []int{0, 1, 0, -1, 2, 1, -1, -1, 2, 0, -1, 5, -1}
	for _, cost := range []Cost{CostFrobenius, CostKL, CostL21, CostHuber} {
		for _, tie := range []Tie{TieNone, TieLabels} {
			for _, lambda := range []float64{0, 0.3} {
				p := Parts{Cost: cost, Tie: tie}
				if cost == CostHuber {
					p.Threshold = threshold
				}
				var s *mat.Dense
				if lambda > 0 {
					graph := Graph{Lambda: lambda, Neighbourhood: Neighbourhood{Neighbours: 2}}
					p.Penalties = Penalties{graph}
					edges, err := graph.Neighbourhood.Graph(t.Context(), filled)
					if err != nil {
						t.Fatal(err)
					}
					s = mat.DenseCopyOf(edges)
					s.Scale(lambda, s)
				}
				name := fmt.Sprintf("%v, tie %v, lambda %v", cost, tie, lambda)
				u, v := mat.DenseCopyOf(random(9, 3)), mat.DenseCopyOf(random(13, 3))
				var tied []int
				if tie == TieLabels {
					tied = labels
					for i, c := range labels {
						if first := slices.Index(labels, c); c >= 0 {
							v.SetRow(i, v.RawRowView(first))
						}
					}
				}
				opt := Options{Rank: 3, Iterations: 7, Solver: Multiplicative{}, KeepScale: true, Start: &Start{Basis: mat.DenseCopyOf(u), Coefficients: mat.DenseCopyOf(v)}}
				res, err := p.Fit(t.Context(), holes, Known{Labels: labels}, opt)
				if err != nil {
					t.Fatal(err)
				}
				objective := plainWeighted(holes, u, v, cost, tied, s, 7)
				near(t, name+": basis", res.Basis, u, 1e-9)
				near(t, name+": coefficients", res.Coefficients, v, 1e-9)
				nearNumber(t, name+": objective", res.Objective[7], objective, 1e-9)
			}
		}
	}
}

// TestWeightedDescends checks that the objective never rises, for all combinations of parts that support weights, and
// that the others are refused by name.
func TestWeightedDescends(t *testing.T) {
	served := map[string]bool{}
	for seed := range uint64(*problems+2) / 3 {
		lambda := randomLambda(seed)
		for name, r := range rules(lambda) {
			p := randomProblem(seed, false).positive(r.parts)
			src := rand.New(rand.NewPCG(seed, 3))
			holes := withHoles(p.x, src.Float64(), src)
			p.x = mat.DenseCopyOf(p.x)
			p.x.Scale(5, p.x) // the weights are at most 2.5², so this is an upper bound of the data's size
			p.opt.Iterations, p.opt.Solver = 10, r.solver
			p.opt.Init = []Init{InitRandom, InitNMF}[seed%2]
			res, err := ForImages(r.method, p.image).Fit(t.Context(), holes, p.known, p.opt)
			if err != nil {
				if !strings.Contains(err.Error(), "missing values") && !strings.Contains(err.Error(), "supports no initial factors") && !r.mayFail(p, err) {
					t.Errorf("%s, %v: %v", name, p, err)
				}
				continue
			}
			served[name] = true
			if err := r.check(holes, p, res); err != nil {
				t.Errorf("%s, %v: %v", name, p, err)
			}
		}
	}
	for _, name := range []string{"nmf", "nmf-kl", "ntf", "gnmf", "cnmf-kl", "kl-free-all-tie-labels", "frobenius-rank-one-links-tie-none", "fast-nmf", "fast-nmf-kl", "semi-nmf", "fast-semi-nmf"} {
		if !served[name] {
			t.Errorf("%s was never fitted: %v", name, served)
		}
	}
	for _, name := range []string{"cf", "ccf", "kl-concept", "sparse-coding", "ss-nmf", "rbf-tie-none"} {
		if served[name] {
			t.Errorf("%s was fitted", name)
		}
	}
}

// solversOf are the solvers of a free basis.
var solversOf = map[string]Solver{"mu": Multiplicative{}, "fast": Fast{}}

// TestWeights checks properties: weights of 1 change nothing, a sample of weight 2 counts as two samples, the values of
// missing entries have no influence, and neither have the order of samples and the number of cores.
func TestWeights(t *testing.T) {
	src := rand.New(rand.NewPCG(8, 1))
	x := mat.NewDense(20, 15, nil)
	x.Apply(func(int, int, float64) float64 { return 0.05 + src.Float64() }, x)
	holes := withHoles(x, 0.3, src)
	ones := mat.NewDense(20, 15, nil)
	ones.Apply(func(int, int, float64) float64 { return 1 }, ones)
	uneven := mat.DenseCopyOf(ones)
	uneven.Set(0, 0, 1+1e-15)
	start := func(n int) *Start { return &Start{Basis: random(15, 3), Coefficients: random(n, 3)} }
	for name, solver := range solversOf {
		for _, cost := range []Cost{CostFrobenius, CostKL, CostL21, CostHuber} {
			if solver.Serves(Parts{Cost: cost}) != nil {
				continue
			}
			name := fmt.Sprintf("%s, %v", name, cost)
			fit := func(x mat.Matrix, start *Start) *Result {
				t.Helper()
				res, err := Parts{Cost: cost}.Fit(t.Context(), x, Known{}, Options{Rank: 3, Iterations: 40, Solver: solver, Seed: 5, Start: start})
				if err != nil {
					t.Fatal(err)
				}
				return res
			}
			same := func(what string, got, want *Result, tolerance float64) {
				t.Helper()
				near(t, name+": "+what+": basis", got.Basis, want.Basis, tolerance)
				near(t, name+": "+what+": coefficients", got.Coefficients, want.Coefficients, tolerance)
			}
			plain := fit(x, nil)
			same("weights of 1", fit(&Weighted{Matrix: x, Entries: ones}, nil), plain, 0)
			if _, fast := solver.(Fast); !fast {
				same("weights near 1", fit(&Weighted{Matrix: x, Entries: uneven}, nil), plain, 1e-11)
			}

			others := &Weighted{Matrix: mat.DenseCopyOf(holes.Matrix), Entries: mat.DenseCopyOf(holes.Entries), Samples: holes.Samples}
			for i := range 20 {
				for j := range 15 {
					if holes.Missing(i, j) {
						others.Matrix.(*mat.Dense).Set(i, j, []float64{7, math.Inf(1), -1e300}[src.IntN(3)])
						others.Entries.Set(i, j, 0)
					}
				}
			}
			want := fit(holes, nil)
			same("values of missing entries", fit(others, nil), want, 0)
			restore := parallel.SetCores(1)
			same("one core", fit(holes, nil), want, 0)
			restore()

			// Sample 4 twice, or with twice the weight.
			rows := append(slices.Clone(order(20)), 4)
			twice := holes.SelectRows(rows)
			from := start(21)
			from.Coefficients.SetRow(20, from.Coefficients.RawRowView(4))
			double := holes.SelectRows(order(20)).(*Weighted)
			double.Samples[4] *= 2
			tolerance := 1e-9
			if cost == CostKL && solver == (Fast{}) { // single precision
				tolerance = 1e-3
			}
			got := fit(twice, from)
			got.Coefficients = mat.DenseCopyOf(got.Coefficients.Slice(0, 20, 0, 3))
			from = &Start{Basis: from.Basis, Coefficients: mat.DenseCopyOf(from.Coefficients.Slice(0, 20, 0, 3))}
			same("a sample twice", got, fit(double, from), tolerance)

			back := order(20)
			slices.Reverse(back)
			permuted := &Start{Basis: from.Basis, Coefficients: mat.NewDense(20, 3, nil)}
			for i, row := range back {
				permuted.Coefficients.SetRow(i, from.Coefficients.RawRowView(row))
			}
			got, want = fit(holes.SelectRows(back), permuted), fit(holes, from)
			for i, row := range back {
				near(t, name+": another order", mat.DenseCopyOf(got.Coefficients.Slice(i, i+1, 0, 3)), mat.DenseCopyOf(want.Coefficients.Slice(row, row+1, 0, 3)), tolerance)
			}
		}
	}
}

func order(n int) (rows []int) {
	for i := range n {
		rows = append(rows, i)
	}
	return rows
}

// TestImpute has a matrix of rank 2 with holes: both costs and solvers restore the missing entries. Imputed
// values are limited.
func TestImpute(t *testing.T) {
	signed := mat.DenseCopyOf(random(2, 22))
	signed.Apply(func(_, _ int, v float64) float64 { return v - 0.5 }, signed)
	x := multiplied(random(30, 2), random(22, 2).T())
	for name, solver := range solversOf {
		for cost, p := range map[string]Parts{"frobenius": {}, "kl": {Cost: CostKL}, "any sign": {Basis: BasisSemi}} {
			x := mat.DenseCopyOf(x)
			if p.Basis == BasisSemi {
				x.Mul(random(30, 2), signed)
			}
			holes := &Weighted{Matrix: withHoles(x, 0.5, rand.New(rand.NewPCG(1, 9))).Matrix}
			res, err := p.Fit(t.Context(), holes, Known{}, Options{Rank: 2, Iterations: 500, Tolerance: 1e-9, Solver: solver})
			if err != nil {
				t.Fatal(err)
			}
			got, err := Impute(t.Context(), res.Model, holes, res.Coefficients)
			if err != nil {
				t.Fatal(err)
			}
			near(t, fmt.Sprintf("%s, %s", name, cost), got, x, 1e-2)
			misfit, err := Misfit(t.Context(), res.Model, holes, res.Coefficients)
			if err != nil || misfit > 1e-4 {
				t.Errorf("%s, %s: misfit %v, %v", name, cost, misfit, err)
			}
			far := &Additive{Basis: mat.DenseCopyOf(res.Basis)}
			far.Basis.Scale(100, far.Basis)
			if got, err = Impute(t.Context(), far, holes, res.Coefficients); err != nil || mat.Max(got) > 2*mat.Max(x)-min(mat.Min(x), 0) {
				t.Errorf("%s, %s: imputed %v: %v", name, cost, mat.Max(got), err)
			}
			again, err := Represent(t.Context(), res.Model, holes)
			if err != nil {
				t.Fatal(err)
			}
			near(t, fmt.Sprintf("%s, %s: coded", name, cost), again, res.Coefficients, 5e-2)
		}
	}
}

// TestRepresentWithHoles checks that the coefficients of new samples with holes are the best for their observed
// entries, that complete samples are coded as without the others, and that a signed basis is supported.
func TestRepresentWithHoles(t *testing.T) {
	src := rand.New(rand.NewPCG(4, 4))
	x := mat.DenseCopyOf(random(8, 12))
	holes := withHoles(x, 0.4, src)
	complete := 0
	holes.Matrix.(*mat.Dense).SetRow(complete, x.RawRowView(complete))
	holes.Entries, holes.Samples = nil, nil
	for _, signed := range []bool{false, true} {
		for _, cost := range []Cost{CostFrobenius, CostKL} {
			basis := mat.DenseCopyOf(random(12, 3))
			if signed {
				if cost == CostKL {
					continue
				}
				basis.Apply(func(_, _ int, v float64) float64 { return v - 0.3 }, basis)
			}
			m := &Additive{Cost: cost, Basis: basis}
			for name, code := range map[string]func(context.Context, mat.Matrix) (*mat.Dense, error){
				"transform": m.Transform, "represent": func(ctx context.Context, x mat.Matrix) (*mat.Dense, error) { return Represent(ctx, m, x) },
			} {
				got, err := code(t.Context(), holes)
				if err != nil {
					t.Fatal(err)
				}
				alone, err := code(t.Context(), x.Slice(complete, complete+1, 0, 12))
				if err != nil {
					t.Fatal(err)
				}
				tolerance := 1e-9
				if signed {
					tolerance = 0.1
				}
				near(t, fmt.Sprintf("%s, %v: a complete sample", name, cost), mat.DenseCopyOf(got.Slice(complete, complete+1, 0, 3)), alone, tolerance)
				if name != "represent" || cost != CostFrobenius {
					continue
				}
				for i := range 8 { // the conditions of an optimum
					for r := range 3 {
						var slope float64
						for j := range 12 {
							if !holes.Missing(i, j) {
								slope += basis.At(j, r) * (x.At(i, j) - mat.Dot(got.RowView(i), basis.RowView(j)))
							}
						}
						if v := got.At(i, r); slope > 1e-6 || v > 1e-6 && slope < -1e-6 {
							t.Errorf("sample %d, vector %d: derivative %v at %v", i, r, slope, v)
						}
					}
				}
			}
		}
	}
}

// TestBadWeights checks the messages.
func TestBadWeights(t *testing.T) {
	x := random(4, 3)
	nan := func(at ...[2]int) *mat.Dense {
		x := mat.DenseCopyOf(x)
		for _, p := range at {
			x.Set(p[0], p[1], math.NaN())
		}
		return x
	}
	entries := func(w float64) *mat.Dense {
		e := mat.DenseCopyOf(x)
		e.Set(2, 1, w)
		return e
	}
	one := nan([2]int{0, 0})
	for name, c := range map[string]struct {
		x      *Weighted
		method Method
		opt    Options
		want   string
	}{
		"row":       {&Weighted{Matrix: nan([2]int{1, 0}, [2]int{1, 1}, [2]int{1, 2})}, NMF{}, Options{}, "sample 2: all values are missing"},
		"column":    {&Weighted{Matrix: nan([2]int{0, 1}, [2]int{1, 1}, [2]int{2, 1}, [2]int{3, 1})}, NMF{}, Options{}, "column 2: all values are missing"},
		"negative":  {&Weighted{Matrix: x, Entries: entries(-1)}, NMF{}, Options{}, "sample 3: column 2: weight -1; expected 0, or 1e-60 to 1e+60"},
		"NaN":       {&Weighted{Matrix: x, Entries: entries(math.NaN())}, NMF{}, Options{}, "sample 3: column 2: weight NaN"},
		"too large": {&Weighted{Matrix: x, Entries: entries(1e70)}, NMF{}, Options{}, "sample 3: column 2: weight 1e+70"},
		"value":     {&Weighted{Matrix: entries(math.Inf(1)), Entries: x}, NMF{}, Options{}, "sample 3: column 2: value +Inf"},
		"sample":    {&Weighted{Matrix: x, Samples: []float64{1, 1, 0, 1}}, NMF{}, Options{}, "sample 3: weight 0; expected 1e-60 to 1e+60"},
		"samples":   {&Weighted{Matrix: x, Samples: []float64{1}}, NMF{}, Options{}, "weights of 1 samples; expected 4"},
		"shape":     {&Weighted{Matrix: x, Entries: random(3, 4)}, NMF{}, Options{}, "3×4 weights of the entries of a 4×3"},
		"sparse":    {&Weighted{Matrix: toSparse(x), Entries: x}, NMF{}, Options{}, "expected a *mat.Dense"},
		"concept":   {&Weighted{Matrix: one}, CF{}, Options{}, "basis concept supports no missing values"},
		"pca":       {&Weighted{Matrix: one}, PCA{}, Options{}, "the method supports no missing values or weights"},
		"held out":  {&Weighted{Matrix: one}, Parts{HeldOut: make(HeldOut, 4)}, Options{}, "held-out entries need"},
		"fast":      {&Weighted{Matrix: one}, GNMF{}, Options{Solver: Fast{}}, "the solver fast"},
	} {
		c.opt.Rank = 2
		if _, err := c.method.Fit(t.Context(), c.x, Known{}, c.opt); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", name, err, c.want)
		}
	}
	// Weights of samples support every part.
	for _, m := range []Method{CF{}, CF{Kernel{Function: KernelRBF}}, NMF{}} {
		for _, x := range []mat.Matrix{x, toSparse(x)} {
			if _, err := m.Fit(t.Context(), &Weighted{Matrix: x, Samples: []float64{1, 2, 1, 0.5}}, Known{}, Options{Rank: 2}); err != nil {
				t.Errorf("%T: %v", m, err)
			}
		}
	}
}

// TestHostileWeights checks that weights of any size give finite factors or one error.
func TestHostileWeights(t *testing.T) {
	for seed := range uint64(*problems) {
		src := rand.New(rand.NewPCG(seed, 31))
		p := randomProblem(seed, false)
		holes := withHoles(p.x, 0.3, src)
		e := []float64{10, 60, 118}[src.IntN(3)]
		holes.Entries.Apply(func(int, int, float64) float64 { return math.Pow(10, e*(src.Float64()-0.5)) }, holes.Entries)
		p.x.Scale(math.Pow(10, 100*src.Float64()-50), holes.Matrix)
		holes.Matrix = p.x
		for name, solver := range solversOf {
			for cost := range Cost(len(costs)) {
				if costs[cost].positive || solver.Serves(Parts{Cost: cost}) != nil {
					continue
				}
				p.opt.Iterations, p.opt.Solver = 10, solver
				res, err := Parts{Cost: cost}.Fit(t.Context(), holes, Known{}, p.opt)
				if err == nil && !(algebra.Finite(res.Basis) && algebra.Finite(res.Coefficients)) {
					t.Errorf("seed %d, %s, %v: factors that are not finite", seed, name, cost)
				}
				if err == nil {
					for i, now := range res.Objective[1:] {
						if !(now <= res.Objective[i]*(1+1e-9)+1e-13*res.Objective[0]) {
							t.Errorf("seed %d, %s, %v: objective %v after %v", seed, name, cost, now, res.Objective[i])
							break
						}
					}
				}
			}
		}
	}
}
