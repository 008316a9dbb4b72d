package pipeline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/seed4492f2cd/partwise/factor"
)

// mixtures writes a set of 4 classes of 12 samples, each a mixture of 4 parts of which its class
// has one most of all, and returns its path.
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

// TestRankAuto: a rank is chosen for each draw, one for all methods, whatever runs beside and
// whatever the labels are; the choice is in the records, from which a run goes on.
func TestRankAuto(t *testing.T) {
	set := mixtures(t)
	const text = "{name: x, methods: [kmeans, nmf, {name: gnmf, lambda: 1}], classes: [3, 4], repeats: 2, rank: {among: 2..8}, cluster: {restarts: 2}}"
	p := newPlan(t, text, set)
	all := runPlan(t, p, RunOptions{Workers: 2})
	rank := map[[2]int]int{}
	for line := range bytes.Lines(all) {
		var r Record
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

	// Half of the records are there.
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

	// Another rule is another trial; a told rank is what it was.
	other := newPlan(t, strings.Replace(text, "2..8", "2..8, by: stability", 1), set)
	told := newPlan(t, strings.Replace(text, "{among: 2..8}", "4", 1), set)
	for i, tr := range p.trials {
		if id := other.trials[i].id; id == tr.id || id == told.trials[i].id {
			t.Fatalf("trial %d has the identity of one with another rank", i)
		}
	}
}

func TestRankAutoRead(t *testing.T) {
	for text, want := range map[string]AutoRank{
		"auto":                           {},
		"{among: auto}":                  {},
		"{among: 3..50}":                 {Among: RankRange{From: 3, To: 50}},
		"{by: stability}":                {By: factor.RankStability},
		"{among: 2..9, by: held-out}":    {Among: RankRange{From: 2, To: 9}},
		" {among: 2..2, by: stability} ": {Among: RankRange{From: 2, To: 2}, By: factor.RankStability},
	} {
		e := &Experiment{}
		if err := Set(e, "rank", text); err != nil {
			t.Errorf("%s: %v", text, err)
		} else if got := e.Rank[0].Auto; len(e.Rank) != 1 || got == nil || *got != want {
			t.Errorf("%s: %+v", text, got)
		}
	}
	for text, want := range map[string]string{
		"{among: 9..3}":      "is no range",
		"{among: 0..3}":      "is no range",
		"{by: chance}":       "chance",
		"{from: 2}":          "from",
		"[auto, 4]":          "several ranks must be numbers that rise",
		"[4, {among: 2..3}]": "several ranks must be numbers that rise",
		"automatic":          "want k, k+1, 2k, a number or auto",
	} {
		if err := Set((&Experiment{}), "rank", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	e := &Experiment{}
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
		"begins above the 24 samples": {"{name: x, methods: [nmf], classes: 2, rank: {among: 30..40}}", mixtures(t)},
		"needs values of 0 or more":   {"{name: x, methods: [cf], rank: auto}", negative},
	} {
		e, err := Parse([]byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		e.Data.Set = c.set
		in, err := Prepare(t.Context(), e, PrepareOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := NewPlan(t.Context(), e, in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		in.Close()
	}
	in := blobs(t, 3, 8, 12)
	g := Groups{K: 3, Method: Method{Name: "nmf"}, Rank: &Rank{Auto: &AutoRank{}}, Cluster: Cluster{By: Largest}}
	if _, err := g.Find(t.Context(), in, nil); err == nil || !strings.Contains(err.Error(), "rank: auto, by held-out; each basis vector is a group") {
		t.Errorf("%v", err)
	}
}

// TestRankAutoGroups: a grouping with a rank to be chosen is that with the one that is chosen.
func TestRankAutoGroups(t *testing.T) {
	in := blobs(t, 3, 8, 12)
	auto := AutoRank{Among: RankRange{From: 2, To: 6}}
	stages := map[string]int{}
	c, err := ChooseRank(t.Context(), auto, in, 7, func(stage string, _, _ int) { stages[stage]++ })
	if err != nil {
		t.Fatal(err)
	}
	if stages["choosing the rank"] != len(c.Curve.Rank) {
		t.Errorf("stages %v", stages)
	}
	g := Groups{K: 3, Method: Method{Name: "nmf"}, Rank: &Rank{Auto: &auto}, Seed: 7}
	found, err := g.Find(t.Context(), in, nil)
	if err != nil {
		t.Fatal(err)
	}
	g.Rank = &Rank{Fixed: true, Plus: c.Rank}
	told, err := g.Find(t.Context(), in, nil)
	if err != nil || found.Rank != c.Rank || !reflect.DeepEqual(told.Groups, found.Groups) {
		t.Errorf("rank %d, want %d, %v", found.Rank, c.Rank, err)
	}
}
