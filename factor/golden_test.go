package factor

import (
	"flag"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/testkit"
)

var update = flag.Bool("update", false, "write the digests of TestSameBytes")

// TestSameBytes: every processor finds the factors of every method that testdata/digests.json names, after a few
// iterations on a small problem.
func TestSameBytes(t *testing.T) {
	const n, height, width = 48, 6, 7
	methods := map[string]Method{
		"cf-rbf":  Parts{Basis: BasisConcept, Kernel: Kernel{Function: KernelRBF}},
		"ncw-kl":  Parts{Cost: CostKL, Weighting: WeightingNormalisedCut},
		"cf-plus": Parts{Basis: BasisConcept, Tie: TieLabels, Penalties: Penalties{Graph{Neighbourhood: Neighbourhood{Edges: EdgesHeat}}}},
	}
	for _, info := range Methods() {
		m, err := info.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		methods[info.Name] = m
	}
	src := rand.New(rand.NewPCG(1, 5))
	x := mat.NewDense(n, height*width, nil)
	x.Apply(func(i, j int, _ float64) float64 {
		if i%4 == j%4 {
			return 0.5 + src.Float64()
		}
		return 0.01 + float64(0.5*src.Float64()) // rounded before the sum by every compiler
	}, x)
	known := classes(n, 4, n/2)
	got := map[string]string{}
	for name, m := range methods {
		res, err := ForImages(m, Image{Height: height, Width: width}).Fit(t.Context(), x, known, Options{Rank: 4, Iterations: 5, Seed: 1})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got[name] = testkit.Digest(res.Basis, res.Coefficients, res.Weights, res.Association, res.Objective, res.Penalty)
	}
	testkit.SameDigests(t, "testdata/digests.json", got, *update)
}
