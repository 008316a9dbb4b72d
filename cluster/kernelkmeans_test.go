package cluster

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/rng"
)

// gram returns xxᵀ.
func gram(x *mat.Dense) *mat.SymDense {
	var k mat.SymDense
	k.SymOuterK(1, x)
	return &k
}

// TestKernelKMeansLinear checks that with the kernel xxᵀ kernel k-means is
// k-means, from the clusters of the first iteration on.
func TestKernelKMeansLinear(t *testing.T) {
	for seed := range uint64(20) {
		x, _ := blobs(80, 3, 5, 0.5, seed)
		k := KMeans{K: 5, Start: []int{0, 1, 2, 3, 4}, MaxIterations: 1}
		first, err := k.Fit(context.Background(), x)
		if err != nil {
			t.Fatal(err)
		}
		k.MaxIterations = 0
		want, err := k.Fit(context.Background(), x)
		if err != nil {
			t.Fatal(err)
		}
		got, err := KernelKMeans{K: 5, Start: first.Labels}.Fit(context.Background(), gram(x))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Labels, want.Labels) || !near(got.Objective, want.Objective, 1e-10) {
			t.Errorf("seed %d: objective %v in clusters %v, k-means %v in %v", seed, got.Objective, got.Labels, want.Objective, want.Labels)
		}
	}
}

func TestKernelKMeansNeverRises(t *testing.T) {
	x, _ := blobs(150, 4, 6, 1, 1)
	kernel := gram(x)
	for seed := range uint64(5) {
		last := math.Inf(1)
		for iterations := 1; ; iterations++ {
			got, err := KernelKMeans{K: 6, Restarts: 1, MaxIterations: iterations, Seed: seed}.Fit(context.Background(), kernel)
			if err != nil {
				t.Fatal(err)
			}
			if got.Objective > last+1e-9 {
				t.Fatalf("the objective rose from %v to %v in iteration %d", last, got.Objective, iterations)
			}
			last = got.Objective
			if got.Iterations < iterations {
				break
			}
		}
	}
}

func TestKernelKMeansPermuted(t *testing.T) {
	x, _ := blobs(60, 3, 4, 0.5, 1)
	start := make([]int, 60)
	for i := range start {
		start[i] = i % 4
	}
	want, err := KernelKMeans{K: 4, Start: start}.Fit(context.Background(), gram(x))
	if err != nil {
		t.Fatal(err)
	}
	to := rng.New(1, "permuted").Perm(60)
	moved, movedStart := mat.NewDense(60, 3, nil), make([]int, 60)
	for i, p := range to {
		moved.SetRow(p, x.RawRowView(i))
		movedStart[p] = start[i]
	}
	got, err := KernelKMeans{K: 4, Start: movedStart}.Fit(context.Background(), gram(moved))
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range to {
		if got.Labels[p] != want.Labels[i] {
			t.Fatalf("sample %d is in cluster %d, as row %d in %d", i, want.Labels[i], p, got.Labels[p])
		}
	}
}

// TestKernelKMeansHard checks kernels that are of no use or not even positive
// semi-definite: the answer must still be whole.
func TestKernelKMeansHard(t *testing.T) {
	random := rng.New(1, "hard")
	for n := 1; n <= 7; n++ {
		for k := 1; k <= n; k++ {
			indefinite := mat.NewSymDense(n, nil)
			for i := range n {
				for j := i; j < n; j++ {
					indefinite.SetSym(i, j, random.NormFloat64())
				}
			}
			for _, kernel := range []mat.Matrix{mat.NewSymDense(n, nil), indefinite, mat.DenseCopyOf(indefinite)} {
				got, err := KernelKMeans{K: k, Restarts: 4}.Fit(context.Background(), kernel)
				if err != nil {
					t.Fatal(err)
				}
				checkWhole(t, got, n, k)
			}
		}
	}
	got, err := KernelKMeans{K: 3, Start: []int{0, 0, 0, 0}}.Fit(context.Background(), gram(mat.NewDense(4, 1, []float64{1, 2, 6, 9})))
	if err != nil {
		t.Fatal(err)
	}
	checkWhole(t, got, 4, 3)
}

// TestKernelKMeansTies has a kernel in which everything is equally far.
func TestKernelKMeansTies(t *testing.T) {
	got, err := KernelKMeans{K: 2, Start: []int{1, 1, 0, 1}}.Fit(context.Background(), mat.NewSymDense(4, nil))
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{1, 0, 0, 0}; !slices.Equal(got.Labels, want) {
		t.Errorf("labels %v, want %v", got.Labels, want)
	}
}

func TestKernelKMeansErrors(t *testing.T) {
	kernel := gram(mat.NewDense(3, 1, []float64{1, 2, 3}))
	for _, test := range []struct {
		k      KernelKMeans
		kernel mat.Matrix
		want   string
	}{
		{KernelKMeans{K: 0}, kernel, "0 clusters of 3"},
		{KernelKMeans{K: 4}, kernel, "4 clusters of 3"},
		{KernelKMeans{K: 2, Start: []int{0}}, kernel, "1 clusters to start 3 samples"},
		{KernelKMeans{K: 2, Start: []int{0, 1, 2}}, kernel, "sample 3 starts in cluster 2 of 2"},
		{KernelKMeans{K: 2}, mat.NewDense(2, 3, nil), "2×3"},
		{KernelKMeans{K: 1}, &mat.Dense{}, "0×0"},
		{KernelKMeans{K: 1}, mat.NewDense(2, 2, []float64{1, 0, 0.5, 1}), "not symmetric: row 2, column 1 holds 0.5"},
		{KernelKMeans{K: 1}, mat.NewDense(2, 2, []float64{1, 0, math.NaN(), 1}), "not symmetric: row 2, column 1 holds NaN"},
		{KernelKMeans{K: 1}, mat.NewSymDense(2, []float64{1, math.NaN(), 0, 1}), "row 1, column 2 holds the value NaN"},
		{KernelKMeans{K: 1}, mat.NewSymDense(2, []float64{math.MaxFloat64, 0, 0, 1}), "row 1, column 1 holds the value 1.79"},
	} {
		_, err := test.k.Fit(context.Background(), test.kernel)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: error %v, want one with %q", test.k, err, test.want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	k := KernelKMeans{K: 2, OnIteration: func(int, int, int) { cancel() }}
	if _, err := k.Fit(ctx, kernel); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
}
