package pipeline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/testkit"
	"github.com/seed4492f2cd/partwise/pipeline/grouping"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/record"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// mixtures writes a set of 4 classes of 12 samples, each a mixture of 4 parts dominated by its class's part, and
// returns its path.
func mixtures(t *testing.T) string {
	t.Helper()
	random := rand.New(rand.NewPCG(3, 4))
	var text bytes.Buffer
	for j := range 24 {
		fmt.Fprintf(&text, "f%d,", j)
	}
	text.WriteString("class\n")
	for i := range 48 {
		var weight [4]float64
		for p := range weight {
			weight[p] = 0.5 * random.Float64()
		}
		weight[i%4]++
		for j := range 24 {
			fmt.Fprintf(&text, "%.4f,", weight[j%4]*float64(1+j%3)+0.02*random.Float64())
		}
		fmt.Fprintf(&text, "class%d\n", i%4)
	}
	path := filepath.Join(t.TempDir(), "mixtures.csv")
	if err := os.WriteFile(path, text.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestRankAuto: each draw has one chosen rank for all methods, independent of other trials and of labels. The choice is
// recorded, and a run resumes from the records.
func TestRankAuto(t *testing.T) {
	testkit.Slow(t)
	set := mixtures(t)
	const text = "{name: x, methods: [kmeans, nmf, {name: gnmf, lambda: 1}], classes: [3, 4], repeats: 2, rank: {among: 2..8}, cluster: {restarts: 2}}"
	p := newPlan(t, text, set)
	all := runPlan(t, p, RunOptions{Workers: 2})
	rank := map[[2]int]int{}
	for line := range bytes.Lines(all) {
		var r record.Record
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		if r.Method == "kmeans" {
			if r.Rank != 0 || r.Choice != nil {
				t.Errorf("k-means has rank %d", r.Rank)
			}
			continue
		}
		at := [2]int{r.Classes, r.Repeat}
		if have, ok := rank[at]; ok && have != r.Rank {
			t.Errorf("%v: ranks %d and %d", at, have, r.Rank)
		}
		rank[at] = r.Rank
		if r.Choice == nil || r.Choice.Check() != nil || r.Choice.Rank != r.Rank || r.Choice.Curve.Rank[r.Choice.Curve.Best(r.Choice.By)] != r.Rank {
			t.Errorf("%v: rank %d, choice %+v", at, r.Rank, r.Choice)
		}
		if r.Classes == 4 && r.Rank != 4 {
			t.Errorf("rank %d of 4 parts: %+v", r.Rank, r.Choice.Curve)
		}
	}
	if len(rank) != 4 {
		t.Errorf("ranks of %d draws", len(rank))
	}
	if again := runPlan(t, newPlan(t, text, set), RunOptions{Workers: 1}); !bytes.Equal(again, all) {
		t.Error("other records by one worker")
	}

	// Half of the records exist.
	sink := newKept()
	if _, err := newPlan(t, text, set).Run(t.Context(), sink, RunOptions{}); err != nil {
		t.Fatal(err)
	}
	n := 0
	for id := range sink.records {
		if n++; n%2 == 0 {
			delete(sink.records, id)
		}
	}
	records, err := newPlan(t, text, set).Run(t.Context(), sink, RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var lines bytes.Buffer
	for _, r := range records {
		if err := json.NewEncoder(&lines).Encode(r); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(lines.Bytes(), all) {
		t.Error("a run that goes on has other records")
	}

	// Another rule makes other trials; a given rank keeps its trials.
	other := newPlan(t, strings.Replace(text, "2..8", "2..8, by: stability", 1), set)
	fixed := newPlan(t, strings.Replace(text, "{among: 2..8}", "4", 1), set)
	for i, tr := range p.trials {
		if id := other.trials[i].id; id == tr.id || id == fixed.trials[i].id {
			t.Fatalf("trial %d has the identity of one with another rank", i)
		}
	}
}

func TestRankAutoRead(t *testing.T) {
	for text, want := range map[string]spec.AutoRank{
		"auto":                           {},
		"{among: auto}":                  {},
		"{among: 3..50}":                 {Among: spec.RankRange{From: 3, To: 50}},
		"{by: stability}":                {By: factor.RankStability},
		"{among: 2..9, by: held-out}":    {Among: spec.RankRange{From: 2, To: 9}},
		" {among: 2..2, by: stability} ": {Among: spec.RankRange{From: 2, To: 2}, By: factor.RankStability},
	} {
		e := &spec.Experiment{}
		if err := Set(e, "rank", text); err != nil {
			t.Errorf("%s: %v", text, err)
		} else if got := e.Rank[0].Auto; len(e.Rank) != 1 || got == nil || *got != want {
			t.Errorf("%s: %+v", text, got)
		}
	}
	for text, want := range map[string]string{
		"{among: 9..3}":      "invalid range",
		"{among: 0..3}":      "invalid range",
		"{by: chance}":       "chance",
		"{from: 2}":          "from",
		"[auto, 4]":          "several ranks must be numbers in rising order",
		"[4, {among: 2..3}]": "several ranks must be numbers in rising order",
		"automatic":          "expected k, k+1, 2k, a number or auto",
	} {
		if err := Set((&spec.Experiment{}), "rank", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
	e := &spec.Experiment{}
	if err := Set(e, "rank", "{among: 2..60, by: stability}"); err != nil || e.Rank.String() != "auto, from 2..60 by stability" || e.Rank[0].Of(3) != 60 {
		t.Errorf("%s, %v", e.Rank, err)
	}
}

func TestRankAutoRefused(t *testing.T) {
	negative := filepath.Join(t.TempDir(), "negative.csv")
	if err := os.WriteFile(negative, []byte("a,b,class\n1,2,x\n1,-2,x\n3,1,y\n1,1,y\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for want, c := range map[string]struct{ text, set string }{
		"begins above the number of samples of a draw, 24": {"{name: x, methods: [nmf], classes: 2, rank: {among: 30..40}}", mixtures(t)},
		"needs values of 0 or more":                        {"{name: x, methods: [cf], rank: auto}", negative},
	} {
		e, err := spec.Parse([]byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		e.Data.Set = c.set
		in, err := input.Prepare(t.Context(), e, input.PrepareOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := NewPlan(t.Context(), e, in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
		in.Close()
	}
	in := blobs(t, 3, 8, 12)
	g := grouping.Groups{K: 3, Method: spec.Method{Name: "nmf"}, Rank: &spec.Rank{Auto: &spec.AutoRank{}}, Cluster: spec.Cluster{By: spec.Largest}}
	if _, err := g.Find(t.Context(), in, nil); err == nil || !strings.Contains(err.Error(), "rank auto, by held-out: clustering by largest coefficient needs one basis vector for each") {
		t.Errorf("%v", err)
	}
}

// TestRankAutoGroups: a grouping with a chosen rank equals the grouping with that rank given.
func TestRankAutoGroups(t *testing.T) {
	in := blobs(t, 3, 8, 12)
	auto := spec.AutoRank{Among: spec.RankRange{From: 2, To: 6}}
	stages := map[string]int{}
	c, err := grouping.ChooseRank(t.Context(), auto, in, 7, func(stage string, _, _ int) { stages[stage]++ })
	if err != nil {
		t.Fatal(err)
	}
	if stages["choosing the rank"] != len(c.Curve.Rank) {
		t.Errorf("stages %v", stages)
	}
	g := grouping.Groups{K: 3, Method: spec.Method{Name: "nmf"}, Rank: &spec.Rank{Auto: &auto}, Seed: 7}
	found, err := g.Find(t.Context(), in, nil)
	if err != nil {
		t.Fatal(err)
	}
	g.Rank = &spec.Rank{Fixed: true, Plus: c.Rank}
	fixed, err := g.Find(t.Context(), in, nil)
	if err != nil || found.Rank != c.Rank || !reflect.DeepEqual(fixed.Groups, found.Groups) {
		t.Errorf("rank %d, want %d, %v", found.Rank, c.Rank, err)
	}
}

// blobs returns inputs of k well-separated groups of points with many columns.
func blobs(t *testing.T, k, each, columns int) *input.Inputs {
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
	in, err := input.PrepareSet(t.Context(), &spec.Experiment{}, set, input.PrepareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(in.Close)
	return in
}

func TestCountCurve(t *testing.T) {
	in := blobs(t, 5, 12, 130) // enough columns for compaction
	for _, g := range []grouping.Groups{
		{Method: spec.Method{Name: "kmeans"}},
		{Method: spec.Method{Name: "kmeans"}, Cluster: spec.Cluster{Distance: cluster.DistanceCosine}, Seed: 3},
		{Method: spec.Method{Name: "nmf"}, Cluster: spec.Cluster{Distance: cluster.DistanceCosine}},
		{Method: spec.Method{Name: "ncut"}},
	} {
		from, to := g.CountRange(in.Set, in.Rows)
		if from != 2 || to != 20 {
			t.Errorf("%d to %d groups are worth looking at", from, to)
		}
		c, err := g.CountCurve(t.Context(), in, from, 9, nil)
		if err != nil {
			t.Fatalf("%s: %v", g.Method.Name, err)
		}
		if best := c.K[c.Best]; best != 5 || c.Stability[c.Best] < 0.99 || c.Samples != 60 {
			t.Errorf("%s: %d groups: %+v", g.Method.Name, best, c)
		}
		if g.Seed == 0 {
			continue
		}
		if again, err := g.CountCurve(t.Context(), in, from, 9, nil); err != nil || !reflect.DeepEqual(c, again) {
			t.Errorf("%s: %+v, and again %+v, %v", g.Method.Name, c, again, err)
		}
	}
	// The number of groups is at least the number of labelled classes.
	for i := range 4 {
		in.Set.Labels[i], in.Set.Classes = i, append(in.Set.Classes, string(rune('p'+i)))
	}
	g := grouping.Groups{Method: spec.Method{Name: "kmeans"}, UseLabels: true}
	if from, _ := g.CountRange(in.Set, in.Rows); from != 4 {
		t.Errorf("got at least %d groups, want 4 for 4 labelled classes", from)
	}
	if c, err := g.CountCurve(t.Context(), in, 4, 8, nil); err != nil || c.K[c.Best] != 5 {
		t.Errorf("with labels: %+v, %v", c, err)
	}
	for want, k := range map[string][2]int{"4 classes": {3, 6}, "groups: expected a rising range from 2 or more": {6, 5}, "too many": {5, 31}} {
		if _, err := g.CountCurve(t.Context(), in, k[0], k[1], nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v groups: got %v, want %q", k, err, want)
		}
	}
}

// TestGroupCount: a draw has one number of groups for all methods, chosen or given. The default is the number of
// classes, with unchanged identities of trials.
func TestGroupCount(t *testing.T) {
	set := mixtures(t)
	text := func(k string) string {
		return "{name: x, methods: [kmeans, {name: nmf, iterations: 20}], classes: [3, 4], repeats: 2, cluster: {restarts: 2, distance: cosine" + k + "}}"
	}
	records := func(k string) (out []record.Record) {
		for line := range bytes.Lines(runPlan(t, newPlan(t, text(k), set), RunOptions{})) {
			var r record.Record
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
		if r.Groups < 6 || r.Groups > 8 || r.Count == nil || len(r.Count.Length) != 3 {
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
	for text, want := range map[string]spec.GroupCount{"auto": {Auto: true}, "5..30": {From: 5, To: 30, Auto: true}, "12": {From: 12, To: 12}} {
		e := &spec.Experiment{}
		if err := Set(e, "cluster", "{k: "+text+"}"); err != nil || e.Cluster.K != want || e.Cluster.K.String() != text {
			t.Errorf("%s: %+v, %v", text, e.Cluster.K, err)
		}
	}
	for _, text := range []string{"1", "9..3", "1..4", "many", "2.5"} {
		if err := Set((&spec.Experiment{}), "cluster", "{k: "+text+"}"); err == nil || !strings.Contains(err.Error(), "expected 2 or more, a range such as 5..30, or auto") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestGroupCountRefused(t *testing.T) {
	set := mixtures(t)
	for want, text := range map[string]string{
		"cluster: k is 50, but a draw may have only 48 samples":                           "{name: x, methods: [nmf], cluster: {k: 50}}",
		"cluster: k is 3, but there must be a cluster for each of the 4 labelled classes": "{name: x, methods: [nmf], labels: 30%, cluster: {k: 3}}",
		"but the method nmf clusters by largest coefficient; set rank instead of k":       "{name: x, methods: [nmf], cluster: {by: largest, k: auto}}",
		"cluster: k needs task: cluster":                                                  "{name: x, methods: [nmf], task: classify, train: 3, test: rest, cluster: {k: 4}}",
		"cluster: k is 20..30, but a draw may have only 24 samples":                       "{name: x, methods: [nmf], classes: 2, cluster: {k: 20..30}}",
	} {
		e, err := spec.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		e.Data.Set = set
		in, err := input.Prepare(t.Context(), e, input.PrepareOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := NewPlan(t.Context(), e, in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
		in.Close()
	}
}

// TestChoicesChecked: records with an impossible choice are rejected.
func TestChoicesChecked(t *testing.T) {
	curve := func(change func(c *factor.RankCurve)) *spec.RankChoice {
		c := &factor.RankCurve{Rank: []int{2, 3}, Misfit: []float64{0.5, 0.4}, Deviation: []float64{0, 0.1}, Stability: []float64{1, 0.5}}
		change(c)
		return &spec.RankChoice{Rank: 2, Curve: c}
	}
	if err := curve(func(*factor.RankCurve) {}).Check(); err != nil {
		t.Error(err)
	}
	for name, c := range map[string]*spec.RankChoice{
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
	if err := (&spec.CountChoice{K: 3, From: 2, Length: []float64{0, 0.5}}).Check(); err != nil {
		t.Error(err)
	}
	for _, c := range []spec.CountChoice{{K: 4, From: 2, Length: []float64{0, 0.5}}, {K: 1, From: 1, Length: []float64{1}}, {K: 2, From: 2}, {K: 2, From: 2, Length: []float64{-1e6}}, {K: 2, From: 2, Length: []float64{math.NaN()}}} {
		if c.Check() == nil {
			t.Errorf("%+v: no error", c)
		}
	}
}
