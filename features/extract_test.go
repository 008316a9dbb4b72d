package features

import (
	"context"
	"errors"
	"image"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/imagefile"
	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/sparse"
	"github.com/seed4492f2cd/partwise/internal/testkit"
)

// TestSamplePanics checks that a panic in a goroutine is the error of its sample.
func TestSamplePanics(t *testing.T) {
	set := vectorSet(mat.NewDense(3, 1, []float64{1, 2, 3}), 0, 0)
	err := (&source{set: set}).eachUsable(t.Context(), make([]error, 3), func(i int) error {
		if i == 1 {
			panic("fault")
		}
		return nil
	})
	if err == nil || !strings.HasPrefix(err.Error(), set.Names[1]+": ") || !strings.Contains(err.Error(), "fault") {
		t.Errorf("got %v", err)
	}
}

// brightness extracts one value, the mean grey times a weight. The weight is not a setting.
type brightness struct{}

var (
	brightnessWeight       = "1"
	brightnessMemory int64 = 1
)

func (brightness) Label() string { return "brightness" }

func (brightness) Rows(context.Context, *datasets.Set) (*Rows, error) {
	weight, err := strconv.ParseFloat(brightnessWeight, 64)
	return &Rows{
		Height: 8, Width: 8, Channels: 1, Columns: 1, Memory: brightnessMemory, Digest: brightnessWeight,
		Fill: func(row []float64, img *Canvas) error {
			row[0] = weight * stat.Mean(img.Values, nil)
			return nil
		},
	}, err
}

// TestRowsOfAnExtractor checks that the cache key contains everything that rows depend on besides settings, and that the
// budget counts the memory of filling a row.
func TestRowsOfAnExtractor(t *testing.T) {
	own := extractors
	t.Cleanup(func() { extractors, brightnessWeight, brightnessMemory = own, "1", 1 })
	extractors = append(Extractors(), Info{Name: "brightness", Cached: true, Zero: brightness{}})
	set := fileSet(t, grey(20, 30, func(int, int) float64 { return 0.5 }))
	kept := &memoryCache{}
	for i, weight := range []string{"1", "3", "1"} {
		brightnessWeight = weight
		want, _ := strconv.ParseFloat(weight, 64)
		out := extract(t, brightness{}, set, Options{Cache: kept, Normalise: NormNone})
		if got := out.X.At(0, 0); math.Abs(got-want/2) > 1e-4 {
			t.Errorf("run %d: weight %s gives %v", i, weight, got)
		}
	}
	if len(kept.entries) != 2 {
		t.Errorf("%d rows in the cache, want one for each weight", len(kept.entries))
	}
	budget := memory.NewContext(t.Context(), memory.New(memory.Least))
	for _, test := range []struct {
		memory int64
		fits   bool
	}{{memory.Least / 8, true}, {memory.Least, false}} {
		brightnessMemory = test.memory
		_, err := Extract(budget, set, brightness{}, Options{})
		var tooLarge *memory.LimitError
		if errors.As(err, &tooLarge) == test.fits || (err == nil) != test.fits {
			t.Errorf("with %d bytes for a row: %v", test.memory, err)
		}
	}
}

