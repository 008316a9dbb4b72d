package factor

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/descent"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/internal/simd"
	"github.com/seed4492f2cd/partwise/internal/sparse"
	"github.com/seed4492f2cd/partwise/internal/topk"
)

// TestMinimiseRows checks that repeated sweeps bring all columns to the conditions of their minima, for any shape,
// with variables without effect and with copies of variables.
func TestMinimiseRows(t *testing.T) {
	for seed := range uint64(60) {
		src := rand.New(rand.NewPCG(seed, 4))
		k, p, m := 1+src.IntN(12), 1+src.IntN(100), 20
		random := func(r, c int) *mat.Dense {
			out := mat.NewDense(r, c, nil)
			out.Apply(func(int, int, float64) float64 { return src.Float64() - 0.3 }, out)
			return out
		}
		a, x := random(k, m+k), random(p, m+k)
		if k > 2 {
			clear(a.RawRowView(0))
			copy(a.RawRowView(1), a.RawRowView(2))
		}
		h, b, theta := algebra.SelfGram(a), mat.NewDense(k, p, nil), random(k, p)
		algebra.Gemm(b, a, algebra.NoTrans, x, algebra.Trans)
		for range 300 {
			if err := descent.MinimiseRows(t.Context(), theta, theta, b, h, descent.MostSweeps); err != nil {
				t.Fatal(err)
			}
		}
		gradient := algebra.Like(b)
		algebra.Gemm(gradient, h, algebra.NoTrans, theta, algebra.NoTrans)
		gradient.Sub(gradient, b)
		for r := range k {
			for i, g := range gradient.RawRowView(r) {
				if x := theta.At(r, i); x < 0 || g < -1e-6 || x*g > 1e-6 {
					t.Fatalf("seed %d, %d×%d: variable %d of column %d is %v with the gradient %v", seed, k, p, r, i, x, g)
				}
			}
		}
	}
}

// kkt measures the violation of the conditions of a minimum over factors ≥ 0, relative to the data: it sums the
// products of entries and gradients, and of negative gradients and the factor's mean.
func kkt(f *Factorisation) (residual float64) {
	for i, theta := range f.Factors() {
		b := f.Block(i)
		gradient := algebra.Like(theta)
		if b.Quadratic != nil {
			algebra.Gemm(gradient, hessianOf(b), algebra.NoTrans, theta, algebra.NoTrans)
		} else {
			gradient.Copy(b.Positive)
			if b.Negative != nil {
				gradient.Sub(b.Positive, b.Negative)
			}
		}
		gradient.Sub(gradient, b.Linear)
		k, p := theta.Dims()
		mean := mat.Sum(theta) / float64(k*p)
		for r := range k {
			for j, g := range gradient.RawRowView(r) {
				if residual += math.Abs(g * theta.At(r, j)); !b.AnySign {
					residual += max(-g, 0) * mean
				}
			}
		}
	}
	return residual
}

// TestFastStationary checks that fast violates the conditions of a minimum in 300 iterations at most as much as
// multiplicative updates in 3000, or by 2e-5 of the data, and that its objective is mostly lower.
func TestFastStationary(t *testing.T) {
	run := func(p problem, parts Parts, s Solver, iterations int) (*Factorisation, float64) {
		p.opt.Solver, p.opt.Iterations = s, iterations
		f, err := parts.start(context.Background(), p.x, p.known, p.opt)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.iterate(context.Background(), p.opt); err != nil {
			t.Fatal(err)
		}
		return f, kkt(f) / algebra.Inner(p.x, p.x)
	}
	for name, parts := range map[string]Parts{
		"nmf": {}, "cnmf": {Tie: TieLabels}, "ncw": {Weighting: WeightingNormalisedCut}, "cf": {Basis: BasisConcept},
		"ccf": {Basis: BasisConcept, Tie: TieLabels}, "rbf": {Basis: BasisConcept, Kernel: kernels()["rbf"]},
		"semi": {Basis: BasisSemi}, "semi ties": {Basis: BasisSemi, Tie: TieLabels},
	} {
		lower := 0
		for seed := range uint64(4) {
			p := planted(seed)
			fast, near := run(p, parts, Fast{}, 300)
			slow, far := run(p, parts, Multiplicative{}, 3000)
			if near > max(far, 2e-5) {
				t.Errorf("%s, seed %d: %v from the conditions, multiplicative steps %v", name, seed, near, far)
			}
			if fast.history[50] <= slow.history[500]*(1+1e-3) {
				lower++
			}
		}
		if lower < 3 {
			t.Errorf("%s: lower than multiplicative steps only in %d of 4 problems", name, lower)
		}
	}
}

