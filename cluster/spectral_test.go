package cluster

import (
	"context"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// rings returns the heat similarity of points on two circles, one inside the other, which are not linearly separable.
func rings() (similarity *mat.SymDense, truth []int) {
	const each = 40
	x := mat.NewDense(2*each, 2, nil)
	truth = make([]int, 2*each)
	for i := range 2 * each {
		truth[i] = i % 2
		radius := 1 + 3*float64(truth[i])
		angle := 2 * math.Pi * float64(i/2) / each
		x.SetRow(i, []float64{radius * math.Cos(angle), radius * math.Sin(angle)})
	}
	similarity = mat.NewSymDense(2*each, nil)
	for i := range 2 * each {
		for j := i; j < 2*each; j++ {
			similarity.SetSym(i, j, math.Exp(-2*plainCost(DistanceEuclidean, x.RawRowView(i), x.RawRowView(j))))
		}
	}
	return similarity, truth
}

func TestNormalisedCutRings(t *testing.T) {
	similarity, truth := rings()
	got, err := NormalisedCut{KMeans{K: 2}}.Fit(context.Background(), similarity)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range got.Labels {
		if (c == got.Labels[0]) != (truth[i] == truth[0]) {
			t.Fatalf("sample %d of ring %d is in cluster %d", i, truth[i], c)
		}
	}
}

func TestNormalisedCutEmbed(t *testing.T) {
	similarity, _ := rings()
	embedding, err := NormalisedCut{KMeans{K: 3}}.Embed(context.Background(), similarity)
	if err != nil {
		t.Fatal(err)
	}
	n, k := embedding.Dims()
	if n != 80 || k != 3 {
		t.Fatalf("%d×%d coordinates, want 80×3", n, k)
	}
	for i := range n {
		if length := norm(embedding.RawRowView(i)); !near(length, 1, 1e-12) {
			t.Errorf("row %d has the length %v", i, length)
		}
	}
}

// TestNormalisedCutLoneSample has a sample with zero similarity to all samples, including itself.
func TestNormalisedCutLoneSample(t *testing.T) {
	similarity := mat.NewSymDense(5, []float64{
		1, 1, 0, 0, 0,
		1, 1, 0, 0, 0,
		0, 0, 1, 1, 0,
		0, 0, 1, 1, 0,
		0, 0, 0, 0, 0,
	})
	c := NormalisedCut{KMeans{K: 2}}
	embedding, err := c.Embed(context.Background(), similarity)
	if err != nil {
		t.Fatal(err)
	}
	if length := norm(embedding.RawRowView(4)); length != 0 {
		t.Errorf("the lone sample's row has the length %v", length)
	}
	got, err := c.Fit(context.Background(), similarity)
	if err != nil {
		t.Fatal(err)
	}
	checkWhole(t, got, 5, 2)
	if l := got.Labels; l[0] != l[1] || l[2] != l[3] || l[0] == l[2] {
		t.Errorf("labels %v", l)
	}
}

func TestNormalisedCutErrors(t *testing.T) {
	for _, test := range []struct {
		k          int
		similarity *mat.SymDense
		want       string
	}{
		{0, mat.NewSymDense(2, []float64{1, 0, 0, 1}), "number of clusters 0; expected 1 to the number of samples, 2"},
		{3, mat.NewSymDense(2, []float64{1, 0, 0, 1}), "number of clusters 3; expected 1 to the number of samples, 2"},
		{1, mat.NewSymDense(2, []float64{1, -3, 0, 5}), "row 1: the similarities sum to -2; expected more than 0"},
		{1, mat.NewSymDense(2, []float64{1, math.Inf(1), 0, 1}), "row 1, column 2: value +Inf"},
	} {
		_, err := NormalisedCut{KMeans{K: test.k}}.Fit(context.Background(), test.similarity)
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "normalised cut: ") {
			t.Errorf("got error %v, want one with %q", err, test.want)
		}
	}
}

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
	got, err := linkSimilarity(similarity, Known{MustLink: [][2]int{{1, 0}, {0, 1}}, CannotLink: [][2]int{{1, 2}}})
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
	if err == nil || !strings.Contains(err.Error(), "ss-snc: cannot-link (1, 0) contradicts must-links") {
		t.Errorf("error %v", err)
	}
}
