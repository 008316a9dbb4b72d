package features

import (
	"image"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
)

// TestInBlocks: rows that are made a few at a time are those that are made at once, of
// image files, of vectors in memory and of a file.
func TestInBlocks(t *testing.T) {
	idx := []byte{0, 0, 8, 3, 0, 0, 0, 9, 0, 0, 0, 4, 0, 0, 0, 4}
	for i := range 9 * 16 {
		idx = append(idx, byte(i*7+1))
	}
	path := filepath.Join(t.TempDir(), "images-idx3")
	if err := os.WriteFile(path, idx, 0o666); err != nil {
		t.Fatal(err)
	}
	open := func(onDisk bool) *datasets.Set {
		set, err := datasets.Open(t.Context(), path, datasets.OpenOptions{Vectors: vectorfile.Options{OnDisk: onDisk}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { set.Close() })
		return set
	}
	var images []image.Image
	for i := range 9 {
		images = append(images, waves(12, 10, float64(i)))
	}
	files := fileSet(t, images...)
	for name, c := range map[string]struct {
		set, whole *datasets.Set
		by         RowExtractor
		opt        Options
	}{
		"files":   {files, files, Pixels{Size: Size{4, 5}}, Options{}},
		"hog":     {files, files, HOG{}, Options{Normalise: NormL1}},
		"memory":  {open(false), open(false), Pixels{}, Options{}},
		"file":    {open(true), open(false), Pixels{}, Options{Normalise: NormNone}},
		"resized": {open(true), open(false), Pixels{Size: Size{2, 2}}, Options{Crop: Square{}}},
	} {
		want := extract(t, c.by, c.whole, c.opt)
		b, err := InBlocks(t.Context(), c.set, c.by, c.opt)
		if err != nil {
			t.Fatal(err)
		}
		n, m := b.Dims()
		if b.Height != want.Height || b.Width != want.Width || b.Channels != want.Channels {
			t.Errorf("%s: rows are images of %d×%d×%d", name, b.Channels, b.Height, b.Width)
		}
		for _, step := range []int{1, 4, 9} {
			got := mat.NewDense(n, m, nil)
			got.Apply(func(int, int, float64) float64 { return 99 }, got) // what a block held before
			for from := 0; from < n; from += step {
				if err := b.Read(t.Context(), from, got.Slice(from, min(from+step, n), 0, m).(*mat.Dense)); err != nil {
					t.Fatal(err)
				}
			}
			if !mat.Equal(got, want.X) {
				t.Errorf("%s: other rows in steps of %d", name, step)
			}
		}
	}
	if err := os.WriteFile(files.Files[5], []byte("no image"), 0o666); err != nil {
		t.Fatal(err)
	}
	want, err := Extract(t.Context(), files, Pixels{}, Options{SkipBad: true})
	if err != nil {
		t.Fatal(err)
	}
	b, err := InBlocks(t.Context(), files, Pixels{}, Options{SkipBad: true})
	if err != nil {
		t.Fatal(err)
	}
	n, m := b.Dims()
	got := mat.NewDense(n, m, nil)
	if err := b.Read(t.Context(), 0, got); err != nil || !mat.Equal(got, want.X) || !slices.Equal(b.Rows, want.Rows) || len(b.Skipped) != 1 {
		t.Errorf("rows %v without %v, error %v", b.Rows, b.Skipped, err)
	}
	if _, err := InBlocks(t.Context(), &datasets.Set{Name: "v", Names: []string{"a"}, Vectors: mat.NewDense(1, 2, nil)}, Pixels{}, Options{SkipBad: true}); err == nil {
		t.Error("vectors that cannot be used are to be skipped in blocks")
	}
	b, err = InBlocks(t.Context(), files, Pixels{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Read(t.Context(), 3, mat.NewDense(4, 32*32, nil)); err == nil || !strings.Contains(err.Error(), filepath.Base(files.Files[5])) {
		t.Errorf("of a file that is no image: %v", err)
	}
}
