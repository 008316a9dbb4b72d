package cluster

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// manyClouds returns samples around k random directions.
func manyClouds(k, each, columns int, seed uint64) *mat.Dense {
	random := rand.New(rand.NewPCG(seed, uint64(k)))
	x := mat.NewDense(k*each, columns, nil)
	for c := range k {
		centre := make([]float64, columns)
		for j := range centre {
			centre[j] = random.NormFloat64()
		}
		for i := range each {
			for j, v := range centre {
				x.Set(i*k+c, j, v+0.5*random.NormFloat64())
			}
		}
	}
	return x
}

// TestDescriptionLengths checks the number of clusters of separate clouds, few and many, for any scale and storage.
func TestDescriptionLengths(t *testing.T) {
	for _, k := range []int{2, 3, 5, 8, 40} {
		x := manyClouds(k, 20, 30, 1)
		most := 20 * k / 3
		lengths, err := DescriptionLengths(t.Context(), x, most, 1)
		if err != nil {
			t.Fatal(err)
		}
		if got := ChooseCount(lengths, 2); got != k || len(lengths) != most {
			t.Errorf("%d clouds: got %d, of %.3f", k, got, lengths)
		}
		var scaled mat.Dense
		scaled.Scale(1e90, x)
		for name, other := range map[string]mat.Matrix{"scaled": &scaled, "sparse": sparsed(x)} {
			if got, err := DescriptionLengths(t.Context(), other, most, 1); err != nil || ChooseCount(got, 2) != k {
				t.Errorf("%d clouds, %s: %.3f, %v", k, name, got, err)
			}
		}
	}
	// Few, equal or zero samples.
	for name, x := range map[string]*mat.Dense{"two": mat.NewDense(2, 2, []float64{1, 0, 0, 1}), "alike": mat.NewDense(30, 2, slices.Repeat([]float64{1}, 60)), "zeros": mat.NewDense(12, 3, nil)} {
		lengths, err := DescriptionLengths(t.Context(), x, 5, 1)
		n, _ := x.Dims()
		if err != nil || len(lengths) != min(5, n-1) || slices.ContainsFunc(lengths, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) {
			t.Errorf("%s: %v, %v", name, lengths, err)
		}
	}
	if _, err := DescriptionLengths(t.Context(), mat.NewDense(1, 2, nil), 5, 1); err == nil {
		t.Error("one sample has a description length")
	}
}

// TestChooseCount: a minimum counts if no number up to a quarter and 3 more improves it, nor one up to 12.
func TestChooseCount(t *testing.T) {
	ring := make([]float64, 60)
	for i := range ring {
		ring[i] = 10 - float64(min(i, 20))/10 // falls to 21
	}
	ring[40] = 1 // beyond 21 + 5 + 3
	if got := ChooseCount(ring, 2); got != 21 {
		t.Errorf("got %d", got)
	}
	ring[27] = 2 // within
	if got := ChooseCount(ring, 2); got != 28 {
		t.Errorf("got %d", got)
	}
	if got := ChooseCount([]float64{3, 1, 2, 2, 2, 2, 2, 0}, 2); got != 8 {
		t.Errorf("got %d", got)
	}
	if got := ChooseCount([]float64{1, 1, 1}, 3); got != 3 {
		t.Errorf("got %d", got)
	}
}
