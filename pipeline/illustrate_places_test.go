package pipeline

import (
	"encoding/hex"
	"image"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/features"
)

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
	in := prepare(t, text, set, PrepareOptions{})
	if in.places != (features.Cells{Rows: 4, Columns: 4}) {
		t.Fatalf("places %v", in.places)
	}
	e, err := Parse([]byte(text))
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

// TestPartsAt has four places of two values each.
func TestPartsAt(t *testing.T) {
	basis := mat.NewDense(8, 2, []float64{
		3, 1, // upper left
		0, 1,
		1, 1, // upper right: as much of the one as of the other
		1, 1,
		2, 0, // lower left: the photograph has nothing there
		2, 0,
		0, 1, // lower right
		9, 2,
	})
	x := []float64{2, 0, 1, 1, 0, 0, 1, 0}
	// Of the first place the parts have 1·6 and 2·2, of the second 2 and 4, of the last 0 and 2.
	got := partsAt(features.Cells{Rows: 2, Columns: 2}, image.Rect(10, 0, 30, 20), x, basis, []float64{1, 2})
	want := []Patch{
		{X: 14.5, Y: 4.5, Side: 10, Part: 0, Share: 0.6},
		{X: 24.5, Y: 4.5, Side: 10, Part: 1, Share: 4. / 6},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := partsAt(features.Cells{Rows: 2, Columns: 2}, image.Rectangle{}, x, basis, []float64{1, 2}); got != nil {
		t.Errorf("%v of no part of the image", got)
	}
	if got := partsAt(features.Cells{Rows: 2, Columns: 2}, image.Rect(0, 0, 9, 9), x, basis, []float64{0, 0}); got != nil {
		t.Errorf("%v of parts that are not used", got)
	}
}
