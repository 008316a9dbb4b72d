package cluster

import (
	"context"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/rng"
)

// TestBounds: bounds change no answer, whatever the data.
func TestBounds(t *testing.T) {
	random := rng.New(1, "bounds")
	for trial := range 100 {
		n, m, k := 20+random.IntN(400), 1+random.IntN(12), 2+random.IntN(9)
		x, name := grid(random, n, m), "grid"
		switch trial % 4 {
		case 1:
			x, _ = blobs(n, m, k, 0.3, uint64(trial))
			name = "blobs"
		case 2:
			x, _ = blobs(n, m, k, 1, uint64(trial))
			x.Apply(func(_, _ int, v float64) float64 { return 1e3 + v }, x)
			name = "far from zero"
		case 3:
			x, _ = blobs(n, m, 3, 1, uint64(trial))
			x.Apply(func(_, _ int, v float64) float64 { return v * math.Pow(10, float64(trial%7*40-120)) }, x)
			name = "of any scale"
		}
		for _, d := range bothDistances {
			for _, x := range []mat.Matrix{x, toSparse(x)} {
				var got [2]*Result
				for at := range got {
					l, err := KMeans{K: k, Distance: d, Init: Init(trial % 2), Refine: trial/4%2 == 1, Seed: uint64(trial)}.lloyd(x, Known{})
					if err != nil {
						t.Fatal(err)
					}
					if at == 1 {
						l.bounds = nil
					}
					if got[at], err = l.run(context.Background(), 0); err != nil {
						t.Fatal(err)
					}
				}
				a, b := got[0], got[1]
				if !slices.Equal(a.Labels, b.Labels) || !near(a.Objective, b.Objective, 1e-12*b.Objective) || a.Iterations != b.Iterations || !mat.EqualApprox(a.Centres, b.Centres, 1e-12) {
					t.Fatalf("trial %d, %s, %d×%d, k = %d, %v: objective %v after %d iterations, without bounds %v after %d", trial, name, n, m, k, d, a.Objective, a.Iterations, b.Objective, b.Iterations)
				}
			}
		}
	}
}
