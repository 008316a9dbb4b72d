package cluster

import (
	"context"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/rng"
)

// plainObjective is the least objective of the labels: with the means of the clusters, or the
// directions of the sums of their unit samples.
func plainObjective(d Distance, x *mat.Dense, labels []int, k int) (objective float64) {
	_, m := x.Dims()
	centres, counts := mat.NewDense(k, m, nil), make([]float64, k)
	for i, j := range labels {
		length := 1.0
		if d == DistanceCosine {
			length = max(mat.Norm(x.RowView(i), 2), math.SmallestNonzeroFloat64)
		}
		counts[j]++
		for f, v := range x.RawRowView(i) {
			centres.Set(j, f, centres.At(j, f)+v/length)
		}
	}
	for i, j := range labels {
		centre := make([]float64, m)
		for f := range centre {
			centre[f] = centres.At(j, f) / counts[j]
		}
		objective += plainCost(d, x.RawRowView(i), centre)
	}
	return objective
}

// TestRefine: no sample of the answer would lower the objective anywhere else, by more than
// rounding, and the objective is no more than without, from the same start. Some are less.
func TestRefine(t *testing.T) {
	random := rng.New(1, "refine")
	less := 0
	for trial := range 60 {
		n, m := 2+random.IntN(30), 1+random.IntN(6)
		k := 1 + random.IntN(min(n, 6))
		d := bothDistances[trial%2]
		x, _ := blobs(n, m, k, 0.6, uint64(trial))
		if trial%5 == 0 {
			x = grid(random, n, m)
		}
		s := KMeans{K: k, Distance: d, Start: random.Perm(n)[:k]}
		plain, err := s.Fit(context.Background(), x)
		if err != nil {
			t.Fatal(err)
		}
		s.Refine = true
		got, err := s.Fit(context.Background(), x)
		if err != nil {
			t.Fatal(err)
		}
		checkWhole(t, got, n, k)
		if got.Objective > plain.Objective*(1+1e-12) {
			t.Errorf("trial %d, %v: objective %v, and %v without", trial, d, got.Objective, plain.Objective)
		}
		if got.Objective < plain.Objective*(1-1e-9) {
			less++
		}
		counts := make([]int, k)
		for _, j := range got.Labels {
			counts[j]++
		}
		least := plainObjective(d, x, got.Labels, k)
		if !near(got.Objective, least, 1e-10) {
			t.Errorf("trial %d, %v: objective %v, that of the labels is %v", trial, d, got.Objective, least)
		}
		for i, from := range got.Labels {
			// A row of zeros costs the same everywhere.
			if counts[from] == 1 || d == DistanceCosine && mat.Norm(x.RowView(i), 2) == 0 {
				continue
			}
			for to := range k {
				got.Labels[i] = to
				if other := plainObjective(d, x, got.Labels, k); other < least*(1-1e-8)-1e-12 {
					t.Errorf("trial %d, %v, %d×%d: sample %d in cluster %d in place of %d lowers %v to %v", trial, d, n, m, i, to, from, least, other)
				}
			}
			got.Labels[i] = from
		}
	}
	if less < 10 {
		t.Errorf("%d of 60 answers are better than without", less)
	}
}

// TestRefineLeavesLloyd: of 0, 4 and 7 from the centres 4 and 7, 4 is nearer to the mean of 0
// and 4 than to 7, but with 7 it costs 4.5 in place of 8.
func TestRefineLeavesLloyd(t *testing.T) {
	x := mat.NewDense(3, 1, []float64{0, 4, 7})
	for refine, want := range map[bool][]int{false: {0, 0, 1}, true: {0, 1, 1}} {
		got, err := KMeans{K: 2, Start: []int{1, 2}, Refine: refine}.Fit(context.Background(), x)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got.Labels); diff != "" {
			t.Errorf("labels, refine %v (-want +got):\n%s", refine, diff)
		}
	}
}

// TestRefineKeepsLabels: labelled samples stay in their clusters.
func TestRefineKeepsLabels(t *testing.T) {
	x, truth := blobs(120, 3, 4, 0.8, 3)
	labels := someLabels(truth, 3, 1)
	got, err := ConstrainedKMeans{KMeans{K: 4, Refine: true}}.Fit(context.Background(), x, labels)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range labels {
		if c >= 0 && got.Labels[i] != c {
			t.Errorf("sample %d of label %d is in cluster %d", i, c, got.Labels[i])
		}
	}
}
