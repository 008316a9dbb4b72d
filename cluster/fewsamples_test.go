package cluster

import (
	"context"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/rng"
)

// TestFewSamples: runs by inner products come to the bytes of those by the samples' values, and most
// of them are certain where samples are not in a grid.
func TestFewSamples(t *testing.T) {
	random := rng.New(1, "few samples")
	certain, runs := 0, 0
	for trial := range 200 {
		n := 1 + random.IntN(60)
		m := n + random.IntN(40)
		k := 1 + random.IntN(min(n, 8))
		x, _ := blobs(n, m, 1+trial%5, 1, uint64(trial))
		switch trial % 4 {
		case 1:
			x = grid(random, n, m)
		case 2:
			x.Apply(func(_, _ int, v float64) float64 { return math.Abs(v) * math.Pow(10, float64(trial%7*20-60)) }, x)
		case 3:
			x.SetRow(random.IntN(n), make([]float64, m))
		}
		for _, d := range bothDistances {
			settings := KMeans{K: k, Distance: d, Init: Init(trial / 4 % 2), MaxIterations: trial % 3 * 5, Seed: uint64(trial), Restarts: 1 + n}
			got, err := settings.Fit(context.Background(), x)
			if err != nil {
				t.Fatal(err)
			}
			l, err := settings.lloyd(x, Known{})
			if err != nil {
				t.Fatal(err)
			}
			if !l.worthProducts() {
				t.Fatalf("trial %d, %d×%d: not by inner products", trial, n, m)
			}
			want, err := best(settings.restarts(), settings.restarts(), func(start int) (*Result, error) { return l.run(context.Background(), start) })
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Labels, want.Labels) || got.Objective != want.Objective || got.Iterations != want.Iterations || !mat.Equal(got.Centres, want.Centres) {
				t.Fatalf("trial %d, %d×%d, k = %d, %v: objective %v after %d iterations, want %v after %d", trial, n, m, k, d, got.Objective, got.Iterations, want.Objective, want.Iterations)
			}
			if trial%4 == 0 && settings.MaxIterations == 0 && n > 4*k {
				f := l.fewSamples().another()
				for start := range settings.restarts() {
					rows, err := f.startRows(context.Background(), start)
					if err != nil {
						t.Fatal(err)
					}
					if _, sure := f.iterate(rows); sure {
						certain++
					}
					runs++
				}
			}
		}
	}
	t.Logf("%d of %d runs are certain", certain, runs)
	if 10*certain < 6*runs {
		t.Errorf("%d of %d runs are certain", certain, runs)
	}
}
