package cluster

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/rng"
)

// someLabels returns the truth of every nth sample, and −1 for the others.
func someLabels(truth []int, one int, seed uint64) []int {
	random := rng.New(seed, "labels")
	labels := make([]int, len(truth))
	for i, c := range truth {
		labels[i] = -1
		if random.IntN(one) == 0 {
			labels[i] = c
		}
	}
	return labels
}

// plainSeeded is seeded k-means, and constrained where the labels are kept, as the
// paper writes it, for labels of all k clusters. It returns nil where a cluster
// loses all its samples, of which the paper says nothing.
func plainSeeded(d Distance, x *mat.Dense, k int, labels []int, keep bool) []int {
	n, m := x.Dims()
	means := func(of []int) [][]float64 {
		centres := make([][]float64, k)
		for j := range centres {
			centres[j] = make([]float64, m)
		}
		for i, j := range of {
			if j < 0 {
				continue
			}
			length := 1.0
			if d == DistanceCosine {
				length = mat.Norm(x.RowView(i), 2)
			}
			for f, v := range x.RawRowView(i) {
				centres[j][f] += v / length
			}
		}
		for j := range k {
			size := 0.0
			for _, c := range of {
				if c == j {
					size++
				}
			}
			for f := range centres[j] {
				centres[j][f] /= size
			}
		}
		return centres
	}
	centres := means(labels)
	var assigned []int
	for {
		before := assigned
		assigned = make([]int, n)
		for i := range n {
			if keep && labels[i] >= 0 {
				assigned[i] = labels[i]
				continue
			}
			for j := range k {
				if plainCost(d, x.RawRowView(i), centres[j]) < plainCost(d, x.RawRowView(i), centres[assigned[i]]) {
					assigned[i] = j
				}
			}
		}
		if slices.Equal(before, assigned) {
			return assigned
		}
		for j := range k {
			if !slices.Contains(assigned, j) {
				return nil
			}
		}
		centres = means(assigned)
	}
}

func TestSeededKMeansMatchesPlain(t *testing.T) {
	compared, moved := 0, false
	for seed := range uint64(20) {
		d := Distance(seed % 2)
		x, truth := blobs(150, 4, 5, 0.25, seed)
		labels := someLabels(truth, 4, seed)
		k := KMeans{K: 5, Distance: d, Seed: seed}
		for _, keep := range []bool{false, true} {
			want := plainSeeded(d, x, 5, labels, keep)
			if want == nil {
				continue
			}
			compared++
			for _, data := range []mat.Matrix{x, toSparse(x)} {
				fit := SeededKMeans{k}.Fit
				if keep {
					fit = ConstrainedKMeans{k}.Fit
				}
				got, err := fit(context.Background(), data, labels)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, got.Labels); diff != "" {
					t.Errorf("seed %d, %v, labels kept %v, %T: (-want +got)\n%s", seed, d, keep, data, diff)
				}
				checkWhole(t, got, 150, 5)
			}
			for i, c := range labels {
				if c >= 0 && want[i] != c {
					moved = true
				}
			}
		}
	}
	if compared < 30 || !moved {
		t.Errorf("%d of 40 answers compared, a labelled sample wants another cluster: %v", compared, moved)
	}
}

