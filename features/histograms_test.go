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

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/imagefile"
	"github.com/seed4492f2cd/partwise/internal/rng"
)

// plain returns an image of one colour.
func plain(side int, c color.Color) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, side, side))
	for p := range side * side {
		img.Set(p%side, p/side, c)
	}
	return img
}

// row returns the only row that an extractor computes for an image.
func row(t *testing.T, by RowExtractor, img image.Image, opt Options) []float64 {
	t.Helper()
	return mat.Row(nil, 0, extract(t, by, fileSet(t, img), opt).X)
}

// A colour in the middle of a bin counts in this bin only, and a colour between bins in both.
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
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}

// The histogram of a cell equals the histogram of the cropped cell, and its squares sum to 1. A mirrored image has
// mirrored cells, and a rotation of the hues by one bin rotates the histogram.
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

// The cache key of a row contains the image, the settings and the crop, and cached rows are unchanged.
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
	// Cached entries are used if they are valid rows.
	for key := range kept.entries {
		kept.entries[key] = slices.Repeat([]byte{0, 0, 0, 0, 0, 0, 0xf0, 0x3f}, 72)
	}
	if got := extract(t, ColourHistogram{}, set, Options{Cache: kept, Normalise: NormNone}); got.X.At(1, 5) != 1 {
		t.Error("the cache is not read")
	}
	for key := range kept.entries {
		kept.entries[key] = []byte("no row")
	}
	if got := extract(t, ColourHistogram{}, set, Options{Cache: kept}); !mat.Equal(got.X, extract(t, ColourHistogram{}, set, Options{}).X) {
		t.Error("an invalid cache entry is used")
	}
	// Pixels are not cached, because they are faster to compute than to read.
	before := len(kept.entries)
	if extract(t, Pixels{}, set, Options{Cache: kept}); len(kept.entries) != before {
		t.Error("pixels are kept")
	}
	// A changed image does not use the cached row.
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
		{ColourHistogram{Hues: -1}, "hues: expected"},
		{ColourHistogram{Grid: Cells{65, 1}}, "at most 64x64"},
		{ColourHistogram{Hues: 1 << 40, Saturations: 1 << 40}, ": expected"},
		{ColourHistogram{Grid: Cells{64, 64}, Hues: 360}, "at most 1048576 values"},
	} {
		if _, err := Extract(t.Context(), set, test.h, Options{}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: got error %v, want one with %q", test.h, err, test.want)
		}
	}
	if _, err := Extract(t.Context(), vectorSet(mat.NewDense(1, 4, []float64{1, 2, 3, 4}), 2, 2), ColourHistogram{}, Options{}); err == nil || !strings.Contains(err.Error(), "are grey") {
		t.Errorf("grey vectors: %v", err)
	}
	for _, text := range []string{"2", "0x2", "2x", "65x1", "axb", "2x2x2"} {
		if err := new(Cells).UnmarshalText([]byte(text)); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("invalid grid %q", text)) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func extractHOG(t testing.TB, set *datasets.Set, opt Options) *Matrix {
	t.Helper()
	out := extract(t, HOG{}, set, opt)
	if n, m := out.X.Dims(); n != len(out.Rows) || m != 512 || out.Height != 0 || out.Width != 0 || out.Channels != 0 {
		t.Fatalf("%d×%d features of %d samples, images of %d×%d", n, m, len(out.Rows), out.Height, out.Width)
	}
	return out
}

// If the grey rises by slope per pixel, all gradients are equal, and in a cell away from the borders the mean gradient
// is slope.
func TestHOGOfRamps(t *testing.T) {
	for _, slope := range []float64{0.01, 0.02} {
		ramp := func(u, v int) *image.Gray16 {
			return grey(32, 32, func(x, y int) float64 { return 0.5 + slope*(float64(u*x+v*y)-15.5*float64(u+v)) })
		}
		set := fileSet(t, ramp(1, 0), ramp(0, -1), ramp(-1, 0), ramp(0, 1))
		out := extractHOG(t, set, Options{Normalise: NormNone})
		for i := range 4 {
			for j := range 512 {
				cell := j / orientations
				if c, r := cell%8, cell/8; c == 0 || c == 7 || r == 0 || r == 7 {
					continue
				}
				want := 0.0
				if j%orientations == 2*i {
					want = math.Sqrt(slope / (slope + 0.01))
				}
				if got := out.X.At(i, j); math.Abs(got-want) > 1e-2 {
					t.Fatalf("slope %v to orientation %d: value %d is %v, want %v", slope, 2*i, j, got, want)
				}
			}
		}
	}
}

