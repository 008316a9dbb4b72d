package cluster

import (
	"context"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func TestSSKKKernel(t *testing.T) {
	x, truth := blobs(30, 3, 3, 0.5, 1)
	similarity := gram(x)
	before := mat.NewSymDense(30, nil)
	before.CopySym(similarity)
	must, cannot := randomLinks(truth, 40, 1)
	once, err := SSKK{KernelKMeans: KernelKMeans{K: 3}}.Kernel(context.Background(), similarity, Known{MustLink: must, CannotLink: cannot})
	if err != nil {
		t.Fatal(err)
	}
	if !mat.Equal(before, similarity) {
		t.Error("the similarity was changed")
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(once, false) || eigen.Values(nil)[0] < -1e-10 {
		t.Errorf("eigenvalues from %v on, want none below 0", eigen.Values(nil)[0])
	}
	// A link counts once, whichever way round and however often it is given.
	for _, p := range must {
		must = append(must, [2]int{p[1], p[0]}, [2]int{p[0], p[0]})
	}
	twice, err := SSKK{KernelKMeans: KernelKMeans{K: 3}}.Kernel(context.Background(), similarity, Known{MustLink: must, CannotLink: append(cannot, cannot...)})
	if err != nil {
		t.Fatal(err)
	}
	if !mat.Equal(once, twice) {
		t.Error("repeated links change the kernel")
	}
	// A positive definite kernel without links stays what it is.
	same, err := SSKK{KernelKMeans: KernelKMeans{K: 1}}.Kernel(context.Background(), mat.NewDiagDense(3, []float64{1, 2, 3}), Known{})
	if err != nil {
		t.Fatal(err)
	}
	if !mat.Equal(same, mat.NewDiagDense(3, []float64{1, 2, 3})) {
		t.Errorf("a positive definite kernel became %v", mat.Formatted(same))
	}
}

// linkedPair is a similarity of four samples that pairs them as 0, 1 and 2, 3,
// and links that pair them the other way.
func linkedPair() (similarity *mat.SymDense, must, cannot [][2]int) {
	return mat.NewSymDense(4, []float64{
			1.0, 0.6, 0.5, 0.4,
			0.6, 1.0, 0.4, 0.5,
			0.5, 0.4, 1.0, 0.6,
			0.4, 0.5, 0.6, 1.0,
		}),
		[][2]int{{0, 2}, {1, 3}}, [][2]int{{0, 1}, {2, 3}}
}

func TestSSKKFollowsLinks(t *testing.T) {
	similarity, must, cannot := linkedPair()
	s := SSKK{KernelKMeans: KernelKMeans{K: 2}}
	free, err := s.Fit(context.Background(), similarity, Known{})
	if err != nil {
		t.Fatal(err)
	}
	if free.Labels[0] != free.Labels[1] || free.Labels[0] == free.Labels[2] {
		t.Errorf("without links: %v", free.Labels)
	}
	s.Weight = 2
	linked, err := s.Fit(context.Background(), similarity, Known{MustLink: must, CannotLink: cannot})
	if err != nil {
		t.Fatal(err)
	}
	if p, found := broken(linked.Labels, must, cannot); found {
		t.Errorf("link %v does not hold in %v", p, linked.Labels)
	}
}

func TestSSKKErrors(t *testing.T) {
	similarity, must, _ := linkedPair()
	for _, weight := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, err := (SSKK{KernelKMeans{K: 2}, weight}).Kernel(context.Background(), similarity, Known{MustLink: must}); err == nil {
			t.Errorf("weight %v is no error", weight)
		}
	}
	for _, test := range []struct {
		k            int
		must, cannot [][2]int
		want         string
	}{
		{0, must, nil, "0 clusters of 4"},
		{2, must, [][2]int{{2, 0}}, "cannot-link (2, 0) contradicts must-link (2, 0)"},
		{2, [][2]int{{0, 1}, {1, 2}}, [][2]int{{2, 0}}, "cannot-link (2, 0) contradicts must-link (2, 1), (1, 0)"},
		{2, must, [][2]int{{1, 1}}, "cannot-link (1, 1) parts a sample from itself"},
		{2, must, [][2]int{{1, 4}}, "cannot-link (1, 4) among 4 samples"},
	} {
		_, err := SSKK{KernelKMeans: KernelKMeans{K: test.k}}.Fit(context.Background(), similarity, Known{MustLink: test.must, CannotLink: test.cannot})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("error %v, want one with %q", err, test.want)
		}
	}
}
