package cluster

import (
	"context"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func TestSSSNCFollowsLinks(t *testing.T) {
	similarity, must, cannot := linkedPair()
	s := SSSNC{NormalisedCut{KMeans{K: 2}}}
	free, err := s.Fit(context.Background(), similarity, Known{})
	if err != nil {
		t.Fatal(err)
	}
	if free.Labels[0] != free.Labels[1] || free.Labels[0] == free.Labels[2] {
		t.Errorf("without links: %v", free.Labels)
	}
	linked, err := s.Fit(context.Background(), similarity, Known{MustLink: must, CannotLink: cannot})
	if err != nil {
		t.Fatal(err)
	}
	if p, found := broken(linked.Labels, must, cannot); found {
		t.Errorf("link %v does not hold in %v", p, linked.Labels)
	}
}

func TestLinkSimilarity(t *testing.T) {
	similarity := mat.NewSymDense(3, []float64{
		0.9, 0.3, -0.2,
		0.3, 0.8, 0.5,
		-0.2, 0.5, 0.7,
	})
	got, err := LinkSimilarity(similarity, Known{MustLink: [][2]int{{1, 0}, {0, 1}}, CannotLink: [][2]int{{1, 2}}})
	if err != nil {
		t.Fatal(err)
	}
	want := mat.NewSymDense(3, []float64{
		0.9, 0.9, -0.2,
		0.9, 0.8, -0.2,
		-0.2, -0.2, 0.7,
	})
	if !mat.Equal(got, want) {
		t.Errorf("got\n%v", mat.Formatted(got))
	}
	if similarity.At(0, 1) != 0.3 {
		t.Error("the similarity was changed")
	}
	_, err = SSSNC{}.Fit(context.Background(), similarity, Known{MustLink: [][2]int{{0, 1}}, CannotLink: [][2]int{{1, 0}}})
	if err == nil || !strings.Contains(err.Error(), "ss-snc: cannot-link (1, 0) contradicts must-link (1, 0)") {
		t.Errorf("error %v", err)
	}
}
