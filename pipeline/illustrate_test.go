package pipeline

import (
	"encoding/hex"
	"image"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// TestIllustrate checks that the models of the best ranks are saved, and that the words and parts shown are in the
// photographs.
func TestIllustrate(t *testing.T) {
	set := photograph(t, 7)
	e, err := spec.Parse([]byte(scenes))
	if err != nil {
		t.Fatal(err)
	}
	e.Data.Set = set
	p, err := NewPlan(t.Context(), e, prepare(t, scenes, set, input.PrepareOptions{}))
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
	if l, err := p.Learned(t.Context()); err != nil || l.Vocabulary.Len() != 20 {
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
		if err := photo.With(func(image.Image) error { return nil }); err != nil {
			t.Errorf("%s: %v", photo.Name, err)
		}
	}
	if len(classes) != 3 {
		t.Errorf("photographs of %d classes", len(classes))
	}

	// Only missing models are computed again.
	clear(to.results)
	if _, err := p.Run(t.Context(), to, RunOptions{}); err != nil || len(to.results) != 1 {
		t.Errorf("missing models are not computed again: %v, %v", to.results, err)
	}
}

// identity is an ONNX model whose output y is its input x, an image of 3×4×4 values.
const identity = "3a34" + // graph
	"0a10" + "0a0178" + "120179" + "2208" + hexIdentity + // node: x, y, Identity
	"5a1b" + "0a0178" + "1216" + "0a14" + "0801" + "1210" + "0a020801" + "0a020803" + "0a020804" + "0a020804" + // x
	"62030a0179" // y

const hexIdentity = "4964656e74697479"

// TestIllustratePlaces: parts of a network's places lie in the middle squares of
// photographs, and there are no words.
func TestIllustratePlaces(t *testing.T) {
	model, err := hex.DecodeString(identity)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "identity.onnx")
	if err := os.WriteFile(file, model, 0o666); err != nil {
		t.Fatal(err)
	}
	text := "name: places\ndata: x\nfeatures: {network: {file: " + file + ", layer: y, places: true, mean: 0, scale: 255}}\nmethods: [nmf]\nclasses: 3\nseed: 1\n"
	set := photograph(t, 4)
	in := prepare(t, text, set, input.PrepareOptions{})
	if in.Places != (features.Cells{Rows: 4, Columns: 4}) {
		t.Fatalf("places %v", in.Places)
	}
	e, err := spec.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	e.Data.Set = set
	p, err := NewPlan(t.Context(), e, in)
	if err != nil {
		t.Fatal(err)
	}
	to := newKept()
	if _, err := p.Run(t.Context(), to, RunOptions{}); err != nil {
		t.Fatal(err)
	}
	shown, err := p.Illustrate(t.Context(), to.models(p))
	if err != nil {
		t.Fatal(err)
	}
	if len(shown.Photographs) != 12 || len(shown.Parts) != 1 || shown.TotalWords != 0 || shown.Words != nil {
		t.Fatalf("%d photographs, %d methods, %d words", len(shown.Photographs), len(shown.Parts), shown.TotalWords)
	}
	found := 0
	for _, patches := range shown.Parts[0].Patches {
		for _, patch := range patches {
			found++
			// The middle square of 80×70 pixels begins at 5.
			if patch.Side != 17.5 || patch.X < 5+8.25-1e-3 || patch.X > 75-9.25+1e-3 || patch.Y < 8.25-1e-3 || patch.Y > 70-9.25+1e-3 || !(patch.Share > 0.3 && patch.Share <= 1) {
				t.Fatalf("a patch %+v", patch)
			}
		}
	}
	if found == 0 {
		t.Error("no patches")
	}
}
