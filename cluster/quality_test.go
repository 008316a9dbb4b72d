package cluster

import (
	"math"
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