// slowHOG computes the histograms of an image of 32×32 pixels from their definition.
func slowHOG(img *image.Gray16) []float64 {
	value := func(x, y int) float64 {
		return float64(img.Gray16At(min(max(x, 0), 31), min(max(y, 0), 31)).Y) / 0xffff
	}
	out := make([]float64, 512)
	for r := range 8 {
		for c := range 8 {
			cell := out[(r*8+c)*8:][:8]
			for y := range 32 {
				for x := range 32 {
					u, v := (float64(x)-1.5)/4-float64(c), (float64(y)-1.5)/4-float64(r)
					w := max(0, 1-math.Abs(u)) * max(0, 1-math.Abs(v))
					for o, part := range orientationsOf((value(x+1, y)-value(x-1, y))/2, (value(x, y-1)-value(x, y+1))/2) {
						cell[o] += w * part
					}
				}
			}
			sum := floats.Sum(cell)
			for o := range cell {
				cell[o] = math.Sqrt(cell[o] / (sum + 16*0.01))
			}
		}
	}
	return out
}

func TestHOGAgainstDefinition(t *testing.T) {
	images := []image.Image{imagefile.Gray(noise(32, 32, 1)), imagefile.Gray(noise(32, 32, 2)), waves(32, 32, 1)}
	out := extractHOG(t, fileSet(t, images...), Options{Normalise: NormNone})
	for i, img := range images {
		for j, want := range slowHOG(img.(*image.Gray16)) {
			if got := out.X.At(i, j); math.Abs(got*got-want*want) > 1e-3 {
				t.Fatalf("image %d, value %d: got %v, want %v", i, j, got, want)
			}
		}
	}
}

func TestHOGOfTurnedImage(t *testing.T) {
	img := noise(32, 32, 3)
	out := extractHOG(t, fileSet(t, img, turned(img)), Options{})
	for j := range 512 {
		r, c, o := j/64, j/8%8, j%8
		a, b := out.X.At(0, j), out.X.At(1, ((7-c)*8+r)*8+(o+2)%8)
		if math.Abs(a*a-b*b) > 1e-5 {
			t.Fatalf("value %d is %v and turned %v", j, a, b)
		}
	}
}

// Less light has little effect if there are edges.
func TestHOGOfDarkenedImage(t *testing.T) {
	img, dark := noise(40, 50, 3), noise(40, 50, 3)
	for i := range dark.Pix {
		dark.Pix[i] = 20 + dark.Pix[i]/2
	}
	x := extractHOG(t, fileSet(t, img, dark), Options{}).X.(*mat.Dense)
	if cosine := floats.Dot(x.RawRowView(0), x.RawRowView(1)); cosine < 0.99 {
		t.Errorf("the cosine with the darkened image's is %v", cosine)
	}
}

func TestHOGWorkersAndBadSamples(t *testing.T) {
	var images []image.Image
	for i := range 12 {
		images = append(images, noise(20+i, 60-i, uint64(i)))
	}
	images[4] = nil
	images[7] = grey(30, 30, func(int, int) float64 { return 0.4 })
	set := fileSet(t, images...)
	var want *Matrix
	for _, workers := range []int{1, 5, 0} {
		got := extractHOG(t, set, Options{SkipBad: true, Workers: workers})
		if want == nil {
			want = got
		}
		if !mat.Equal(got.X, want.X) {
			t.Errorf("%d workers: another result than with one", workers)
		}
		if _, err := Extract(t.Context(), set, HOG{}, Options{Workers: workers}); err == nil || !strings.Contains(err.Error(), "04.png") {
			t.Errorf("%d workers: error %v", workers, err)
		}
	}
	if !slices.Equal(want.Rows, []int{0, 1, 2, 3, 5, 6, 8, 9, 10, 11}) {
		t.Errorf("rows %v", want.Rows)
	}
	if s := want.Skipped; len(s) != 2 || !strings.Contains(s[0].Error(), "04.png") || !strings.HasPrefix(s[1].Error(), "07.png: all values are zero") {
		t.Errorf("skipped %v", s)
	}
	for i := range want.Rows {
		row := want.X.(*mat.Dense).RawRowView(i)
		if math.Abs(floats.Norm(row, 2)-1) > 1e-12 || floats.Min(row) < 0 {
			t.Errorf("row %d has the length %v and the least value %v", i, floats.Norm(row, 2), floats.Min(row))
		}
	}
}

