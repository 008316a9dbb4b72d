package cluster

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestEigenGaps: k clouds have their largest gap at k, whatever the scale and the order of the
// samples, and sparse samples are dense ones.
func TestEigenGaps(t *testing.T) {
	for _, k := range []int{2, 3, 5, 8} {
		x, _ := clouds(20*k, k+3, k-1)
		gaps, err := EigenGaps(t.Context(), x, 15)
		if err != nil {
			t.Fatal(err)
		}
		best := slices.Index(gaps, slices.Max(gaps)) + 1
		// The last two places are near each other, and may be one.
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
					t.Errorf("%d clouds, %s: %v, want %v", k, name, got, gaps)
					break
				}
			}
		}
	}
	// Few samples, all alike, or zeros.
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
