package pipeline

import (
	"encoding/binary"
	"image"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/files/cache"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

const cached = "{name: x, methods: [nmf], features: {sift: dense, words: 20, grid: 1x1}}"

// open opens the cache in a folder.
func open(t *testing.T, folder string) *cache.Store {
	t.Helper()
	store, err := cache.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// A cache that cannot write, and one that stores next to nothing, change no feature. The first reports one error.
func TestCacheThatKeepsNothing(t *testing.T) {
	set := photograph(t, 2)
	want := prepare(t, cached, set, input.PrepareOptions{})
	folder := t.TempDir()
	for i := range 256 { // files in the places of the folders
		if err := os.MkdirAll(folder, 0o777); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			if _, err := cache.Open(folder); err != nil {
				t.Fatal(err)
			}
		}
		name := filepath.Join(folder, string("0123456789abcdef"[i/16])+string("0123456789abcdef"[i%16]))
		if err := os.WriteFile(name, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var failures []error
	broken := open(t, folder)
	broken.Failed = func(err error) { failures = append(failures, err) }
	got := prepare(t, cached, set, input.PrepareOptions{Cache: broken})
	if len(failures) != 1 {
		t.Errorf("got %d failures, want 1: %v", len(failures), failures)
	}
	if !mat.Equal(got.X, want.X) {
		t.Error("without a cache the features differ")
	}
	little := open(t, t.TempDir())
	little.SetLimit(20_000)
	little.Failed = func(err error) { t.Error(err) }
	got = prepare(t, cached, set, input.PrepareOptions{Cache: little})
	if !mat.Equal(got.X, want.X) {
		t.Error("with a small cache the features differ")
	}
}

// A complete entry with an impossible content is computed again.
func TestCacheOfNonsense(t *testing.T) {
	set := photograph(t, 2)
	folder := t.TempDir()
	want := prepare(t, cached, set, input.PrepareOptions{Cache: open(t, folder)})
	store, err := cache.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	head := func(numbers ...uint32) (b []byte) {
		for _, n := range numbers {
			b = binary.LittleEndian.AppendUint32(b, n)
		}
		return b
	}
	keys := want.Bag.Keys(want.Rows)
	for _, nonsense := range [][]byte{
		head(1<<31, 1<<31, 10, 10),
		head(0xffffffff, 0xfffffff4, 10, 10),
		append(head(1, 128, 0, 0), make([]byte, 140)...), // of no image
		append(head(1, 4, 10, 10), make([]byte, 16)...),  // no SIFT
		append(head(1, 128, 10, 10), append(make([]byte, 128), 0, 0, 0xc0, 0x7f, 0, 0, 0, 0, 0, 0, 0, 0)...), // NaN
	} {
		if err := store.Clear(); err != nil {
			t.Fatal(err)
		}
		for _, key := range keys {
			store.Put(key, nonsense)
		}
		got := prepare(t, cached, set, input.PrepareOptions{Cache: open(t, folder)})
		if !mat.Equal(got.X, want.X) {
			t.Error("nonsense is used as descriptors")
		}
		if diff := cmp.Diff(want.Rows, got.Rows); diff != "" {
			t.Error(diff)
		}
	}
}

// The number of stored values of histograms is known without a cache. Entries longer than their headers say are
// computed again and do not count.
func TestCacheOfLongEntries(t *testing.T) {
	set := photograph(t, 2)
	folder := t.TempDir()
	want := prepare(t, cached, set, input.PrepareOptions{Cache: open(t, folder)})
	stored := want.Bag.Stored(want.Rows)
	if plain := prepare(t, cached, set, input.PrepareOptions{}); plain.Bag.Stored(plain.Rows) != stored || stored < 1 {
		t.Errorf("%v values are stored, and %v without a cache", stored, plain.Bag.Stored(plain.Rows))
	}
	entries, err := filepath.Glob(filepath.Join(folder, "*", "*.partwise"))
	if err != nil || len(entries) == 0 {
		t.Fatal(entries, err)
	}
	for _, damaged := range [][]string{entries, entries[:len(entries)/2]} {
		for _, entry := range damaged {
			if err := os.Truncate(entry, 1<<40); err != nil {
				t.Skip(err)
			}
		}
		got := prepare(t, cached, set, input.PrepareOptions{Cache: open(t, folder)})
		if !mat.Equal(got.X, want.X) || got.Bag.Stored(got.Rows) != stored {
			t.Error("the features differ")
		}
	}
}

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

// An image file is replaced while others are described, and restored before the next run. The first run fails with an
// error that names it. The second, with the first run's cache, has the result of a run with an empty cache.
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
	prepareWith := func(folder string, first func()) (*input.Inputs, error) {
		e, err := spec.Parse([]byte("{name: x, methods: [nmf], features: {sift: dense, words: 20, grid: 1x1}}"))
		if err != nil {
			t.Fatal(err)
		}
		e.Data.Set = set
		e.Features.Extractor, meddle = meddling{}, first
		e.Features.SkipBad = true // does not skip a file that changes
		return input.Prepare(t.Context(), e, input.PrepareOptions{Cache: open(t, folder)})
	}
	in, err := prepareWith(folder, func() { write(replacement) })
	if err == nil {
		in.Close()
		t.Error("one content is digested and another described, without a word")
	} else if !strings.Contains(err.Error(), victim) || !strings.Contains(err.Error(), "changed during the run") {
		t.Errorf("got error %v, want one that names the file", err)
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
		t.Error("the cache holds the features of the other content")
	}
}

// A picture shows the content from which features were computed, or is an error.
func TestChangedBeforeDrawing(t *testing.T) {
	for _, text := range []string{
		"{name: x, methods: [nmf], features: {pixels: 8}}",
		"{name: x, methods: [nmf], features: {hog: true}}",
		"{name: x, methods: [nmf], features: {sift: dense, words: 20, grid: 1x1}}",
	} {
		set := photograph(t, 3)
		in := prepare(t, text, set, input.PrepareOptions{})
		if _, err := in.Images.Open(t.Context(), in.Rows[0]); err != nil {
			t.Fatal(err)
		}
		path := in.Set.Files[in.Rows[0]]
		writePNG(t, path, image.NewGray(image.Rect(0, 0, 80, 70)))
		if _, err := in.Images.Open(t.Context(), in.Rows[0]); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "changed during the run") {
			t.Errorf("%s: got %v, want an error that names the file", text, err)
		}
	}
}