func TestHOGOfSets(t *testing.T) {
	img := noise(48, 40, 5)
	pixels := mat.NewDense(1, 48*40, nil)
	for i, v := range img.Pix {
		pixels.Set(0, i, float64(v))
	}
	cropped := Options{Crop: Box{4, 4, 36, 36}}
	for _, opt := range []Options{{}, cropped} {
		files, vectors := extractHOG(t, fileSet(t, img), opt), extractHOG(t, vectorSet(pixels, 40, 48), opt)
		if !mat.Equal(files.X, vectors.X) {
			t.Errorf("%+v: the file and its pixels give different values", opt)
		}
	}
	part := extractHOG(t, fileSet(t, img.SubImage(image.Rect(4, 4, 36, 36))), Options{})
	if !mat.Equal(extractHOG(t, fileSet(t, img), cropped).X, part.X) {
		t.Error("a box gives other values than the image that it cuts out")
	}

	for _, test := range []struct {
		opt  Options
		set  *datasets.Set
		want string
	}{
		{Options{}, vectorSet(mat.NewDense(2, 3, nil), 0, 0), "are not images, but hog needs"},
		{Options{Crop: Box{0, 0, 60, 8}}, fileSet(t, img), "00.png: crop: the box"},
		{Options{}, vectorSet(mat.NewDense(1, 4, []float64{1, 2, math.NaN(), 3}), 2, 2), "v.csv row 1: column 3"},
	} {
		if _, err := Extract(t.Context(), test.set, HOG{}, test.opt); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("got error %v, want one with %q", err, test.want)
		}
	}
}

func FuzzHOG(f *testing.F) {
	f.Add([]byte{0, 255, 3})
	f.Fuzz(func(t *testing.T, pix []byte) {
		img := image.NewGray16(image.Rect(0, 0, 32, 32))
		copy(img.Pix, pix)
		out := make([]float64, 512)
		hog(out, img)
		for j, v := range out {
			if !(v >= 0 && v <= 1) {
				t.Fatalf("value %d is %v", j, v)
			}
		}
	})
}

func BenchmarkHOG(b *testing.B) {
	set := datasets.Generated(1)
	for b.Loop() {
		extractHOG(b, set, Options{})
	}
	b.ReportMetric(float64(b.N*set.Len())/b.Elapsed().Seconds(), "images/s")
}

// gradientOf returns the gradient with the components dx and dy, upwards.
func gradientOf(dx, dy float32) gradient {
	out := make([]gradient, 1)
	gradients(out, []float32{0, dy, 0}, []float32{0, 0, dx}, []float32{0, 0, 0})
	return out[0]
}

func TestGradientsAlongOrientations(t *testing.T) {
	for o := range orientations {
		sin, cos := math.Sincos(float64(o) * math.Pi / 4)
		g := gradientOf(float32(math.Round(cos)), float32(math.Round(sin)))
		var got [orientations]float32
		got[g.axis] += g.axisPart
		got[g.diagonal] += g.diagonalPart
		for i, v := range got {
			want := 0.0
			if i == o {
				want = math.Hypot(math.Round(cos), math.Round(sin))
			}
			if math.Abs(float64(v)-want) > 1e-6 {
				t.Errorf("orientation %d: %v in %d, want %v", o, v, i, want)
			}
		}
	}
}

func TestGradientsAgainstAtan2(t *testing.T) {
	random := rng.New(1)
	for range 10_000 {
		dx, dy := float32(random.NormFloat64()), float32(random.NormFloat64())
		want := orientationsOf(float64(dx), float64(dy))
		g := gradientOf(dx, dy)
		if g.axis%2 != 0 || g.diagonal%2 != 1 || g.axisPart < 0 || g.diagonalPart < 0 {
			t.Fatalf("(%v, %v): %+v", dx, dy, g)
		}
		want[g.axis] -= float64(g.axisPart)
		want[g.diagonal] -= float64(g.diagonalPart)
		for o, v := range want {
			if math.Abs(v) > math.Hypot(float64(dx), float64(dy))/1500 {
				t.Fatalf("(%v, %v): %+v is wrong by %v in %d", dx, dy, g, v, o)
			}
		}
	}
}

func TestNoGradient(t *testing.T) {
	if g := gradientOf(0, 0); g.axisPart != 0 || g.diagonalPart != 0 {
		t.Errorf("%+v", g)
	}
}

// orientationsOf distributes the length of a gradient over orientations.
func orientationsOf(dx, dy float64) (out [orientations]float64) {
	turn := math.Atan2(dy, dx) / (2 * math.Pi) * orientations
	first := math.Floor(turn)
	for i, part := range []float64{1 - (turn - first), turn - first} {
		out[(int(first)+i+orientations)%orientations] += part * math.Hypot(dx, dy)
	}
	return out
}
