package features

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// plain is an image of one colour.
func plain(side int, c color.Color) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, side, side))
	for p := range side * side {
		img.Set(p%side, p/side, c)
	}
	return img
}

// row returns the only row that an extractor makes of an image.
func row(t *testing.T, by RowExtractor, img image.Image, opt Options) []float64 {
	t.Helper()
	return mat.Row(nil, 0, extract(t, by, fileSet(t, img), opt).X)
}

// Colours in the middle of bins are counted there and nowhere else, and one between
// bins is shared.
func TestColourHistogramOfOneColour(t *testing.T) {
	for name, test := range map[string]struct {
		colour color.Color
		bins   map[int]float64 // (hue·3 + saturation)·3 + value
	}{
		"red":        {color.NRGBA{255, 0, 0, 255}, map[int]float64{0*9 + 8: 1}},
		"blue":       {color.NRGBA{0, 0, 255, 255}, map[int]float64{5*9 + 8: 2. / 3, 6*9 + 8: 1. / 3}}, // 2/3 of 8 is 5 1/3
		"dark red":   {color.NRGBA64{0x8000, 0, 0, 0xffff}, map[int]float64{0*9 + 7: 1}},
		"chartreuse": {color.NRGBA64{0x8000, 0xffff, 0, 0xffff}, map[int]float64{2*9 + 8: 1}},
		"white":      {color.White, map[int]float64{2: 1}},
		"black":      {color.Black, map[int]float64{0: 1}},
		"light red":  {color.NRGBA64{0xffff, 0x8000, 0x8000, 0xffff}, map[int]float64{0*9 + 5: 1}},
	} {
		want := make([]float64, 72)
		for bin, share := range test.bins {
			want[bin] = share
		}
		got := row(t, ColourHistogram{}, plain(20, test.colour), Options{Normalise: NormNone})
		for j := range got {
			got[j] *= got[j]
		}
		if !floats.EqualApprox(got, want, 5e-3) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// The histogram of a cell is that of the image that a box cuts out, squares add up
// to 1 in each, a mirrored image has mirrored cells, and whoever turns the hues by one
// bin turns the histogram.
func TestColourHistogramProperties(t *testing.T) {
	img := colours(128, 128)
	h := ColourHistogram{Grid: Cells{2, 3}, Hues: 6, Saturations: 2, Values: 4}
	const bins = 6 * 2 * 4
	whole := row(t, h, img, Options{Normalise: NormNone})
	if len(whole) != 6*bins {
		t.Fatalf("%d values", len(whole))
	}
	for cell := range slices.Chunk(whole, bins) {
		if sum := floats.Dot(cell, cell); math.Abs(sum-1) > 1e-12 || floats.Min(cell) < 0 {
			t.Errorf("the squares of a cell add up to %v", sum)
		}
	}
	halves := row(t, ColourHistogram{Grid: Cells{2, 1}}, img, Options{Normalise: NormNone})
	upper := row(t, ColourHistogram{}, img.SubImage(image.Rect(0, 0, 128, 64)), Options{Normalise: NormNone})
	// The upper half, enlarged to the same size, is smoother.
	if cosine := floats.Dot(halves[:72], upper); cosine < 0.98 {
		t.Errorf("the cosine of a cell with its part of the image is %v", cosine)
	}
	if other := floats.Dot(halves[72:], upper); other > floats.Dot(halves[:72], upper) {
		t.Errorf("the other cell is nearer: %v", other)
	}
	mirrored, shifted := image.NewNRGBA(image.Rect(0, 0, 128, 128)), image.NewNRGBA(image.Rect(0, 0, 128, 128))
	for p := range 128 * 128 {
		x, y := p%128, p/128
		r, g, b, _ := img.At(x, y).RGBA()
		mirrored.Set(127-x, y, img.At(x, y))
		shifted.Set(x, y, color.NRGBA64{uint16(b), uint16(r), uint16(g), 0xffff}) // by a third of the circle
	}
	flipped := row(t, h, mirrored, Options{Normalise: NormNone})
	turned := row(t, h, shifted, Options{Normalise: NormNone})
	for j, want := range whole {
		cell, bin := j/bins, j%bins
		if got := flipped[(cell/3*3+2-cell%3)*bins+bin]; math.Abs(got-want) > 0.15 {
			t.Fatalf("value %d is %v and mirrored %v", j, want, got)
		}
		if got := turned[cell*bins+(bin+2*8)%bins]; math.Abs(got-want) > 1e-6 {
			t.Fatalf("value %d is %v and with other hues %v", j, want, got)
		}
	}
}

// Rows are kept under the image, the settings and the crop, and are the same from the
// cache.
func TestRowsAreKept(t *testing.T) {
	set := fileSet(t, colours(30, 40), colours(50, 20), waves(30, 30, 1))
	kept := &memoryCache{}
	entries := 0
	for _, test := range []struct {
		h     ColourHistogram
		opt   Options
		added int
	}{
		{ColourHistogram{}, Options{}, 3},
		{ColourHistogram{}, Options{Normalise: NormL1}, 0},
		{ColourHistogram{Grid: Cells{2, 2}}, Options{}, 3},
		{ColourHistogram{}, Options{Crop: Square{}}, 3},
		{ColourHistogram{}, Options{Crop: Box{0, 0, 9, 9}}, 3},
		{ColourHistogram{}, Options{Crop: Box{0, 0, 9, 8}}, 3},
	} {
		want := extract(t, test.h, set, test.opt)
		test.opt.Cache = kept
		for range 2 {
			if got := extract(t, test.h, set, test.opt); !mat.Equal(got.X, want.X) {
				t.Errorf("%+v: other rows with a cache", test)
			}
		}
		if got := len(kept.entries) - entries; got != test.added {
			t.Errorf("%+v: %d rows were added, want %d", test, got, test.added)
		}
		entries = len(kept.entries)
	}
	// What is in the cache is taken, if it can be a row.
	for key := range kept.entries {
		kept.entries[key] = appendRow(nil, slices.Repeat([]float64{1}, 72))
	}
	if got := extract(t, ColourHistogram{}, set, Options{Cache: kept, Normalise: NormNone}); got.X.At(1, 5) != 1 {
		t.Error("the cache is not read")
	}
	for key := range kept.entries {
		kept.entries[key] = []byte("no row")
	}
	if got := extract(t, ColourHistogram{}, set, Options{Cache: kept}); !mat.Equal(got.X, extract(t, ColourHistogram{}, set, Options{}).X) {
		t.Error("what is no row is taken for one")
	}
	// Pixels are faster to make than to keep.
	before := len(kept.entries)
	if extract(t, Pixels{}, set, Options{Cache: kept}); len(kept.entries) != before {
		t.Error("pixels are kept")
	}
	// An image that changes is no image of the cache.
	images := set.Images()
	if _, err := images.Sum(0); err != nil {
		t.Fatal(err)
	}
	other, err := os.ReadFile(set.Files[1])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(set.Files[0], other, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Extract(t.Context(), set, ColourHistogram{}, Options{Cache: kept, Images: images}); err == nil || !strings.Contains(err.Error(), "changed during the run") {
		t.Errorf("an image that changes: %v", err)
	}
}

func TestColourHistogramErrors(t *testing.T) {
	set := fileSet(t, colours(20, 20))
	for _, test := range []struct {
		h    ColourHistogram
		want string
	}{
		{ColourHistogram{Hues: -1}, "at least 1"},
		{ColourHistogram{Grid: Cells{65, 1}}, "at most 64×64 cells"},
		{ColourHistogram{Hues: 1 << 40, Saturations: 1 << 40}, "at most 1048576 values"},
		{ColourHistogram{Grid: Cells{64, 64}, Hues: 360}, "at most 1048576 values"},
	} {
		if _, err := Extract(t.Context(), set, test.h, Options{}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: error %v, want one with %q", test.h, err, test.want)
		}
	}
	if _, err := Extract(t.Context(), vectorSet(mat.NewDense(1, 4, []float64{1, 2, 3, 4}), 2, 2), ColourHistogram{}, Options{}); err == nil || !strings.Contains(err.Error(), "are grey") {
		t.Errorf("grey vectors: %v", err)
	}
	for _, text := range []string{"2", "0x2", "2x", "65x1", "axb", "2x2x2"} {
		if err := new(Cells).UnmarshalText([]byte(text)); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q is no grid", text)) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
