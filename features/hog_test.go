package features

import (
	"image"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/imagefile"
	"github.com/seed4492f2cd/partwise/internal/fuzztest"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

func extractHOG(t testing.TB, set *datasets.Set, opt Options) *Matrix {
	t.Helper()
	out := extract(t, HOG{}, set, opt)
	if n, m := out.X.Dims(); n != len(out.Rows) || m != 512 || out.Height != 0 || out.Width != 0 || out.Channels != 0 {
		t.Fatalf("%d×%d features of %d samples, images of %d×%d", n, m, len(out.Rows), out.Height, out.Width)
	}
	return out
}

// A grey that rises by slope a pixel has one gradient, and in a cell that does
// not see the sides of the image a mean gradient of slope.
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

// slowHOG is the histograms of an image of 32×32 pixels by their definition.
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
				t.Fatalf("image %d, value %d: %v, want %v", i, j, got, want)
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

// Less light changes little where there are edges.
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
		{Options{}, vectorSet(mat.NewDense(2, 3, nil), 0, 0), "are no images, and hog takes"},
		{Options{Crop: Box{0, 0, 60, 8}}, fileSet(t, img), "00.png: crop: the box"},
		{Options{}, vectorSet(mat.NewDense(1, 4, []float64{1, 2, math.NaN(), 3}), 2, 2), "v.csv row 1: column 3"},
	} {
		if _, err := Extract(t.Context(), test.set, HOG{}, test.opt); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("error %v, want one with %q", err, test.want)
		}
	}
}

func FuzzHOG(f *testing.F) {
	f.Add([]byte{0, 255, 3})
	f.Fuzz(fuzztest.Repeat(func(t *testing.T, pix []byte) {
		img := image.NewGray16(image.Rect(0, 0, 32, 32))
		copy(img.Pix, pix)
		out := make([]float64, 512)
		hog(out, img)
		for j, v := range out {
			if !(v >= 0 && v <= 1) {
				t.Fatalf("value %d is %v", j, v)
			}
		}
	}))
}

func BenchmarkHOG(b *testing.B) {
	set := datasets.Generated(1)
	for b.Loop() {
		extractHOG(b, set, Options{})
	}
	b.ReportMetric(float64(b.N*set.Len())/b.Elapsed().Seconds(), "images/s")
}
