package factor

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/descent"
)

// TestMinimiseRows: swept until nothing moves, the columns fulfil the conditions of
// their minima, whatever the shape, with variables that matter nothing and copies of
// others.
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

// kkt is how far the factors are from fulfilling the conditions of a minimum over factors
// ≥ 0, as a share of the data: the sums of the products of entries and gradients, and of
// gradients below 0 and the factor's mean.
func kkt(f *Factorisation) (residual float64) {
	for i, theta := range f.Factors() {
		b := f.Block(i)
		gradient := algebra.Like(theta)
		if b.Quadratic != nil {
			algebra.Gemm(gradient, quadratic(b), algebra.NoTrans, theta, algebra.NoTrans)
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
				residual += math.Abs(g)*theta.At(r, j) + max(-g, 0)*mean
			}
		}
	}
	return residual
}

// TestFastStationary: fast comes as near to the conditions of a minimum in 300 iterations
// as multiplicative steps do in 3000, or to 2e-5 of the data, and mostly below what they
// reach in ten times as many.
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

// TestFastPenalties: with penalties and with basis vectors of unit norm 50 iterations end
// no higher than 1000 multiplicative ones do, in most problems.
func TestFastPenalties(t *testing.T) {
	for name, parts := range map[string]Parts{
		"unit": {UnitNorm: true}, "l2-snmf": L2SNMF{}.AsParts(), "l1": {UnitNorm: true, Penalties: Penalties{L1{}}},
		"graph": {UnitNorm: true, Tie: TieLabels, Penalties: Penalties{Graph{Lambda: 1}}},
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

// TestFastRefuses: what fast does not serve has its name in an error, before anything is
// computed.
func TestFastRefuses(t *testing.T) {
	for want, p := range map[string]Parts{
		"rank-one basis":               {Basis: BasisRankOne},
		"graph only with unit-norm":    GNMF{}.AsParts(),
		"penalty graph with a concept": LCCF{}.AsParts(),
		"penalty learned-graph":        {UnitNorm: true, Penalties: Penalties{LearnedGraph{}}},
		"penalty smooth, which is on":  {Penalties: Penalties{L1{}, Smooth{}}},
		"smooth, which is on the":      {Cost: CostKL, Penalties: Penalties{L1{}, Smooth{}}},
	} {
		if err := (Fast{}).Serves(p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