// TestFastPenalties checks that in most problems with penalties or basis vectors of unit norm, the objective after 50
// iterations is at most the one after 1000 multiplicative updates.
func TestFastPenalties(t *testing.T) {
	for name, parts := range map[string]Parts{
		"unit": {UnitNorm: true}, "l2-snmf": L2SNMF{}.AsParts(), "l1": {UnitNorm: true, Penalties: Penalties{L1{}}},
		"graph": {UnitNorm: true, Tie: TieLabels, Penalties: Penalties{Graph{Lambda: 1}}}, "l2": {UnitNorm: true, Tie: TieLabels, Penalties: Penalties{L2{1}}},
		"elastic": {Penalties: Penalties{L1{1}, L2Basis{1}}}, "tied": {Tie: TieLabels, Penalties: Penalties{L1{1}, L2{0.1}, L1Basis{0.5}, L2Basis{0.5}}},
	} {
		lower := 0
		for seed := range uint64(4) {
			p := planted(seed)
			for i := range p.known.Labels {
				if i >= 10 {
					p.known.Labels[i] = -1
				}
			}
			if name == "l2-snmf" && seed%2 == 1 {
				p.known = Known{MustLink: [][2]int{{0, 3}, {1, 4}}, CannotLink: [][2]int{{0, 1}, {3, 4}}}
			}
			end := func(s Solver, iterations int) float64 {
				p.opt.Solver, p.opt.Iterations = s, iterations
				res, err := ForImages(parts, p.image).Fit(context.Background(), p.x, p.known, p.opt)
				if err != nil {
					t.Fatal(err)
				}
				return res.Objective[iterations]
			}
			if fast, slow := end(Fast{}, 50), end(Multiplicative{}, 1000); fast <= slow*(1+1e-3) {
				lower++
			} else {
				t.Logf("%s, seed %d: %v, multiplicative steps %v", name, seed, fast, slow)
			}
		}
		if lower < 3 {
			t.Errorf("%s: as low as multiplicative steps only in %d of 4 problems", name, lower)
		}
	}
}

