package pipeline

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/datasets"
)

// blobs returns inputs of k groups of points that lie apart, in many columns.
func blobs(t *testing.T, k, each, columns int) *Inputs {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	x := mat.NewDense(k*each, columns, nil)
	set := &datasets.Set{Name: "blobs", Labels: make([]int, k*each)}
	for i := range k * each {
		set.Names = append(set.Names, string(rune('a'+i%k))+string(rune('0'+i/k)))
		set.Labels[i] = -1
		for j := range columns {
			x.Set(i, j, 1+0.3*random.Float64())
		}
		for j := i % k; j < columns; j += k {
			x.Set(i, j, x.At(i, j)+2)
		}
	}
	set.Vectors = x
	in, err := PrepareSet(t.Context(), &Experiment{}, set, PrepareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(in.Close)
	return in
}

func TestCountCurve(t *testing.T) {
	in := blobs(t, 5, 12, 130) // of so many columns that they are compacted
	for _, g := range []Groups{
		{Method: Method{Name: "kmeans"}},
		{Method: Method{Name: "kmeans"}, Cluster: Cluster{Distance: cluster.DistanceCosine}, Seed: 3},
		{Method: Method{Name: "nmf"}, Cluster: Cluster{Distance: cluster.DistanceCosine}},
		{Method: Method{Name: "ncut"}},
	} {
		from, to := g.CountRange(in.Set, in.Rows)
		if from != 2 || to != 20 {
			t.Errorf("%d to %d groups are worth looking at", from, to)
		}
		c, err := g.CountCurve(t.Context(), in, from, 9, nil)
		if err != nil {
			t.Fatalf("%s: %v", g.Method.Name, err)
		}
		if best := c.K[c.Best()]; best != 5 || c.Stability[c.Best()] < 0.99 || c.Samples != 60 {
			t.Errorf("%s: %d groups: %+v", g.Method.Name, best, c)
		}
		again, err := g.CountCurve(t.Context(), in, from, 9, nil)
		if err != nil || !reflect.DeepEqual(c, again) {
			t.Errorf("%s: %+v, and again %+v, %v", g.Method.Name, c, again, err)
		}
	}
	// Told classes are as many groups at least.
	for i := range 4 {
		in.Set.Labels[i], in.Set.Classes = i, append(in.Set.Classes, string(rune('p'+i)))
	}
	g := Groups{Method: Method{Name: "kmeans"}, UseLabels: true}
	if from, _ := g.CountRange(in.Set, in.Rows); from != 4 {
		t.Errorf("from %d groups where 4 classes are told", from)
	}
	if c, err := g.CountCurve(t.Context(), in, 4, 8, nil); err != nil || c.K[c.Best()] != 5 {
		t.Errorf("with labels: %+v, %v", c, err)
	}
	for want, k := range map[string][2]int{"4 classes": {3, 6}, "want two numbers": {6, 5}, "too many": {5, 31}} {
		if _, err := g.CountCurve(t.Context(), in, k[0], k[1], nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v groups: %v, want %q", k, err, want)
		}
	}
}

func TestCountCurveBest(t *testing.T) {
	for want, c := range map[int]CountCurve{
		4: {K: []int{2, 3, 4, 5}, Gap: []float64{0.01, 0.02, 0.3, 0.02}},
		2: {K: []int{2, 3}, Gap: []float64{0, 0}},
	} {
		if got := c.K[c.Best()]; got != want {
			t.Errorf("%+v: %d, want %d", c, got, want)
		}
	}
}
