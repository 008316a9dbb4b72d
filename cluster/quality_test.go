package cluster

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestSilhouette compares with silhouette_score of scikit-learn 1.9.
func TestSilhouette(t *testing.T) {
	x := mat.NewDense(6, 2, []float64{1, 0, 2, 1, 1, 1, 5, 4, 6, 6, 0, 7})
	labels := []int{0, 0, 0, 2, 2, 3}
	for d, want := range map[Distance]float64{DistanceEuclidean: 0.6017387684180548, DistanceCosine: 0.09677762683507489} {
		got, err := Silhouette(t.Context(), x, labels, d)
		if err != nil || math.Abs(got-want) > 1e-12 {
			t.Errorf("%v: %v, %v, want %v", d, got, err, want)
		}
		scaled := mat.DenseCopyOf(x)
		scaled.Scale(1e20, x)
		if again, err := Silhouette(t.Context(), scaled, labels, d); err != nil || math.Abs(again-got) > 1e-12 {
			t.Errorf("%v: %v of values of another scale, %v before: %v", d, again, got, err)
		}
	}
	// A row of zeros is at distance 1 from everything.
	const zeros = 0.18370447824589964
	x.SetRow(2, []float64{0, 0})
	if got, err := Silhouette(t.Context(), x, []int{0, 0, 0, 1, 1, 1}, DistanceCosine); err != nil || math.Abs(got-zeros) > 1e-12 {
		t.Errorf("with a row of zeros: %v, %v, want %v", got, err, zeros)
	}
	for want, labels := range map[string][]int{"one cluster": {1, 1, 1, 1, 1, 1}, "6 rows, but 2 labels": {0, 1}, "has the negative label -1": {0, 1, 0, 0, -1, 0}} {
		if _, err := Silhouette(t.Context(), x, labels, DistanceEuclidean); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want %q", labels, err, want)
		}
	}
}

// TestEigenGaps checks that k separate clouds have the largest gap at k, for any scale and order of the samples,
// sparse or dense.
func TestEigenGaps(t *testing.T) {
	for _, k := range []int{2, 3, 5, 8} {
		x, _ := clouds(20*k, k+3, k-1)
		gaps, err := EigenGaps(t.Context(), x, 15)
		if err != nil {
			t.Fatal(err)
		}
		best := slices.Index(gaps, slices.Max(gaps)) + 1
		// The last two clouds are near each other, and may count as one.
		if best != k && best != k-1 || len(gaps) != 15 {
			t.Errorf("%d clouds: %d, of %.3f", k, best, gaps)
		}
		var scaled mat.Dense
		scaled.Scale(1e90, x)
		order := rand.New(rand.NewPCG(1, uint64(k))).Perm(20 * k)
		moved := mat.NewDense(20*k, k+3, nil)
		for to, from := range order {
			moved.SetRow(to, x.RawRowView(from))
		}
		for name, other := range map[string]mat.Matrix{"scaled": &scaled, "moved": moved, "sparse": sparsed(x)} {
			got, err := EigenGaps(t.Context(), other, 15)
			if err != nil {
				t.Fatal(err)
			}
			for i := range got {
				if math.Abs(got[i]-gaps[i]) > 1e-9 {
					t.Errorf("%d clouds, %s: got %v, want %v", k, name, got, gaps)
					break
				}
			}
		}
	}
	// Few, equal or zero samples.
	for name, x := range map[string]*mat.Dense{"two": mat.NewDense(2, 2, []float64{1, 0, 0, 1}), "alike": mat.NewDense(30, 2, slices.Repeat([]float64{1}, 60)), "zeros": mat.NewDense(12, 3, nil)} {
		gaps, err := EigenGaps(t.Context(), x, 5)
		n, _ := x.Dims()
		if err != nil || len(gaps) != min(5, n-1) || slices.ContainsFunc(gaps, func(v float64) bool { return math.IsNaN(v) || v < 0 }) {
			t.Errorf("%s: %v, %v", name, gaps, err)
		}
	}
	if _, err := EigenGaps(t.Context(), mat.NewDense(1, 2, nil), 5); err == nil {
		t.Error("one sample has a gap")
	}
}
