package cluster

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// turned returns n samples of 3 classes that lie along few directions of 12, with noise along
// others that is the same in all classes, and their classes.
func turned(n int, seed uint64) (x *mat.Dense, truth []int) {
	r := rand.New(rand.NewPCG(seed, 1))
	x = mat.NewDense(n, 12, nil)
	for i := range n {
		truth = append(truth, i%3)
		for j := range 12 {
			x.Set(i, j, 3+0.3*r.NormFloat64())
		}
		x.Set(i, i%3, x.At(i, i%3)+2)
		shared := 3 * r.NormFloat64()
		x.Set(i, 10, x.At(i, 10)+shared)
		x.Set(i, 11, x.At(i, 11)-shared)
	}
	return x, truth
}

func agreement(got, truth []int) float64 {
	same := 0
	for i := range got {
		if got[i] == truth[i] {
			same++
		}
	}
	return float64(same) / float64(len(got))
}

// TestGuidedKMeans: labels are kept, the objective never rises, samples permuted give
// clusters permuted, and the classifier finds what distances hide.
func TestGuidedKMeans(t *testing.T) {
	for seed := range uint64(10) {
		x, truth := turned(90, seed)
		labels := make([]int, 90)
		for i := range labels {
			labels[i] = -1
			if i < 18 {
				labels[i] = truth[i]
			}
		}
		fit := func(x mat.Matrix, labels []int, most int) *Result {
			t.Helper()
			r, err := GuidedKMeans{KMeans: KMeans{K: 3, MaxIterations: most}}.Fit(t.Context(), x, Known{Labels: labels})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		last := math.Inf(1)
		for most := 1; most < 6; most++ {
			r := fit(x, labels, most)
			if r.Objective > last*(1+1e-12) {
				t.Errorf("seed %d: objective %v after %d iterations, %v before", seed, r.Objective, most, last)
			}
			last = r.Objective
		}
		got := fit(x, labels, 0)
		for i, c := range labels {
			if c >= 0 && got.Labels[i] != c {
				t.Fatalf("seed %d: sample %d of label %d is in cluster %d", seed, i, c, got.Labels[i])
			}
		}
		plain, err := ConstrainedKMeans{KMeans{K: 3, Distance: DistanceCosine}}.Fit(t.Context(), x, labels)
		if err != nil {
			t.Fatal(err)
		}
		if ours, theirs := agreement(got.Labels, truth), agreement(plain.Labels, truth); ours < theirs+0.05 {
			t.Errorf("seed %d: %.2f are right, and %.2f of constrained k-means", seed, ours, theirs)
		}
		order := rand.New(rand.NewPCG(seed, 2)).Perm(90)
		moved, movedLabels, want := mat.NewDense(90, 12, nil), make([]int, 90), make([]int, 90)
		for i, from := range order {
			moved.SetRow(i, x.RawRowView(from))
			movedLabels[i], want[i] = labels[from], got.Labels[from]
		}
		if other := fit(moved, movedLabels, 0); !slices.Equal(other.Labels, want) {
			t.Errorf("seed %d: permuted samples have other clusters", seed)
		}
		var scaled mat.Dense
		scaled.Scale(1e90, x)
		if other := fit(&scaled, labels, 0); !slices.Equal(other.Labels, got.Labels) {
			t.Errorf("seed %d: scaled samples have other clusters", seed)
		}
	}
}

// TestGuidedKMeansEdges: samples without direction, labels of all samples, and clusters
// without a label.
func TestGuidedKMeansEdges(t *testing.T) {
	for name, x := range map[string]*mat.Dense{
		"zeros": mat.NewDense(5, 2, nil),
		"equal": mat.NewDense(5, 2, []float64{1, 2, 1, 2, 1, 2, 1, 2, 1, 2}),
		"few":   mat.NewDense(5, 2, []float64{1, 2, 0, 0, 1, 2, 3, 1, 1, 2}),
	} {
		for _, labels := range [][]int{{0, 1, -1, -1, -1}, {0, 1, 1, 0, 1}, {0, -1, -1, -1, -1}} {
			r, err := GuidedKMeans{KMeans: KMeans{K: 2}}.Fit(t.Context(), x, Known{Labels: labels})
			if err != nil {
				t.Errorf("%s, %v: %v", name, labels, err)
				continue
			}
			if math.IsNaN(r.Objective) || math.IsInf(r.Objective, 0) {
				t.Errorf("%s, %v: objective %v", name, labels, r.Objective)
			}
			for i, c := range labels {
				if c >= 0 && r.Labels[i] != c {
					t.Errorf("%s, %v: got %v", name, labels, r.Labels)
				}
			}
		}
	}
	x, truth := turned(30, 1)
	labels := slices.Repeat([]int{-1}, 30)
	labels[0] = truth[0]
	got, err := GuidedKMeans{KMeans: KMeans{K: 3}}.Fit(t.Context(), x, Known{Labels: labels})
	if err != nil {
		t.Fatal(err)
	}
	want, err := ConstrainedKMeans{KMeans{K: 3, Distance: DistanceCosine}}.Fit(t.Context(), x, labels)
	if err != nil || !slices.Equal(got.Labels, want.Labels) {
		t.Errorf("got %v, want %v, %v", got.Labels, want, err)
	}
	if _, err := (GuidedKMeans{KMeans: KMeans{K: 3}}).Fit(t.Context(), x, Known{Labels: labels[:4]}); err == nil {
		t.Error("four labels of 30 samples are accepted")
	}
}