// TestInBlocks checks that rows in blocks equal rows computed at once, for image files, vectors in memory and vectors in
// a file.
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
		set, err := datasets.Open(t.Context(), path, datasets.OpenOptions{OnDisk: onDisk})
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
		"files":   {files, files, Pixels{Size: Size{Height: 4, Width: 5}}, Options{}},
		"hog":     {files, files, HOG{}, Options{Normalise: NormL1}},
		"memory":  {open(false), open(false), Pixels{}, Options{}},
		"file":    {open(true), open(false), Pixels{}, Options{Normalise: NormNone}},
		"resized": {open(true), open(false), Pixels{Size: Size{Height: 2, Width: 2}}, Options{Crop: Square{}}},
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
		t.Error("blocks skip unusable vectors, want an error")
	}
	b, err = InBlocks(t.Context(), files, Pixels{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Read(t.Context(), 3, mat.NewDense(4, 32*32, nil)); err == nil || !strings.Contains(err.Error(), filepath.Base(files.Files[5])) {
		t.Errorf("of a file that is no image: %v", err)
	}
}

// TestReducedRows checks that reducing a large image first hardly changes its features, and does not change them for
// small images and crops in pixels.
func TestReducedRows(t *testing.T) {
	testkit.Slow(t)
	waves := func(width, height int) image.Image {
		img := image.NewYCbCr(image.Rect(0, 0, width, height), image.YCbCrSubsampleRatio420)
		for y := range height {
			for x := range width {
				u, v := float64(x)/float64(width), float64(y)/float64(height)
				img.Y[img.YOffset(x, y)] = uint8(128 + 60*math.Sin(60*u*v) + 40*math.Sin(200*u+30*v) + float64((x*7^y*13)%23))
				img.Cb[img.COffset(x, y)], img.Cr[img.COffset(x, y)] = uint8(128+70*math.Sin(20*u)), uint8(128+70*math.Cos(15*v))
			}
		}
		return img
	}
	large, small := waves(1931, 1203), waves(900, 700)
	for _, by := range []RowExtractor{Pixels{Colour: true}, ColourHistogram{}, HOG{}} {
		rows, err := by.Rows(t.Context(), &datasets.Set{Files: []string{"a"}})
		if err != nil {
			t.Fatal(err)
		}
		for _, crop := range []Crop{Whole{}, Square{}, Box{100, 100, 600, 500}} {
			for _, img := range []image.Image{large, small} {
				n := rows.Columns
				if rows.Fill == nil {
					n = rows.Height * rows.Width * rows.Channels
				}
				x, y := make([]float64, n), make([]float64, n)
				reduced := img
				if least := rows.least(crop); least > 0 {
					reduced = imagefile.Reduced(img, least)
				}
				if err := rows.compute(x, img, crop, "a"); err != nil {
					t.Fatal(err)
				}
				if err := rows.compute(y, reduced, crop, "a"); err != nil {
					t.Fatal(err)
				}
				_, isBox := crop.(Box)
				if same := img == small || isBox; same != (reduced == img) {
					t.Errorf("%s of %T: an image of %v became one of %v", by.Label(), crop, img.Bounds(), reduced.Bounds())
				}
				if cosine := floats.Dot(x, y) / floats.Norm(x, 2) / floats.Norm(y, 2); cosine < 0.999 {
					t.Errorf("%s of %T: cosine %v", by.Label(), crop, cosine)
				}
			}
		}
	}
}

func TestNorm(t *testing.T) {
	for _, test := range []struct {
		name string
		want []float64 // of (3, 0, -4)
	}{
		{"l2", []float64{0.6, 0, -0.8}},
		{"L1", []float64{3.0 / 7, 0, -4.0 / 7}},
		{"max", []float64{0.75, 0, -1}},
		{"none", []float64{3, 0, -4}},
	} {
		var norm Norm
		if err := norm.UnmarshalText([]byte(test.name)); err != nil || norm.String() != strings.ToLower(test.name) {
			t.Fatalf("%s: %v", test.name, norm)
		}
		got := []float64{3, 0, -4}
		if err := norm.apply(got, 0, nil); err != nil || !floats.EqualApprox(got, test.want, 1e-15) {
			t.Errorf("%v: %v, %v, want %v", norm, got, err, test.want)
		}
		if err := norm.apply([]float64{0, 0}, 0, nil); err == nil || !strings.Contains(err.Error(), "zero") {
			t.Errorf("%v of zeros: error %v", norm, err)
		}
		if err := norm.apply([]float64{1, math.Inf(-1)}, 0, []int{5, 7}); err == nil || !strings.Contains(err.Error(), "column 8: value -Inf is not finite") {
			t.Errorf("%v of -Inf: error %v", norm, err)
		}
		for _, extreme := range []float64{math.MaxFloat64, 5e-324} {
			values := []float64{extreme, extreme, 0}
			if err := norm.apply(values, 0, nil); err != nil {
				continue
			}
			for _, v := range values {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Errorf("%v of %v: %v", norm, extreme, values)
				}
			}
		}
	}
	var zero Norm
	if zero != NormL2 {
		t.Errorf("the zero value is %v", zero)
	}
	if err := zero.UnmarshalText([]byte("l3")); err == nil || !strings.Contains(err.Error(), `"l3"`) || !strings.Contains(err.Error(), "did you mean l1 or l2") {
		t.Errorf("l3: error %v", err)
	}
}

// TestPower checks that the square roots of values with sum 1 have unit length, and that a negative value is an error
// with its column.
func TestPower(t *testing.T) {
	x := mat.NewDense(2, 3, []float64{1, 4, 0, 9, 0, 16})
	set := &datasets.Set{Name: "s", Names: []string{"a", "b"}, Vectors: x}
	m, err := Extract(t.Context(), set, Pixels{}, Options{Power: 0.5})
	if want := mat.NewDense(2, 3, []float64{math.Sqrt(0.2), math.Sqrt(0.8), 0, 0.6, 0, 0.8}); err != nil || !mat.EqualApprox(m.X, want, 1e-15) {
		t.Errorf("%v, error %v, want %v", m, err, want)
	}
	sparsely := *set
	if sparsely.Vectors, err = sparse.New(2, 3, []int{0, 2, 4}, []int{0, 1, 0, 2}, []float64{1, 4, 9, 16}); err != nil {
		t.Fatal(err)
	}
	for _, norm := range []Norm{NormL2, NormNone} {
		dense, err1 := Extract(t.Context(), set, Pixels{}, Options{Power: 0.25, Normalise: norm})
		other, err2 := Extract(t.Context(), &sparsely, Pixels{}, Options{Power: 0.25, Normalise: norm})
		if err1 != nil || err2 != nil || !mat.EqualApprox(dense.X, other.X, 1e-15) {
			t.Errorf("%v: sparse %v, dense %v, errors %v, %v", norm, other, dense, err1, err2)
		}
	}
	if mat.Sum(x) != 30 || mat.Sum(sparsely.Vectors) != 30 {
		t.Error("the set's vectors have changed")
	}
	x.Set(1, 1, -3)
	if _, err := Extract(t.Context(), set, Pixels{}, Options{Power: 0.5}); err == nil || !strings.Contains(err.Error(), "b: column 2: value -3, but power needs values of 0 or more") {
		t.Errorf("the root of -3: error %v", err)
	}
	for _, power := range []float64{-1, 1.5, math.NaN()} {
		if _, err := Extract(t.Context(), set, Pixels{}, Options{Power: power}); err == nil || !strings.Contains(err.Error(), "expected above 0 and at most 1") {
			t.Errorf("a power of %v: error %v", power, err)
		}
	}
}
