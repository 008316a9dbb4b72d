package datasets

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/datasets/imagefile"
	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
	limits "github.com/seed4492f2cd/partwise/internal/memory"
)

// greyPNG writes an image of one grey value.
func greyPNG(t *testing.T, path string, side int, grey uint8) {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, side, side))
	for i := range img.Pix {
		img.Pix[i] = grey
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}

// A file that changed since its first read is an error, whichever method read it first.
func TestImagesChanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.png")
	set := &Set{Name: "x", Names: []string{"a.png"}, Files: []string{path}}
	open := func(im *Images) error { _, err := im.Open(t.Context(), 0); return err }
	sum := func(im *Images) error { _, err := im.Sum(0); return err }
	for _, first := range []func(*Images) error{open, sum} {
		for _, second := range []func(*Images) error{open, sum} {
			im := set.Images()
			greyPNG(t, path, 20, 1)
			if err := errors.Join(first(im), second(im)); err != nil {
				t.Fatal(err)
			}
			greyPNG(t, path, 20, 2)
			if err := second(im); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "changed during the run") {
				t.Errorf("another content: %v", err)
			}
			greyPNG(t, path, 20, 1)
			if err := second(im); err != nil {
				t.Errorf("the first content again: %v", err)
			}
		}
	}
}

// If a file is replaced between reading and decoding, the decoded image is the digested one; if the file must be read
// again, the change is an error.
func TestImagesReplacedMeanwhile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.png")
	set := &Set{Name: "x", Names: []string{"a.png"}, Files: []string{path}}
	budget := limits.New(limits.Least)
	ctx := limits.NewContext(t.Context(), budget)
	for _, full := range []bool{false, true} {
		greyPNG(t, path, 20, 1)
		var grey uint8
		err := set.Images().With(ctx, 0, imagefile.Use{Memory: func(_, _ int) int64 {
			greyPNG(t, path, 20, 2)
			if full {
				share, ok := budget.TryAcquire(budget.Free() - 1000)
				if !ok {
					t.Error("the budget is in use")
				}
				go share()
			}
			return 2000
		}, Do: func(img image.Image, _ image.Point) error {
			grey = img.At(0, 0).(color.Gray).Y
			return nil
		}})
		switch {
		case grey == 2:
			t.Error("an image was decoded from another content than was digested")
		case !full && (err != nil || grey != 1):
			t.Errorf("got grey %d, error %v; want grey 1 from the content that was read", grey, err)
		}
		if full && err != nil && !strings.Contains(err.Error(), "changed during the run") {
			t.Error(err)
		}
	}
}