// TestConstrainedKMeansKeepsLabels: whatever the labels say, and also where there
// are more clusters than labels.
func TestConstrainedKMeansKeepsLabels(t *testing.T) {
	for seed := range uint64(60) {
		random := rng.New(seed, "constrained")
		x := grid(random, 25, 3)
		labels := make([]int, 25)
		for i := range labels {
			labels[i] = random.IntN(7) - 3
			labels[i] = max(labels[i], -1)
		}
		k := KMeans{K: 4 + random.IntN(4), Distance: Distance(seed % 2), Init: Init(seed / 2 % 2), Restarts: 3, Seed: seed}
		got, err := ConstrainedKMeans{k}.Fit(context.Background(), x, labels)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range labels {
			if c >= 0 && got.Labels[i] != c {
				t.Errorf("seed %d: sample %d of label %d is in cluster %d", seed, i, c, got.Labels[i])
			}
		}
		checkWhole(t, got, 25, k.K)
		again, err := ConstrainedKMeans{k}.Fit(context.Background(), x, labels)
		if err != nil || !slices.Equal(again.Labels, got.Labels) {
			t.Errorf("seed %d: done again, %v, %v", seed, again.Labels, err)
		}
	}
	// All samples labelled, and equal samples of two labels.
	x := mat.NewDense(4, 1, []float64{1, 1, 1, 1})
	got, err := ConstrainedKMeans{KMeans{K: 2}}.Fit(context.Background(), x, []int{0, 1, 1, 0})
	if err != nil || !slices.Equal(got.Labels, []int{0, 1, 1, 0}) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestConstrainedKMeansNeverRises(t *testing.T) {
	for seed := range uint64(6) {
		x, truth := blobs(300, 5, 6, 1, seed)
		labels := someLabels(truth, 10, seed)
		last := math.Inf(1)
		for iterations := 1; ; iterations++ {
			k := KMeans{K: 6, Distance: Distance(seed % 2), Restarts: 1, MaxIterations: iterations}
			got, err := ConstrainedKMeans{k}.Fit(context.Background(), x, labels)
			if err != nil {
				t.Fatal(err)
			}
			if got.Objective > last*(1+1e-12) {
				t.Fatalf("the objective rose from %v to %v in iteration %d", last, got.Objective, iterations)
			}
			last = got.Objective
			if got.Iterations < iterations {
				break
			}
		}
	}
}

// TestSeededKMeansRuns: there is one run where all centres start at labels, and
// without a label the answer is one of k-means.
func TestSeededKMeansRuns(t *testing.T) {
	x, truth := blobs(90, 3, 3, 0.1, 1)
	runs := map[int]bool{}
	k := KMeans{K: 3, Restarts: 4, OnIteration: func(restart, _, _ int) { runs[restart] = true }}
	if _, err := (SeededKMeans{k}).Fit(context.Background(), x, someLabels(truth, 2, 1)); err != nil || len(runs) != 1 {
		t.Errorf("%d runs, %v", len(runs), err)
	}
	clear(runs)
	none := slices.Repeat([]int{-1}, 90)
	for _, init := range []Init{InitSample, InitPlusPlus} {
		k.Init = init
		got, err := SeededKMeans{k}.Fit(context.Background(), x, none)
		if err != nil || len(runs) != 4 {
			t.Fatalf("%d runs, %v", len(runs), err)
		}
		want, err := k.Fit(context.Background(), x)
		if err != nil || !near(got.Objective, want.Objective, 1e-9) {
			t.Errorf("%v: objective %v without labels, that of k-means is %v, %v", init, got.Objective, want.Objective, err)
		}
	}
}

func TestSeededKMeansErrors(t *testing.T) {
	x := mat.NewDense(4, 1, []float64{1, 2, 3, 4})
	for _, test := range []struct {
		k      KMeans
		labels []int
		want   string
	}{
		{KMeans{K: 2}, []int{0, 1}, "2 labels of 4 samples"},
		{KMeans{K: 2}, []int{0, 1, 2, -1}, "sample 3 has label 2 of 2 clusters"},
		{KMeans{K: 2}, []int{0, -2, 1, -1}, "sample 2 has label -2"},
		{KMeans{K: 4}, []int{0, 0, 1, -1}, "2 clusters have no labelled sample, and 1 samples have no label"},
		{KMeans{K: 5}, []int{0, 0, 1, -1}, "5 clusters of 4 samples"},
		{KMeans{K: 2, Start: []int{0, 1}}, []int{0, 0, 1, -1}, "start rows and labels"},
	} {
		for name, fit := range map[string]func(context.Context, mat.Matrix, []int) (*Result, error){
			"seeded": SeededKMeans{test.k}.Fit, "constrained": ConstrainedKMeans{test.k}.Fit,
		} {
			_, err := fit(context.Background(), x, test.labels)
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), name+" k-means: ") {
				t.Errorf("error %v, want one of %s with %q", err, name, test.want)
			}
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, init := range []Init{InitSample, InitPlusPlus} {
		if _, err := (SeededKMeans{KMeans{K: 2, Init: init}}).Fit(ctx, x, []int{0, -1, -1, -1}); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want that of the context", err)
		}
	}
}

func ExampleConstrainedKMeans() {
	x := mat.NewDense(5, 1, []float64{0, 1, 2, 8, 9})
	// The third sample is known to go with the last one.
	result, err := ConstrainedKMeans{KMeans{K: 2}}.Fit(context.Background(), x, []int{0, -1, 1, -1, 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Labels)
	// Output:
	// [0 0 1 1 1]
}
