package factor

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/descent"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/parallel"
)

// countsOf are counts of a factorisation of rank k, n×m, of which about a share is not 0.
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

// TestFastKLIterations: 25 iterations come to no more than 200 of the multiplicative
// rule from the same factors, on average, of dense data and of sparse.
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
			t.Errorf("%v of the values: on average the objective is %v of that of the multiplicative rule", share, mean)
		}
	}
}

// residual is how far the factors are from fulfilling the conditions of a minimum, ∂/∂θ ≥ 0
// and θ·∂/∂θ = 0: of columns and basis vectors that are scaled to sums of 1.
func residual(t *testing.T, x mat.Matrix, res *Result) (most float64) {
	t.Helper()
	d, err := view.New(x)
	if err != nil {
		t.Fatal(err)
	}
	features, samples := descent.KLData(d)
	u, v := algebra.Transpose(res.Basis), algebra.Transpose(res.Coefficients)
	c := newKLCost(d, u, v)
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

// TestFastKLStationary: fast ends where the conditions of a minimum are fulfilled, no less
// than where the multiplicative rule ends that runs long; neither moves from where the other
// ended.
func TestFastKLStationary(t *testing.T) {
	for seed := range uint64(3) {
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

// TestFastKLCores: the same bytes on any number of cores, and no coefficient is 0.
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

// TestFastKLServes: what it does not serve it names.
func TestFastKLServes(t *testing.T) {
	for want, m := range map[string]Method{
		"fast does not serve a basis of unit norm under the kl cost": DSNMF{},
		"fast does not serve a concept basis under the kl cost":      Parts{Cost: CostKL, Basis: BasisConcept},
		"fast does not serve the penalty graph under the kl cost":    Parts{Cost: CostKL, Penalties: Penalties{Graph{}}},
	} {
		_, err := m.Fit(context.Background(), countsOf(1, 9, 8, 2, 1), classes(9, 3, 9), Options{Rank: 2, Solver: Fast{}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", fmt.Sprintf("%T", m), err, want)
		}
	}
}