func TestImagesWithinBudget(t *testing.T) {
	dir := t.TempDir()
	set := &Set{Name: "x"}
	for i := range 8 {
		path := filepath.Join(dir, string(rune('a'+i))+".png")
		greyPNG(t, path, 100, uint8(i))
		set.Names, set.Files = append(set.Names, filepath.Base(path)), append(set.Files, path)
	}
	budget := limits.New(limits.Least)
	ctx := limits.NewContext(t.Context(), budget)
	im := set.Images()
	// Each takes more than half of the memory.
	more := func(width, height int) int64 {
		if width != 100 || height != 100 {
			t.Errorf("an image of %d×%d, want 100×100", width, height)
		}
		return budget.Free()*3/5 - 300_000
	}
	var inWork, most atomic.Int64
	errs := make(chan error)
	for i := range set.Files {
		go func() {
			errs <- im.With(ctx, i, imagefile.Use{Memory: more, Do: func(image.Image, image.Point) error {
				most.Store(max(most.Load(), inWork.Add(1)))
				inWork.Add(-1)
				return nil
			}})
		}()
	}
	for range set.Files {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if most.Load() != 1 {
		t.Errorf("%d images in work at once, and the budget is enough for one", most.Load())
	}
	var e *limits.LimitError
	err := im.With(ctx, 3, imagefile.Use{Memory: func(_, _ int) int64 { return budget.Free() }, Do: func(image.Image, image.Point) error { return nil }})
	if !errors.As(err, &e) || !strings.Contains(err.Error(), "d.png") || !strings.Contains(err.Error(), "100×100") {
		t.Errorf("an image above the budget: %v", err)
	}
	stop := errors.New("stop")
	if err := im.With(ctx, 3, imagefile.Use{Do: func(image.Image, image.Point) error { return stop }}); err != stop {
		t.Errorf("got %v, want the error of use", err)
	}
	if release, err := budget.Acquire(ctx, budget.Free(), "all"); err != nil {
		t.Error(err)
	} else {
		release()
	}
}

// countingMatrix counts the calls of At.
type countingMatrix struct {
	*mat.Dense
	asked *int
}

func (c countingMatrix) At(i, j int) float64 {
	*c.asked++
	return c.Dense.At(i, j)
}

// The range of values is computed once, not for each sample.
func TestImagesOfVectorsAskOnce(t *testing.T) {
	const n, side = 50, 4
	var asked int
	set := vectorSet(n, side*side, side, side, make([]float64, n*side*side)...)
	set.Vectors = countingMatrix{mat.DenseCopyOf(set.Vectors), &asked}
	im := set.Images()
	for i := range n {
		if _, err := im.Sum(i); err != nil {
			t.Fatal(err)
		}
		if _, err := im.Open(t.Context(), i); err != nil {
			t.Fatal(err)
		}
	}
	if most := 3 * n * side * side; asked > most {
		t.Errorf("%d values are read, want at most %d for the range, the sums and the images", asked, most)
	}
}

func vectorSet(n, m, height, width int, values ...float64) *Set {
	s := &Set{Name: "vectors", Vectors: mat.NewDense(n, m, values), Height: height, Width: width}
	for i := range n {
		s.Names = append(s.Names, fmt.Sprintf("v.csv row %d", i+1))
		s.Labels = append(s.Labels, -1)
	}
	return s
}

func TestImageOfVector(t *testing.T) {
	for _, test := range []struct {
		name   string
		values []float64
		want   []uint16 // of sample 1
	}{
		{"0 to 1", []float64{0, 1, 0.5, 0.1, 0, 1, 0.5, 0.25}, []uint16{0, 0xffff, 0x8000, 0x4000}},
		{"dark 0 to 1", []float64{0, 0, 0, 0.5, 0, 0, 0, 0.5}, []uint16{0, 0, 0, 0x8000}},
		{"0 to 255", []float64{0, 2, 0, 0, 0, 255, 1, 100}, []uint16{0, 0xffff, 257, 25700}},
		{"other", []float64{-2, 0, 0, 0, 0, 2, -1, 1}, []uint16{0x8000, 0xffff, 0x4000, 0xbfff}},
		{"over 255", []float64{510, 510, 510, 510, 510, 255, 510, 510}, []uint16{0xffff, 0x8000, 0xffff, 0xffff}},
	} {
		img, err := vectorSet(2, 4, 2, 2, test.values...).Image(1)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range test.want {
			if got := color.Gray16Model.Convert(img.At(i%2, i/2)).(color.Gray16).Y; got != want {
				t.Errorf("%s: pixel %d is %#x, want %#x", test.name, i, got, want)
			}
		}
	}
	if b, w := (&Set{Vectors: vectorfile.NewBytes(1, 3, []uint8{0, 1, 1})}).ValueRange(); b != 0 || w != 1 {
		t.Errorf("bytes 0 and 1: range %v to %v", b, w)
	}
	if b, w := (&Set{Vectors: vectorfile.NewBytes(1, 3, []uint8{0, 2, 1})}).ValueRange(); b != 0 || w != 255 {
		t.Errorf("bytes 0 to 2: range %v to %v", b, w)
	}

	if _, err := vectorSet(1, 4, 2, 2, 0, math.NaN(), 1, 1).Image(0); err == nil || !strings.Contains(err.Error(), "v.csv row 1: column 2") {
		t.Errorf("NaN: error %v", err)
	}
	if _, err := vectorSet(1, 2, 0, 0, 0, 1).Image(0); err == nil || !strings.Contains(err.Error(), "v.csv row 1") {
		t.Errorf("no images: error %v", err)
	}
}
