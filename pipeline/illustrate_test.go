package pipeline

import (
	"path/filepath"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/vocab"
)

// TestIllustrate: the saved models are those of the best ranks, and the words and
// parts shown are in the photographs.
func TestIllustrate(t *testing.T) {
	set := photograph(t, 10)
	e, err := Parse([]byte(scenes))
	if err != nil {
		t.Fatal(err)
	}
	e.Data.Set = set
	p, err := NewPlan(t.Context(), e, prepare(t, scenes, set, PrepareOptions{}))
	if err != nil {
		t.Fatal(err)
	}
	to := newKept()
	records, err := p.Run(t.Context(), to, RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	mean := map[int]float64{}
	for _, r := range records {
		if r.Method == "nmf-kl" {
			mean[r.Rank] += r.Scores["accuracy"] / 2
		}
	}
	best := 3
	if mean[6] > mean[3] {
		best = 6
	}
	s := p.Summary()
	if s.Models[0] != "" || s.Models[1] == "" {
		t.Fatalf("models %q, want one of nmf-kl", s.Models)
	}
	m, k := to.models(p)[1].Vectors().Dims()
	if m != 80 || k != best {
		t.Errorf("a model of %d×%d, want 80×%d: the mean scores are %v", m, k, best, mean)
	}
	if v, err := p.Words(t.Context()); err != nil || v.Len() != 20 {
		t.Errorf("words: %v", err)
	}

	shown, err := p.Illustrate(t.Context(), to.models(p))
	if err != nil {
		t.Fatal(err)
	}
	if len(shown.Photographs) != 18 || len(shown.Parts) != 1 || len(shown.Words) != 20 {
		t.Fatalf("%d photographs, parts of %d methods, %d words", len(shown.Photographs), len(shown.Parts), len(shown.Words))
	}
	parts := shown.Parts[0]
	if n, k := parts.Coefficients.Dims(); parts.Method != "nmf-kl" || n != 18 || k != best || len(parts.Patches) != 18 {
		t.Errorf("%d×%d coefficients of %s, patches of %d photographs", n, k, parts.Method, len(parts.Patches))
	}
	inside := func(x, y, side float32) bool {
		return side == 16 && x >= 7.5 && y >= 7.5 && x <= 80-8 && y <= 70-8
	}
	for _, patches := range shown.Parts[0].Patches {
		for _, patch := range patches {
			if !inside(patch.X, patch.Y, patch.Side) || patch.Part < 0 || patch.Part >= best || !(patch.Share > 0.3 && patch.Share <= 1) {
				t.Fatalf("a patch %+v", patch)
			}
		}
	}
	counted := 0
	for i, w := range shown.Words {
		counted += w.Count
		if i > 0 && w.Count > shown.Words[i-1].Count {
			t.Error("words are not ordered by frequency")
		}
		for _, e := range w.Examples {
			if !inside(e.X, e.Y, e.Side) || e.Photograph < 0 || e.Photograph >= 18 {
				t.Fatalf("an example %+v", e)
			}
		}
	}
	if counted != shown.Counted || counted != 18*9*7 || shown.TotalWords != 20 {
		t.Errorf("%d patches have words, %d were counted, of %d words", counted, shown.Counted, shown.TotalWords)
	}
	classes := map[string]int{}
	for _, photo := range shown.Photographs {
		classes[filepath.Dir(photo.Name)]++
		if _, err := photo.Open(); err != nil {
			t.Errorf("%s: %v", photo.Name, err)
		}
	}
	if len(classes) != 3 {
		t.Errorf("photographs of %d classes", len(classes))
	}

	// Models that are lost are made again, others are not.
	clear(to.results)
	if _, err := p.Run(t.Context(), to, RunOptions{}); err != nil || len(to.results) != 1 {
		t.Errorf("lost models are not made again: %v, %v", to.results, err)
	}
}

// TestPartsOf counts on a grid of two cells with two words.
func TestPartsOf(t *testing.T) {
	d := &features.Descriptors{
		X: []float32{2, 7, 2, 7}, Y: []float32{1, 1, 1, 1}, Scale: []float32{1, 1, 2, 1}, Width: 10, Height: 3,
	}
	words := &vocab.Assigned{Nearest: 1, Words: []int32{0, 0, 1, 1}}
	basis := mat.NewDense(4, 2, []float64{
		3, 1, // the left cell, word 0
		1, 1, // word 1: as much of the one as of the other
		0, 0, // the right cell, word 0: nothing
		1, 4,
	})
	got := partsOf(vocab.Grid{{Rows: 1, Columns: 2}}, 2, basis, d, words)
	want := []Patch{
		{X: 2, Y: 1, Side: 4, Part: 0, Share: 0.75},
		{X: 7, Y: 1, Side: 4, Part: 1, Share: 0.8},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
