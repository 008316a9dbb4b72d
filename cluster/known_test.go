package cluster

import (
	"errors"
	"reflect"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/rng"
)

// pairsOf returns what is known with the links that the labels stand for in their place.
func pairsOf(known Known) Known {
	pairs := Known{MustLink: known.MustLink, CannotLink: known.CannotLink}
	for i, c := range known.Labels {
		for j := range i {
			switch other := known.Labels[j]; {
			case c < 0 || other < 0:
			case c == other:
				pairs.MustLink = append(pairs.MustLink, [2]int{j, i})
			default:
				pairs.CannotLink = append(pairs.CannotLink, [2]int{j, i})
			}
		}
	}
	return pairs
}

// TestLabelsAreTheirPairs: labels give the same bits as a link of each two labelled
// samples.
func TestLabelsAreTheirPairs(t *testing.T) {
	for seed := range uint64(120) {
		random := rng.New(seed, "known")
		k := 2 + random.IntN(4)
		x, truth := blobs(40, 3, k, 1, seed)
		known := Known{Labels: someLabels(truth, 1+random.IntN(8), seed)}
		if seed%3 == 0 {
			known.MustLink, known.CannotLink = randomLinks(truth, 12, seed)
		}
		for _, a := range Algorithms() {
			if !a.TakesLinks || a.Name == "constrained-kmeans" || a.Name == "guided-kmeans" { // which start at labels
				continue
			}
			want, wantErr := registered(t, a, map[string]any{"restarts": 3}).Cluster(t.Context(), x, k, pairsOf(known), seed)
			got, err := registered(t, a, map[string]any{"restarts": 3}).Cluster(t.Context(), x, k, known, seed)
			if (err == nil) != (wantErr == nil) || errors.Is(err, ErrDeadEnd) != errors.Is(wantErr, ErrDeadEnd) {
				t.Fatalf("seed %d, %s: labels give the error %v, their pairs %v", seed, a.Name, err, wantErr)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("seed %d, %s: labels give %v, their pairs %v", seed, a.Name, got, want)
			}
		}
	}
}

// TestManyLabels: labels of all of a large set take no room for their pairs, of which
// there are 5·10⁹.
func TestManyLabels(t *testing.T) {
	const n = 100_000
	x, labels := mat.NewDense(n, 1, nil), make([]int, n)
	for i := range n {
		labels[i] = i % 10
		x.Set(i, 0, float64(i%7))
	}
	got, err := COPKMeans{KMeans{K: 10, Restarts: 1, MaxIterations: 1}}.Fit(t.Context(), x, Known{Labels: labels})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range got.Labels {
		if c != got.Labels[i%10] {
			t.Fatalf("sample %d of label %d is in cluster %d, and sample %d in %d", i, i%10, c, i%10, got.Labels[i%10])
		}
	}
}

// TestOutOfRange: an enumeration out of range is an error.
func TestOutOfRange(t *testing.T) {
	x := mat.NewDense(2, 1, []float64{1, 2})
	for _, k := range []KMeans{{K: 1, Distance: -1}, {K: 1, Distance: 2}, {K: 1, Init: -1}, {K: 1, Init: 2}} {
		if _, err := k.Fit(t.Context(), x); err == nil {
			t.Errorf("distance %d and start %d are no error", int(k.Distance), int(k.Init))
		}
	}
	if _, err := Nearest(t.Context(), 2, x, x, 1); err == nil {
		t.Error("distance 2 is no error")
	}
}