// TestFastRefuses checks that the error names the unsupported part, before anything is computed.
func TestFastRefuses(t *testing.T) {
	for want, p := range map[string]Parts{
		"basis rank-one": {Basis: BasisRankOne},
		"the solver fast supports the penalty graph only with unit-norm; otherwise the objective has no minimum": GNMF{}.AsParts(),
		"the solver fast does not support the penalty graph with basis concept":                                  LCCF{}.AsParts(),
		"the solver fast does not support the learned graph of the penalty learned-graph":                        {UnitNorm: true, Penalties: Penalties{LearnedGraph{}}},
		"the solver fast does not support the penalty smooth on basis vectors":                                   {Penalties: Penalties{Smooth{}}},
		"the penalty orthogonal, which joins basis vectors":                                                      {UnitNorm: true, Penalties: Penalties{Orthogonal{}}},
		"the penalty l2-basis only with l1 or l2 on the coefficients":                                            {Penalties: Penalties{L2Basis{}}},
		"penalty smooth on basis vectors":                                                                        {Cost: CostKL, Penalties: Penalties{Smooth{}}},
	} {
		if err := (Fast{}).Serves(p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// countsOf returns counts from a factorisation of rank k, n×m. About a share of them is not 0.
func countsOf(seed uint64, n, m, k int, share float64) *mat.Dense {
	src := rand.New(rand.NewPCG(seed, 29))
	u, v := mat.NewDense(k, m, nil), mat.NewDense(n, k, nil)
	for _, a := range []*mat.Dense{u, v} {
		a.Apply(func(int, int, float64) float64 { return math.Pow(src.Float64(), 3) }, a)
	}
	var x mat.Dense
	x.Mul(v, u)
	x.Apply(func(_, j int, y float64) float64 {
		if src.Float64() > share {
			return 0
		}
		return math.Ceil(20 * y * src.ExpFloat64())
	}, &x)
	for i := range n {
		x.Set(i, i%m, 1+x.At(i, i%m))
	}
	return &x
}

// TestFastKLIterations checks that 25 iterations reach on average at most the objective of 200 multiplicative updates
// from the same factors, for dense and sparse data.
func TestFastKLIterations(t *testing.T) {
	for _, share := range []float64{1, 0.15} {
		var sum float64
		const problems = 6
		for seed := range uint64(problems) {
			x := countsOf(seed, 90, 70, 6, share)
			last := func(s Solver, iterations int) float64 {
				res, err := NMFKL{}.Fit(t.Context(), x, Known{}, Options{Rank: 6, Seed: seed, Iterations: iterations, Solver: s})
				if err != nil {
					t.Fatal(err)
				}
				return res.Objective[iterations]
			}
			sum += last(Fast{}, 25) / last(Multiplicative{}, 200)
		}
		if mean := sum / problems; mean > 1 {
			t.Errorf("%v of the values: the mean ratio of the objective to the multiplicative rule's is %v, want at most 1", share, mean)
		}
	}
}

// residual measures the violation of the conditions of a minimum, ∂/∂θ ≥ 0 and θ·∂/∂θ = 0, with columns and basis
// vectors scaled to sums of 1.
func residual(t *testing.T, x mat.Matrix, res *Result) (most float64) {
	t.Helper()
	d, err := view.New(x)
	if err != nil {
		t.Fatal(err)
	}
	features, samples := descent.KLData(d)
	u, v := algebra.Transpose(res.Basis), algebra.Transpose(res.Coefficients)
	c := kl.new(d, u, v).(*klCost)
	for _, half := range []struct {
		Block
		theta  *mat.Dense
		totals []float64
	}{{c.basisBlock(), u, features.Totals}, {c.coefficientBlock(), v, samples.Totals}} {
		half.theta.Apply(func(r, i int, theta float64) float64 {
			if total := half.totals[i]; total > 0 {
				slope := 1 - half.Linear.At(r, i)/half.Positive.At(r, i)
				most = max(most, -slope*1e-3, math.Abs(slope)*theta*half.Positive.At(r, i)/total)
			}
			return theta
		}, half.theta)
	}
	return most
}

// TestFastKLStationary checks that fast fulfils the conditions of a minimum as well as many multiplicative updates, and
// that neither solver moves away from the result of the other.
func TestFastKLStationary(t *testing.T) {
	for seed := range uint64(2) {
		x := countsOf(seed, 40, 30, 3, 0.8)
		opt := Options{Rank: 3, Seed: seed, KeepScale: true}
		fit := func(s Solver, iterations int, from *Result) *Result {
			opt := opt
			opt.Solver, opt.Iterations = s, iterations
			if from != nil {
				opt.Start = &Start{Basis: from.Basis, Coefficients: from.Coefficients}
			}
			res, err := NMFKL{}.Fit(t.Context(), x, Known{}, opt)
			if err != nil {
				t.Fatal(err)
			}
			return res
		}
		fast, rule := fit(Fast{}, 600, nil), fit(Multiplicative{}, 8000, nil)
		if f, r := residual(t, x, fast), residual(t, x, rule); f > 1e-5 || f > 2*r+1e-6 {
			t.Errorf("seed %d: the residual is %v, of the multiplicative rule %v", seed, f, r)
		}
		for name, ended := range map[string]*Result{"fast": fast, "mu": rule} {
			for by, s := range map[string]Solver{"fast": Fast{}, "mu": Multiplicative{}} {
				on := fit(s, 50, ended).Objective
				if on[0]-on[50] > 1e-6*on[0] {
					t.Errorf("seed %d: from where %s ended %s falls from %v to %v", seed, name, by, on[0], on[50])
				}
			}
		}
	}
}

// TestFastKLCores checks that the bytes are equal on any number of cores, and that no coefficient is 0.
func TestFastKLCores(t *testing.T) {
	x := countsOf(1, 150, 110, 5, 0.6)
	for _, x := range []mat.Matrix{x, toSparse(x)} {
		var first *Result
		for _, cores := range []int{1, 2, 7} {
			restore := parallel.SetCores(cores)
			res, err := NMFKL{}.Fit(t.Context(), x, Known{}, Options{Rank: 5, Iterations: 12, Solver: Fast{}})
			restore()
			if err != nil {
				t.Fatal(err)
			}
			if mat.Min(res.Coefficients) <= 0 {
				t.Errorf("%T: a coefficient is %v", x, mat.Min(res.Coefficients))
			}
			if first == nil {
				first = res
			} else if !reflect.DeepEqual(res, first) {
				t.Errorf("%T: %d cores give other bytes than one", x, cores)
			}
		}
	}
}

// TestFastKLServes checks that the error names the unsupported part.
func TestFastKLServes(t *testing.T) {
	for want, m := range map[string]Method{
		"the solver fast does not support unit-norm with cost kl":         DSNMF{},
		"the solver fast does not support basis concept with cost kl":     Parts{Cost: CostKL, Basis: BasisConcept},
		"the solver fast does not support the penalty graph with cost kl": Parts{Cost: CostKL, Penalties: Penalties{Graph{}}},
	} {
		_, err := m.Fit(context.Background(), countsOf(1, 9, 8, 2, 1), classes(9, 3, 9), Options{Rank: 2, Solver: Fast{}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", fmt.Sprintf("%T", m), err, want)
		}
	}
}

// TestWeightBlock compares the weights after a block update with updates of one sample after another, which compute
// each gradient from the start.
func TestWeightBlock(t *testing.T) {
	for _, k := range []int{1, 3, 8, 17} {
		count := 9 + k
		x, v, linear := random(count, 6), random(k, 30), random(count, k)
		gram, products := algebra.SelfGram(v), algebra.SelfGram(x)
		w := random(count, k)
		kw := mat.NewDense(count, k, nil)
		algebra.Gemm(kw, products, algebra.NoTrans, w, algebra.NoTrans)
		b, moved := descent.NewWeightBlock(k), mat.DenseCopyOf(w)
		b.SetGram(gram)
		for a := range count {
			copy(b.Kw.RawRowView(a), kw.RawRowView(a))
			for r := range k {
				linear.Set(a, r, 40*linear.At(a, r))
			}
		}
		if !b.Move(linear, moved, products, count) {
			t.Fatalf("k = %d: no sample moves", k)
		}
		gradient := mat.NewDense(count, k, nil)
		for a := range count {
			algebra.Gemm(kw, products, algebra.NoTrans, w, algebra.NoTrans)
			algebra.Gemm(gradient, kw, algebra.NoTrans, gram, algebra.NoTrans)
			gradient.Sub(gradient, linear)
			row := mat.NewVecDense(k, gradient.RawRowView(a))
			for sweep, first, step := 0, 0.0, math.Inf(1); sweep < descent.MostSweeps && step > descent.StillShare*first; sweep++ {
				step = 0
				for r := range k {
					curvature := products.At(a, a) * gram.At(r, r)
					to := max(0, w.At(a, r)-row.AtVec(r)/curvature)
					by := to - w.At(a, r)
					w.Set(a, r, to)
					row.AddScaledVec(row, products.At(a, a)*by, gram.ColView(r))
					step += curvature * by * by
				}
				if sweep == 0 {
					first = step
				}
			}
		}
		near(t, fmt.Sprintf("k = %d", k), moved, w, 1e-9)
	}
}

// TestFastConceptFollows compares the updated product W·K with the product computed from W, for samples with padded
// inner products and for a kernel.
func TestFastConceptFollows(t *testing.T) {
	for _, n := range []int{40, 77} {
		x := random(n, 50)
		for _, kernel := range []Kernel{{}, linearKernel} {
			f, err := Parts{Basis: BasisConcept, Kernel: kernel}.start(context.Background(), x, Known{}, Options{Rank: 5, Solver: Fast{}})
			if err != nil {
				t.Fatal(err)
			}
			for range 8 {
				if err := f.step(context.Background()); err != nil {
					t.Fatal(err)
				}
			}
			m := f.model.(*conceptModel)
			if !m.haveKW {
				t.Fatal("W·K has not followed")
			}
			want := algebra.Like(m.w)
			algebra.Gemm(want, m.w, algebra.NoTrans, m.k, algebra.NoTrans)
			near(t, fmt.Sprintf("%d samples", n), mat.DenseCopyOf(m.kw), want, 1e-9)
		}
	}
}

// faces, texts and scenes have the size of a set of faces, of texts, and of scenes as histograms of visual words.
func faces() *mat.Dense { return random(400, 1024) }

// random returns an n×m matrix of values from 0 to 1.
func random(n, m int) *mat.Dense {
	src := rand.New(rand.NewPCG(1, 1))
	x := mat.NewDense(n, m, nil)
	x.Apply(func(int, int, float64) float64 { return src.Float64() }, x)
	return x
}

func texts() *CSR {
	src := rand.New(rand.NewPCG(1, 2))
	var entries []sparse.Entry
	for i := range 1200 {
		for range 150 {
			entries = append(entries, sparse.Entry{Row: i, Col: int(26000 * src.Float64() * src.Float64()), Value: 1 + float64(src.IntN(3))})
		}
	}
	return sparse.FromEntries(1200, 26000, entries)
}

func scenes() *CSR {
	src := rand.New(rand.NewPCG(1, 3))
	var entries []sparse.Entry
	for i := range 1300 {
		for j := range 3200 {
			if src.Float64() < 0.15 {
				entries = append(entries, sparse.Entry{Row: i, Col: j, Value: src.ExpFloat64()})
			}
		}
	}
	return sparse.FromEntries(1300, 3200, entries)
}

// classes returns the labels 0, 1, …, c−1, 0, 1, … of the first known of n samples, and −1 for the others.
func classes(n, c, known int) Known {
	labels := make([]int, n)
	for i := range labels {
		if labels[i] = i % c; i >= known {
			labels[i] = -1
		}
	}
	return Known{Labels: labels}
}

// BenchmarkIteration times iterations.
func BenchmarkIteration(b *testing.B) {
	faces, texts, scenes := faces(), texts(), scenes()
	partly, fully := classes(400, 40, 120), classes(1300, 13, 1300)
	whole := mat.DenseCopyOf(scenes)
	for _, c := range []struct {
		name   string
		x      mat.Matrix
		known  Known
		method Method
		ranks  []int
	}{
		{"faces/nmf", faces, Known{}, NMF{}, []int{40}},
		{"faces/nmf-kl", faces, Known{}, NMFKL{}, []int{40}},
		{"faces/cnmf", faces, partly, CNMF{}, []int{40}},
		{"faces/cf", faces, Known{}, CF{}, []int{40}},
		{"faces/gnmf", faces, Known{}, GNMF{}, []int{40}},
		{"texts/nmf", texts, Known{}, NMF{}, []int{20}},
		{"texts/nmf-kl", texts, Known{}, NMFKL{}, []int{20}},
		{"scenes/nmf", scenes, Known{}, NMF{}, []int{18}},
		{"scenes/nmf-kl", scenes, Known{}, NMFKL{}, []int{18}},
		{"scenes/l2-snmf", scenes, fully, L2SNMF{}, []int{18}},
		{"scenes/d-snmf", scenes, fully, DSNMF{}, []int{5, 18, 40}},
		{"scenes-dense/nmf", whole, Known{}, NMF{}, []int{18}},
		{"scenes-dense/d-snmf", whole, fully, DSNMF{}, []int{18}},
	} {
		for _, k := range c.ranks {
			b.Run(fmt.Sprintf("%s/%d", c.name, k), func(b *testing.B) {
				_, err := c.method.Fit(context.Background(), c.x, c.known, Options{Rank: k, Iterations: b.N, Solver: Multiplicative{}})
				if err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}

// BenchmarkProducts times iterations of multiplicative updates, alternating with the matrix
// products that they contain. It reports the ratio of the two times, the operations and
// bytes of data per second of the products, and these as a fraction of the roofline
// (Williams, Waterman and Patterson 2009): the lower of the speed of square products and
// the speed that the memory bandwidth allows.
func BenchmarkProducts(b *testing.B) {
	for _, size := range [][3]int{{165, 1024, 15}, {1440, 1024, 20}, {10000, 784, 20}} {
		n, m, k := size[0], size[1], size[2]
		for _, c := range []struct {
			name   string
			method Parts
			// products computes the products of an iteration with factors u, k×m, and v, k×n. They read a matrix of
			// n×width passes times.
			products func(f *Factorisation, u, v *mat.Dense)
			passes   int
			width    int
		}{
			{"nmf", NMF{}.AsParts(), func(f *Factorisation, u, v *mat.Dense) {
				x := f.data.(view.Dense).X
				product(v, algebra.NoTrans, x, algebra.NoTrans)
				product(u, algebra.NoTrans, x, algebra.Trans)
				product(algebra.SelfGram(v), algebra.NoTrans, u, algebra.NoTrans)
				product(algebra.SelfGram(u), algebra.NoTrans, v, algebra.NoTrans)
			}, 2, m},
			{"nmf-kl", NMFKL{}.AsParts(), func(f *Factorisation, u, v *mat.Dense) {
				vx, ux := algebra.Like(u), algebra.Like(v)
				f.data.(view.Dense).Walk(u, v, true, func(t view.Tile, first bool) float64 {
					view.Add(first, algebra.NoTrans, t.V, t.Y, view.ColumnsOf(algebra.Raw(vx), t.At, t.At+t.Y.Cols))
					return 0
				})
				f.data.(view.Dense).Walk(u, v, false, func(t view.Tile, first bool) float64 {
					view.Add(first, algebra.Trans, t.U, t.Y, view.ColumnsOf(algebra.Raw(ux), t.Sample, t.Sample+t.Y.Rows))
					return 0
				})
			}, 4, m},
			{"cf", CF{}.AsParts(), func(f *Factorisation, _, v *mat.Dense) {
				kernel := f.model.(*conceptModel).k
				product(v, algebra.NoTrans, kernel, algebra.NoTrans)
				product(v, algebra.NoTrans, kernel, algebra.NoTrans)
				product(algebra.SelfGram(v), algebra.NoTrans, v, algebra.NoTrans)
				product(algebra.SelfGram(v), algebra.NoTrans, v, algebra.NoTrans)
			}, 2, n},
		} {
			if c.name == "cf" && n > 2*m {
				continue // without the inner products of samples
			}
			b.Run(fmt.Sprintf("%dx%d/%s", n, m, c.name), func(b *testing.B) {
				f, err := c.method.start(b.Context(), random(n, m), Known{}, Options{Rank: k, Solver: Multiplicative{}})
				if err != nil {
					b.Fatal(err)
				}
				u, v := random(k, m), random(k, n)
				peak, read := peakRate(), readRate(random(n, c.width))
				var whole, bare time.Duration
				for b.Loop() {
					begin := time.Now()
					if err := f.step(b.Context()); err != nil {
						b.Fatal(err)
					}
					f.Objective()
					middle := time.Now()
					c.products(f, u, v)
					whole += middle.Sub(begin)
					bare += time.Since(middle)
				}
				b.ReportMetric(whole.Seconds()/bare.Seconds(), "iteration/products")
				bytes := 8 * float64(n*c.width*c.passes) * float64(b.N) / bare.Seconds()
				perByte := float64(2*k) / 8
				b.ReportMetric(1e-9*bytes*perByte, "GFLOP/s")
				b.ReportMetric(1e-9*bytes, "GB/s")
				b.ReportMetric(bytes*perByte/min(peak, read*perByte), "of-roofline")
				b.ReportMetric(1e-9*peak, "peak-GFLOP/s")
				b.ReportMetric(1e-9*read, "read-GB/s")
			})
		}
	}
}

// peakRate returns the maximum number of operations per second in products of square matrices on all cores.
func peakRate() float64 {
	const n = 768
	a, b := random(n, n), random(n, n)
	return fastest(2*n*n*n, func() { product(a, algebra.NoTrans, b, algebra.NoTrans) })
}

// readRate returns the maximum number of bytes of x that all cores read per second. Repeated reads may come from
// caches.
func readRate(x *mat.Dense) float64 {
	n, m := x.Dims()
	ones, at := slices.Repeat([]float64{1}, m), make([]int, n)
	for i := range at {
		at[i] = i
	}
	sums := make([]float64, n)
	rows := max(1, (n+63)/64)
	return fastest(8*n*m, func() {
		parallel.Do((n+rows-1)/rows, func(i int) {
			lo, hi := i*rows, min(n, (i+1)*rows)
			simd.Dots(sums[lo:hi], ones, x.RawMatrix().Data, at[lo:hi])
		})
	})
}

// fastest returns the maximum rate of several calls of f, which does the given work, per second.
func fastest(work int, f func()) float64 {
	var most float64
	for range 20 {
		begin := time.Now()
		f()
		most = max(most, float64(work)/time.Since(begin).Seconds())
	}
	return most
}

// product returns op(a)·op(b).
func product(a *mat.Dense, ta blas.Transpose, b *mat.Dense, tb blas.Transpose) *mat.Dense {
	r, _ := a.Dims()
	columns, c := b.Dims()
	if tb != algebra.NoTrans {
		c = columns
	}
	out := mat.NewDense(r, c, nil)
	algebra.Gemm(out, a, ta, b, tb)
	return out
}

// BenchmarkLabels times an iteration with different percentages of labelled samples.
func BenchmarkLabels(b *testing.B) {
	for _, size := range [][2]int{{1440, 1024}, {70000, 784}} {
		make := sync.OnceValue(func() *mat.Dense { return random(size[0], size[1]) })
		for _, percent := range []int{0, 10, 50} {
			methods := map[string]Method{"nmf": NMF{}, "cf": CF{}}
			if percent > 0 {
				methods = map[string]Method{"cnmf": CNMF{}, "ccf": CCF{}}
			}
			for name, method := range methods {
				b.Run(fmt.Sprintf("%dx%d/%s/%d", size[0], size[1], name, percent), func(b *testing.B) {
					x := make()
					known := Known{}
					if percent > 0 {
						known = classes(size[0], 20, size[0]*percent/100)
					}
					b.ResetTimer()
					if _, err := method.Fit(b.Context(), x, known, Options{Rank: 20, Iterations: b.N, Solver: Multiplicative{}}); err != nil {
						b.Fatal(err)
					}
				})
			}
		}
	}
}

// BenchmarkTransform times the representation of the scenes.
func BenchmarkTransform(b *testing.B) {
	x := scenes()
	for _, cost := range []Cost{CostFrobenius, CostKL} {
		b.Run(cost.String(), func(b *testing.B) {
			model := &Additive{Cost: cost, Basis: mat.NewDense(3200, 18, nil)}
			src := rand.New(rand.NewPCG(1, 1))
			model.Basis.Apply(func(int, int, float64) float64 { return src.Float64() }, model.Basis)
			for b.Loop() {
				if _, err := model.Transform(context.Background(), x); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkGram times the inner products of the scenes.
func BenchmarkGram(b *testing.B) {
	d := view.NewSparse(scenes())
	for b.Loop() {
		if _, err := view.InnerProducts(b.Context(), d); err != nil {
			b.Fatal(err)
		}
	}
}

// TestSmooth checks that the penalty is a sum over neighbouring pixels of each channel, that it makes basis images
// smoother with every basis and cost, and that its value is the same when computed from inner products of the samples.
func TestSmooth(t *testing.T) {
	image := Image{Height: 3, Width: 4, Channels: 2}
	roughness := func(u *mat.Dense) (sum float64) { // m×k
		m, k := u.Dims()
		for p := range m {
			y, x := p%(image.Height*image.Width)/image.Width, p%image.Width
			for r := range k {
				if x+1 < image.Width {
					sum += math.Pow(u.At(p, r)-u.At(p+1, r), 2)
				}
				if y+1 < image.Height {
					sum += math.Pow(u.At(p, r)-u.At(p+image.Width, r), 2)
				}
			}
		}
		return sum
	}
	x := mat.NewDense(40, 24, nil)
	x.Apply(func(i, j int, _ float64) float64 { return 1 + math.Sin(float64(i*i+7*j*j)) }, x)
	opt := Options{Rank: 3, Iterations: 40}
	for _, cost := range []Cost{CostFrobenius, CostKL} {
		for _, basis := range []Basis{BasisFree, BasisConcept, BasisRankOne} {
			rough := map[float64]float64{}
			for _, weight := range []float64{1e-9, 100} {
				res, err := Parts{Cost: cost, Basis: basis, Image: image, Penalties: []Penalty{Smooth{weight}}}.Fit(context.Background(), x, Known{}, opt)
				if err != nil {
					t.Fatal(err)
				}
				rough[weight] = roughness(res.Basis)
				opt.KeepScale = true
				if res, err = (Parts{Cost: cost, Basis: basis, Image: image, Penalties: []Penalty{Smooth{weight}}}).Fit(context.Background(), x, Known{}, opt); err != nil {
					t.Fatal(err)
				}
				opt.KeepScale = false
				nearNumber(t, "penalty", res.Penalty[40]/(weight*roughness(res.Basis)), 1, 1e-9)
			}
			if !(rough[100] < 0.8*rough[1e-9]) {
				t.Errorf("%v, %v: differences of pixels sum to %v by λ", cost, basis, rough)
			}
		}
	}
	for name, x := range map[string]*mat.Dense{"formed": x, "not formed": mat.DenseCopyOf(x.Slice(0, 40, 0, 12))} {
		image := image
		if _, m := x.Dims(); m == 12 {
			image.Channels = 1
		}
		p := Parts{Basis: BasisConcept, Tie: TieLabels, Image: image, Penalties: []Penalty{Smooth{3}, L1{}}}
		labels := make([]int, 40)
		for i := range labels {
			labels[i] = i%9 - 1
		}
		var results []*Result
		for _, plain := range []bool{false, true} {
			f, err := p.start(context.Background(), x, Known{Labels: labels}, opt)
			if err != nil {
				t.Fatal(err)
			}
			if plain {
				d := view.Dense{X: x}
				f.model = p.plainModel(d, f.ties.Data(d), nil, nil, nil, &initialFactors{[]*mat.Dense{f.factors[0]}, f.v})
			}
			if err := f.iterate(context.Background(), opt); err != nil {
				t.Fatal(err)
			}
			res, err := f.finish(opt)
			if err != nil {
				t.Fatal(err)
			}
			results = append(results, res)
		}
		near(t, name+" W", results[0].Weights, results[1].Weights, 1e-8)
		near(t, name+" V", results[0].Coefficients, results[1].Coefficients, 1e-8)
		nearNumber(t, name+" penalty", results[0].Penalty[40], results[1].Penalty[40], 1e-8*results[1].Penalty[40])
	}
}

// TestSmoothRefuses checks the errors for invalid images, data, kernels and weights.
func TestSmoothRefuses(t *testing.T) {
	x := mat.NewDense(4, 6, nil)
	x.Apply(func(i, j int, _ float64) float64 { return float64(i + j + 1) }, x)
	signed := mat.DenseCopyOf(x)
	signed.Set(2, 1, -3)
	image := Image{Height: 2, Width: 3}
	for _, c := range []struct {
		p     Parts
		x     *mat.Dense
		image Image
		want  string
	}{
		{Parts{}, x, Image{}, "a penalty on neighbouring pixels needs images, but samples of 6 features are not square images"},
		{Parts{}, x, Image{Height: 2, Width: 3, Channels: 3}, "are not 6×3 images"},
		{Parts{Basis: BasisConcept}, signed, image, "sample 3: column 2: value -3 is negative, and the penalty smooth needs non-negative values"},
		{Parts{Basis: BasisConcept, Kernel: Kernel{Function: KernelRBF}}, x, image, "the penalty smooth needs basis vectors in feature space, and a kernel has none"},
	} {
		c.p.Image, c.p.Penalties = c.image, []Penalty{Smooth{}}
		if _, err := c.p.Fit(context.Background(), c.x, Known{}, Options{Rank: 2}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
	if _, err := (Parts{Image: image, Penalties: []Penalty{Smooth{-2}}}).Fit(context.Background(), x, Known{}, Options{Rank: 2}); err == nil {
		t.Error("a negative weight is accepted")
	}
}

// TestEnumerations checks that a value without a name is an error, and not the default.
func TestEnumerations(t *testing.T) {
	x := mat.NewDense(3, 2, []float64{1, 2, 3, 4, 5, 6})
	known := Known{Labels: []int{0, 1, -1}}
	for want, m := range map[string]Method{
		"unknown cost(99)":     Parts{Cost: 99},
		"unknown basis(-1)":    Parts{Basis: -1},
		"unknown tie(7)":       Parts{Tie: 7},
		"unknown weighting(2)": Parts{Weighting: 2},
		"unknown kernel(4)":    CF{Kernel{Function: 4}},
		"unknown edges(3)":     GNMF{Neighbourhood: Neighbourhood{Edges: 3}},
		"unknown rule(2)":      CFOGL{Rule: 2},
		"unknown rule(-1)":     SSNMF{Rule: -1},
		`unknown init "other"`: NMF{},
	} {
		opt := Options{Rank: 1}
		if m == (NMF{}) {
			opt.Init = "other"
		}
		if _, err := m.Fit(context.Background(), x, known, opt); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%T gives %v, want %q", m, err, want)
		}
	}
	if _, err := (&Additive{Cost: 99, Basis: mat.NewDense(2, 1, []float64{1, 1})}).Transform(context.Background(), x); err == nil {
		t.Error("a model of no cost transforms")
	}
}

// TestPenaltySettings sets several penalties, their settings and settings of the parts.
func TestPenaltySettings(t *testing.T) {
	parts, _ := Lookup("parts")
	m, err := parts.New(map[string]any{"penalty": "graph+l1+smooth", "lambda": 3, "neighbours": 2, "l1-weight": 0, "smooth-weight": 0.5, "must": 2, "cost": "kl"})
	if err != nil {
		t.Fatal(err)
	}
	got := m.(Parts)
	if want := (Penalties{Graph{Lambda: 3, Neighbourhood: Neighbourhood{Neighbours: 2}}, L1{WeightNone}, Smooth{0.5}}); got.Penalties.String() != "graph+l1+smooth" ||
		got.Penalties[0] != want[0] || got.Penalties[1] != want[1] || got.Penalties[2] != want[2] || got.Cost != CostKL {
		t.Errorf("got %+v, want the penalties %+v", got, want)
	}
	for want, params := range map[string]map[string]any{
		`parts: penalty: unknown penalty "grap"; did you mean graph?`:  {"penalty": "grap"},
		`parts: penalty: none cannot be combined with other penalties`: {"penalty": "graph+none"},
		`parts: lamda: unknown key "lamda"; did you mean lambda?`:      {"lamda": 3},
		`parts: l1-weight: expected a number from 0 to 1e+100, got -1`: {"l1-weight": -1},
		`parts: must: expected a number from 0 to 1e+100, got "x"`:     {"must": "x", "penalty": "graph"},
	} {
		if _, err := parts.New(params); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v gives %v, want %s", params, err, want)
		}
	}
	for name, want := range map[string]Needs{
		"graph+label-edges": {Labels: true, TiesLabels: true}, "links": {Labels: true, Links: true}, "smooth": {Images: true}, "l1": {},
	} {
		penalty, edges := strings.CutSuffix(name, "+label-edges")
		m, err := parts.New(map[string]any{"penalty": penalty, "label-edges": edges})
		if err != nil {
			t.Fatal(err)
		}
		if got := NeedsOf(m); got.Labels != want.Labels || got.TiesLabels != want.TiesLabels || got.Links != want.Links || got.Images != want.Images {
			t.Errorf("%s needs %+v, want %+v", name, got, want)
		}
	}
}

// TestSimplexFarAway checks that adding a number to all values has no effect, even if the number is large compared
// with the simplex.
func TestSimplexFarAway(t *testing.T) {
	for _, far := range []float64{1e20, -1e20, 1e100, -1e300} {
		y := []float64{far, far, far + math.Abs(far), far - math.Abs(far)/2}
		x := make([]float64, len(y))
		projectSimplex(x, y)
		if x[0] != 0 || x[1] != 0 || x[2] != 1 || x[3] != 0 {
			t.Errorf("%v: got %v", y, x)
		}
		projectSimplex(x, []float64{far, far, far, 2 * -math.Abs(far)})
		for i, want := range []float64{1. / 3, 1. / 3, 1. / 3, 0} {
			if math.Abs(x[i]-want) > 1e-15 {
				t.Errorf("three of %v: got %v", far, x)
			}
		}
	}
}

// TestSimplex checks that the nearest point of the simplex is max(0, y − τ) for one number τ.
func TestSimplex(t *testing.T) {
	for seed := range uint64(200) {
		src := rand.New(rand.NewPCG(seed, 29))
		y := make([]float64, 1+src.IntN(20))
		scale := math.Pow(10, 6*src.Float64()-3)
		for i := range y {
			y[i] = scale * math.Round(10*src.NormFloat64()) / 10 // equal ones too
		}
		x := make([]float64, len(y))
		projectSimplex(x, y)
		var sum float64
		shift := math.NaN()
		for i := range x {
			if sum += x[i]; x[i] > 0 {
				shift = y[i] - x[i]
			}
		}
		if math.Abs(sum-1) > 1e-12*max(1, scale) {
			t.Fatalf("seed %d: sums to %v", seed, sum)
		}
		for i := range x {
			if x[i] < 0 || x[i] > 0 && math.Abs(y[i]-x[i]-shift) > 1e-12*max(1, scale) || x[i] == 0 && y[i] > shift+1e-12*max(1, scale) {
				t.Fatalf("seed %d: %v of %v is not the nearest", seed, x, y)
			}
		}
	}
}

// TestNeighbours checks that the neighbours have the least distances, also with copies and ties of integers, and that
// the bytes are equal on any number of cores.
func TestNeighbours(t *testing.T) {
	const n, m, p = 3*view.GramRows + 7, 12, 5
	random := rng.New(1, "neighbours")
	for name, value := range map[string]func(i, f int) float64{
		"random":   func(int, int) float64 { return random.Float64() },
		"integers": func(int, int) float64 { return float64(random.IntN(4)) },
		"copies":   func(i, f int) float64 { return float64((i%30+1)*(f*f+3)%101 + 1) },
	} {
		x := mat.NewDense(n, m, nil)
		x.Apply(func(i, f int, _ float64) float64 { return value(i, f) }, x)
		var first [][]topk.Scored
		var firstMean float64
		for _, cores := range []int{1, 3} {
			restore := parallel.SetCores(cores)
			got, mean := nearestSamples(t.Context(), view.Dense{X: x}, p, false)
			restore()
			if cores == 1 {
				first, firstMean = got, mean
			} else if !reflect.DeepEqual(got, first) || mean != firstMean {
				t.Errorf("%s: %d cores find others than one", name, cores)
			}
		}
		var mean float64
		for i := range n {
			var all []topk.Scored
			for j := range n {
				if j == i {
					continue
				}
				var d float64
				for f := range m {
					d += (x.At(i, f) - x.At(j, f)) * (x.At(i, f) - x.At(j, f))
				}
				all = append(all, topk.Scored{Row: j, Score: d})
				mean += math.Sqrt(d) / n / n
			}
			slices.SortFunc(all, topk.Scored.Compare)
			for q, got := range first[i] {
				if want := all[q]; math.Abs(got.Score-want.Score) > 1e-12*mat.Dot(x.RowView(i), x.RowView(i)) || name != "random" && got.Row != want.Row {
					t.Fatalf("%s: neighbour %d of sample %d is %v, want %v", name, q, i, got, want)
				}
			}
		}
		if math.Abs(firstMean-mean) > 1e-9*mean {
			t.Errorf("%s: the mean distance is %v, want %v", name, firstMean, mean)
		}
	}
}

func TestNearest(t *testing.T) {
	x := mat.NewDense(5, 1, []float64{1, 2, 4, 4, 11})
	rows, distances, err := Nearest(t.Context(), x, 2)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]int{{1, 2}, {0, 2}, {3, 1}, {2, 1}, {2, 3}} {
		if !slices.Equal(rows[i], want) {
			t.Errorf("row %d: nearest %v, want %v", i, rows[i], want)
		}
	}
	if !slices.Equal(distances[4], []float64{7, 7}) || !slices.Equal(distances[2], []float64{0, 2}) {
		t.Errorf("distances %v", distances)
	}
	if rows, _, err := Nearest(t.Context(), mat.NewDense(1, 1, []float64{2}), 3); err != nil || len(rows[0]) > 0 {
		t.Errorf("of one row: %v, %v", rows, err)
	}
	if _, _, err := Nearest(t.Context(), x, 0); err == nil {
		t.Error("no neighbours: no error")
	}
}
