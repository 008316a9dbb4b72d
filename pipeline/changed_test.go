package pipeline

import (
	"image"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed4492f2cd/partwise/features"
)

// meddling describes patches, and calls meddle, once, before it describes the
// first image.
type meddling struct{ features.DenseSIFT }

var meddle func()

func (m meddling) Extract(img image.Image) (*features.Descriptors, error) {
	if f := meddle; f != nil {
		meddle = nil
		f()
	}
	return m.DenseSIFT.Extract(img)
}

// An image file that is replaced while others are described, and put back before
// the next run: the first run ends with an error that names it, and the second,
// with the cache of the first, has what a run with an empty cache has.
func TestChangedDuringRun(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // one image after another
	set := photograph(t, 3)
	victim, other := filepath.Join(set, "slanting", "02.png"), filepath.Join(set, "across", "00.png")
	original, err := os.ReadFile(victim)
	if err != nil {
		t.Fatal(err)
	}
	replacement, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	write := func(content []byte) {
		if err := os.WriteFile(victim, content, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	folder := t.TempDir()
	prepareWith := func(folder string, first func()) (*Inputs, error) {
		e, err := Parse([]byte("{name: x, methods: [nmf], features: {sift: dense, words: 20, grid: 1x1}}"))
		if err != nil {
			t.Fatal(err)
		}
		e.Data.Set = set
		e.Features.Extractor, meddle = meddling{}, first
		e.Features.SkipBad = true // which does not leave out an image that changes
		return Prepare(t.Context(), e, PrepareOptions{Cache: open(t, folder)})
	}
	in, err := prepareWith(folder, func() { write(replacement) })
	if err == nil {
		in.Close()
		t.Error("one content is digested and another described, without a word")
	} else if !strings.Contains(err.Error(), victim) || !strings.Contains(err.Error(), "changed during the run") {
		t.Errorf("error %v, want one that names the file", err)
	}
	write(original)
	matrix := func(folder string) any {
		in, err := prepareWith(folder, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		b, err := in.X.(interface{ AppendBinary([]byte) ([]byte, error) }).AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	if diff := cmp.Diff(matrix(t.TempDir()), matrix(folder)); diff != "" {
		t.Error("the cache holds what was made of the other content")
	}
}

// What is drawn of a file is what was made features of, or an error.
func TestChangedBeforeDrawing(t *testing.T) {
	for _, text := range []string{
		"{name: x, methods: [nmf], features: {pixels: 8}}",
		"{name: x, methods: [nmf], features: {hog: true}}",
		"{name: x, methods: [nmf], features: {sift: dense, words: 20, grid: 1x1}}",
	} {
		set := photograph(t, 3)
		in := prepare(t, text, set, PrepareOptions{})
		if _, err := in.Image(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		path := in.Set.Files[in.Rows[0]]
		writePNG(t, path, image.NewGray(image.Rect(0, 0, 80, 70)))
		if _, err := in.Image(t.Context(), 0); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "changed during the run") {
			t.Errorf("%s: %v, want an error that names the file", text, err)
		}
	}
}
