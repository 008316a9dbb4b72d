// Package adding tests the extensions of package factor in docs/how-to/add-a-*.md, from outside the package.
package adding

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor"
)

// TestAddingPages checks that the code in docs/how-to/add-a-*.md compiles.
func TestAddingPages(t *testing.T) {
	for part, folder := range map[string]string{"method": ".", "penalty": ".", "solver": ".", "cost": "../.."} {
		code, err := os.ReadFile(filepath.Join(folder, "added_"+part+"_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "how-to", "add-a-"+part+".md"))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(page), string(code)) {
			t.Errorf("docs/how-to/add-a-%s.md shows another file than added_%s_test.go", part, part)
		}
	}
}

var imageSize = factor.Image{Height: 6, Width: 4}

// sampleImages are random images of 6×4 pixels, some of them labelled.
func sampleImages(seed uint64) (x *mat.Dense, known factor.Known) {
	src := rand.New(rand.NewPCG(seed, 1))
	const n = 25
	x = mat.NewDense(n, imageSize.Height*imageSize.Width, nil)
	x.Apply(func(int, int, float64) float64 { return src.Float64() }, x)
	known = factor.Known{Labels: make([]int, n)}
	for i := range n {
		known.Labels[i] = max(-1, i%7-4)
	}
	return x, known
}

// descends returns an error if the objective rises.
func descends(res *factor.Result) error {
	for i, now := range res.Objective[1:] {
		if before := res.Objective[i]; !(now <= before*(1+1e-12)) {
			return fmt.Errorf("the objective rises from %v to %v in iteration %d", before, now, i+1)
		}
	}
	return nil
}

// TestAddingAPenalty checks that with a penalty from outside the package, with every basis and cost, alone, beside
// other penalties and with ties, the objective never rises and basis vectors share fewer features.
func TestAddingAPenalty(t *testing.T) {
	x, known := sampleImages(1)
	for _, p := range []factor.Parts{
		{}, {Tie: factor.TieLabels}, {Basis: factor.BasisConcept}, {Basis: factor.BasisRankOne, Image: imageSize},
		{Weighting: factor.WeightingNormalisedCut, Tie: factor.TieLabels},
	} {
		for _, cost := range []factor.Cost{factor.CostFrobenius, factor.CostKL} {
			p.Cost = cost
			shared := map[float64]float64{}
			for _, weight := range []float64{1e-9, 100} {
				p.Penalties = []factor.Penalty{Apart{weight}, factor.L1{}}
				res, err := p.Fit(context.Background(), x, known, factor.Options{Rank: 3, Iterations: 60})
				if err != nil {
					t.Fatal(err)
				}
				if err := descends(res); err != nil {
					t.Errorf("%v, %v, λ %v: %v", p.Cost, p.Basis, weight, err)
				}
				shared[weight] = boundApart{1}.Value(mat.DenseCopyOf(res.Basis.T()))
			}
			if !(shared[100] < 0.7*shared[1e-9]) {
				t.Errorf("%v, %v: of basis vectors of unit length products sum to %v by λ", p.Cost, p.Basis, shared)
			}
		}
	}
	kernel := factor.Parts{Basis: factor.BasisConcept, Kernel: factor.Kernel{Function: factor.KernelRBF}, Penalties: []factor.Penalty{Apart{}}}
	if _, err := kernel.Fit(context.Background(), x, known, factor.Options{Rank: 3}); err == nil || !strings.Contains(err.Error(), "adding.Apart needs basis vectors") {
		t.Errorf("a kernel without features gives %v", err)
	}
	if _, err := (factor.Parts{Penalties: []factor.Penalty{Apart{math.NaN()}}}).Fit(context.Background(), x, known, factor.Options{Rank: 3}); err == nil {
		t.Error("NaN is accepted as a weight")
	}
}

// TestAddingASolver checks that a solver from outside the package never raises the objective
// with ties and weights, ends below the multiplicative rule, and names unsupported settings.
func TestAddingASolver(t *testing.T) {
	for seed := range uint64(10) {
		x, known := sampleImages(seed)
		for name, p := range map[string]factor.Parts{
			"free": {}, "ties": {Tie: factor.TieLabels}, "weights": {Weighting: factor.WeightingNormalisedCut},
		} {
			last := map[string]float64{}
			for by, solver := range map[string]factor.Solver{"mu": factor.Multiplicative{}, "hals": HALS{}} {
				res, err := p.Fit(context.Background(), x, known, factor.Options{Rank: 4, Seed: seed, Iterations: 40, Solver: solver})
				if err != nil {
					t.Fatal(err)
				}
				if err := descends(res); err != nil {
					t.Errorf("%s by %s: %v", name, by, err)
				}
				last[by] = res.Objective[40]
			}
			if !(last["hals"] < last["mu"]) {
				t.Errorf("%s: the objective ends at %v", name, last)
			}
		}
	}
	x, known := sampleImages(1)
	for want, m := range map[string]factor.Method{
		"hals does not support the kl cost":                         factor.CNMFKL{},
		"hals does not support a concept basis":                     factor.CF{},
		"hals does not support a rank-one basis":                    factor.NTF{},
		"hals does not support a basis of unit norm":                factor.L2SNMF{},
		"hals does not support penalties":                           factor.Parts{Penalties: []factor.Penalty{Apart{}}},
		"the method has its own update rule and supports no solver": factor.PCA{},
		"own update rule and supports no solver":                    factor.SSNMF{},
	} {
		if _, err := m.Fit(context.Background(), x, known, factor.Options{Rank: 3, Solver: HALS{}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%T gives %v, not %q", m, err, want)
		}
	}
}

// TestAddingAMethod checks that Lookup finds a registered method, and that its settings have an effect.
func TestAddingAMethod(t *testing.T) {
	factor.Register(factor.Info{Name: "my-nnsc", Title: "Non-negative sparse coding", Family: "NMF"}, NNSC{})
	info, _ := factor.Lookup("my-nnsc")
	x, known := sampleImages(3)
	sums := map[float64]float64{}
	for _, lambda := range []float64{0, 1, 10} {
		m, err := info.New(map[string]any{"lambda": lambda})
		if err != nil {
			t.Fatal(err)
		}
		res, err := m.Fit(context.Background(), x, known, factor.Options{Rank: 4, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		sums[lambda] = mat.Sum(res.Coefficients)
	}
	if !(sums[0] > sums[1] && sums[1] > sums[10]) {
		t.Errorf("coefficients sum to %v by λ; more λ should make them fewer", sums)
	}
	if _, err := (NNSC{Lambda: -2}).Fit(context.Background(), x, known, factor.Options{Rank: 4}); err == nil {
		t.Error("a negative weight is accepted")
	}
}
