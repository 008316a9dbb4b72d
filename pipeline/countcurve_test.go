package pipeline

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/factor"
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

// TestGroupCount: the number of groups of a draw is chosen, one for all methods; told, it is that;
// and without either it is the number of classes, with the identities that trials had.
func TestGroupCount(t *testing.T) {
	set := mixtures(t)
	text := func(k string) string {
		return "{name: x, methods: [kmeans, {name: nmf, iterations: 20}], classes: [3, 4], repeats: 2, cluster: {restarts: 2, distance: cosine" + k + "}}"
	}
	records := func(k string) (out []Record) {
		for line := range bytes.Lines(runPlan(t, newPlan(t, text(k), set), RunOptions{})) {
			var r Record
			if err := json.Unmarshal(line, &r); err != nil {
				t.Fatal(err)
			}
			out = append(out, r)
		}
		return out
	}
	for _, r := range records(", k: auto") {
		if r.Groups != r.Classes || r.Count == nil || r.Count.K != r.Groups || r.Count.Check() != nil || r.Count.From != 2 {
			t.Errorf("%s: %d groups of %d classes: %+v", r.Method, r.Groups, r.Classes, r.Count)
		}
	}
	for _, r := range records(", k: 6..8") {
		if r.Groups < 6 || r.Groups > 8 || r.Count == nil || len(r.Count.Gap) != 3 {
			t.Errorf("%s: %d groups from 6 to 8", r.Method, r.Groups)
		}
	}
	plain, five := records(""), records(", k: 5")
	for i, r := range five {
		if r.Groups != 5 || r.Count != nil || !(r.Scores["AC"] <= 1) || plain[i].Groups != 0 || plain[i].Trial == r.Trial {
			t.Errorf("%+v", r)
		}
	}
}

func TestGroupCountRead(t *testing.T) {
	for text, want := range map[string]GroupCount{"auto": {Auto: true}, "5..30": {From: 5, To: 30, Auto: true}, "12": {From: 12, To: 12}} {
		e := &Experiment{}
		if err := Set(e, "cluster", "{k: "+text+"}"); err != nil || e.Cluster.K != want || e.Cluster.K.String() != text {
			t.Errorf("%s: %+v, %v", text, e.Cluster.K, err)
		}
	}
	for _, text := range []string{"1", "9..3", "1..4", "many", "2.5"} {
		if err := Set((&Experiment{}), "cluster", "{k: "+text+"}"); err == nil || !strings.Contains(err.Error(), "is no number of groups") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestGroupCountRefused(t *testing.T) {
	set := mixtures(t)
	for want, text := range map[string]string{
		"cluster: k is 50, and there may be only 48 samples":         "{name: x, methods: [nmf], cluster: {k: 50}}",
		"cluster: k is 3, and samples of 4 classes have labels":      "{name: x, methods: [nmf], labels: 30%, cluster: {k: 3}}",
		"the method nmf groups samples by their largest coefficient": "{name: x, methods: [nmf], cluster: {by: largest, k: auto}}",
		"the number of groups, is for the task cluster":              "{name: x, methods: [nmf], task: classify, train: 3, test: rest, cluster: {k: 4}}",
		"cluster: k is 20..30, and there may be only 24 samples":     "{name: x, methods: [nmf], classes: 2, cluster: {k: 20..30}}",
	} {
		e, err := Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		e.Data.Set = set
		in, err := Prepare(t.Context(), e, PrepareOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := NewPlan(t.Context(), e, in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		in.Close()
	}
}

// TestChoicesChecked: a record with a choice that cannot be is none.
func TestChoicesChecked(t *testing.T) {
	curve := func(change func(c *factor.RankCurve)) *RankChoice {
		c := &factor.RankCurve{Rank: []int{2, 3}, Misfit: []float64{0.5, 0.4}, Deviation: []float64{0, 0.1}, Stability: []float64{1, 0.5}}
		change(c)
		return &RankChoice{Rank: 2, Curve: c}
	}
	if err := curve(func(*factor.RankCurve) {}).Check(); err != nil {
		t.Error(err)
	}
	for name, c := range map[string]*RankChoice{
		"no curve":       {Rank: 2},
		"falling ranks":  curve(func(c *factor.RankCurve) { c.Rank[1] = 2 }),
		"rank 0":         curve(func(c *factor.RankCurve) { c.Rank[0] = 0 }),
		"misfits":        curve(func(c *factor.RankCurve) { c.Misfit = c.Misfit[1:] }),
		"a misfit below": curve(func(c *factor.RankCurve) { c.Misfit[0] = -1 }),
		"a large misfit": curve(func(c *factor.RankCurve) { c.Misfit[0] = 1e300 }),
		"stability":      curve(func(c *factor.RankCurve) { c.Stability[1] = 1.5 }),
	} {
		if c.Check() == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := (&CountChoice{K: 3, From: 2, Gap: []float64{0, 0.5}}).Check(); err != nil {
		t.Error(err)
	}
	for _, c := range []CountChoice{{K: 4, From: 2, Gap: []float64{0, 0.5}}, {K: 1, From: 1, Gap: []float64{1}}, {K: 2, From: 2}, {K: 2, From: 2, Gap: []float64{-1}}, {K: 2, From: 2, Gap: []float64{5}}} {
		if c.Check() == nil {
			t.Errorf("%+v: no error", c)
		}
	}
}
