package features

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
	"github.com/seed4492f2cd/partwise/internal/sparse"
	"github.com/seed4492f2cd/partwise/internal/testkit"
)

// waves returns an image of height×width smooth greys, different for each phase.
func waves(height, width int, phase float64) *image.Gray16 {
	img := image.NewGray16(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			v := 0.5 + 0.2*math.Sin(float64(x)/3+phase) + 0.2*math.Cos(float64(y)/5-phase)
			img.SetGray16(x, y, color.Gray16{Y: uint16(0xffff * v)})
		}
	}
	return img
}

// fileSet writes the images and returns the set of their files; nil gives an invalid file.
func fileSet(t testing.TB, images ...image.Image) *datasets.Set {
	t.Helper()
	set := &datasets.Set{Name: "files"}
	dir := t.TempDir()
	for i, img := range images {
		name := fmt.Sprintf("%02d.png", i)
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if img == nil {
			_, err = io.WriteString(f, "no image")
		} else {
			err = png.Encode(f, img)
		}
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		set.Names = append(set.Names, name)
		set.Files = append(set.Files, f.Name())
		set.Labels = append(set.Labels, -1)
	}
	return set
}

// vectorSet returns a set of n vectors that hold images of height×width.
func vectorSet(vectors mat.Matrix, height, width int) *datasets.Set {
	set := &datasets.Set{Name: "vectors", Vectors: vectors, Height: height, Width: width}
	n, _ := vectors.Dims()
	for i := range n {
		set.Names = append(set.Names, fmt.Sprintf("v.csv row %d", i+1))
		set.Labels = append(set.Labels, -1)
	}
	return set
}

func extract(t testing.TB, by RowExtractor, set *datasets.Set, opt Options) *Matrix {
	t.Helper()
	out, err := Extract(t.Context(), set, by, opt)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// overlap resizes src by the definition. A reduced pixel is the mean over its area in src; an enlarged pixel is
// interpolated linearly between the two nearest centres.
func overlap(src *image.Gray16, height, width int) []float64 {
	weights := func(to, from, at int) []float64 {
		w := make([]float64, from)
		step := float64(from) / float64(to)
		if to > from {
			centre := min(max((float64(at)+0.5)*step-0.5, 0), float64(from-1))
			for i := range w {
				w[i] = max(1-math.Abs(centre-float64(i)), 0)
			}
			return w
		}
		for i := range w {
			begin, end := max(float64(at)*step, float64(i)), min(float64(at+1)*step, float64(i+1))
			w[i] = max(end-begin, 0) / step
		}
		return w
	}
	size := src.Bounds().Size()
	var out []float64
	for y := range height {
		wy := weights(height, size.Y, y)
		for x := range width {
			v := 0.0
			for j, wx := range weights(width, size.X, x) {
				for i := range wy {
					v += wy[i] * wx * float64(src.Gray16At(j, i).Y) / 0xffff
				}
			}
			out = append(out, v)
		}
	}
	return out
}

func TestPixelsResizes(t *testing.T) {
	for _, src := range []*image.Gray16{waves(90, 70, 0), waves(20, 90, 1), waves(9, 8, 2), waves(1, 3, 1), waves(33, 32, 1)} {
		for _, size := range []image.Point{{32, 32}, {12, 20}, {1, 1}} {
			out := extract(t, Pixels{Size: Size{Height: size.Y, Width: size.X}}, fileSet(t, src), Options{Normalise: NormNone})
			want := overlap(src, size.Y, size.X)
			for j, w := range want {
				if got := out.X.At(0, j); math.Abs(got-w) > 1e-12 {
					t.Fatalf("%v to %v: pixel %d is %v, want %v", src.Bounds(), size, j, got, w)
				}
			}
			if out.Height != size.Y || out.Width != size.X {
				t.Errorf("%d×%d, want %v", out.Height, out.Width, size)
			}
		}
	}
}

// TestPixelsAreMeansOfBlocks checks that COIL-20's 32×32 pictures are exactly the means of blocks of 4×4 pixels of the
// 128×128 ones.
func TestPixelsAreMeansOfBlocks(t *testing.T) {
	src := image.NewGray(image.Rect(0, 0, 128, 128))
	for i := range src.Pix {
		src.Pix[i] = uint8(i * i >> 5)
	}
	out := extract(t, Pixels{}, fileSet(t, src), Options{Normalise: NormNone})
	for y := range 32 {
		for x := range 32 {
			sum := 0
			for i := range 16 {
				sum += int(src.GrayAt(4*x+i%4, 4*y+i/4).Y)
			}
			if got, want := out.X.At(0, 32*y+x), float64(sum)/16/255; math.Abs(got-want) > 1e-14 {
				t.Fatalf("pixel %d, %d is %v, want %v", x, y, got, want)
			}
		}
	}
}

func TestPixelsKeepsImagesOfTheRightSize(t *testing.T) {
	src := waves(32, 32, 0)
	eight := image.NewGray(src.Bounds())
	for i := range eight.Pix {
		eight.Pix[i] = uint8(i)
	}
	out := extract(t, Pixels{}, fileSet(t, src, eight), Options{Normalise: NormNone})
	for j := range 1024 {
		if got, want := out.X.At(0, j), float64(src.Gray16At(j%32, j/32).Y)/0xffff; got != want {
			t.Fatalf("16 bits: pixel %d is %v, want %v", j, got, want)
		}
		if got, want := out.X.At(1, j), float64(uint8(j))/255; math.Abs(got-want) > 1e-15 {
			t.Fatalf("8 bits: pixel %d is %v, want %v", j, got, want)
		}
	}
}

func TestPixelsOfVectors(t *testing.T) {
	// The same image as a file, as vectors from 0 to 255 and from 0 to 1.
	src := image.NewGray(image.Rect(0, 0, 20, 30))
	for i := range src.Pix {
		src.Pix[i] = uint8(255 * i / (20*30 - 1))
	}
	unit := make([]float64, len(src.Pix))
	for i, v := range src.Pix {
		unit[i] = float64(v) / 255
	}
	fromFile := fileSet(t, src)
	fromBytes := vectorSet(vectorfile.NewBytes(1, 600, src.Pix), 30, 20)
	fromUnit := vectorSet(mat.NewDense(1, 600, unit), 30, 20)
	signed := slices.Clone(unit)
	floats.AddConst(-0.5, signed)
	fromSigned := vectorSet(mat.NewDense(1, 600, signed), 30, 20)
	for _, test := range []struct {
		size Size
		crop Crop
	}{{Size{Height: 15, Width: 10}, nil}, {Size{Height: 30, Width: 20}, nil}, {Size{Height: 8, Width: 8}, Square{}}} {
		p, opt := Pixels{Size: test.size}, Options{Crop: test.crop}
		want := extract(t, p, fromFile, opt)
		for _, set := range []*datasets.Set{fromBytes, fromUnit} {
			if got := extract(t, p, set, opt); !mat.EqualApprox(got.X, want.X, 1e-4) || (Size{Height: got.Height, Width: got.Width}) != p.Size {
				t.Errorf("%+v: %T gives other features than the file", p, set.Vectors)
			}
		}
		opt.Normalise = NormNone
		want = extract(t, p, fromUnit, opt)
		got := mat.DenseCopyOf(extract(t, p, fromSigned, opt).X)
		got.Apply(func(_, _ int, v float64) float64 { return v + 0.5 }, got)
		if !mat.EqualApprox(got, want.X, 1e-4) {
			t.Errorf("%+v: signed vectors are not the same image moved", p)
		}
		got = mat.DenseCopyOf(extract(t, p, fromBytes, opt).X)
		got.Scale(1.0/255, got)
		if !mat.EqualApprox(got, want.X, 1e-4) {
			t.Errorf("%+v: bytes do not keep their scale", p)
		}
	}

	// Without a size, vectors keep their own size and exact values.
	out := extract(t, Pixels{}, fromSigned, Options{Normalise: NormNone})
	if !mat.Equal(out.X, fromSigned.Vectors) || out.Height != 30 || out.Width != 20 {
		t.Errorf("%d×%d: not the vectors of the set", out.Height, out.Width)
	}
	// Vectors that are not images are unchanged, with any size.
	plain := vectorSet(mat.NewDense(2, 3, []float64{1, 0, 0, 0, 3, 4}), 0, 0)
	out = extract(t, Pixels{Size: Size{Height: 8, Width: 8}}, plain, Options{})
	if !mat.EqualApprox(out.X, mat.NewDense(2, 3, []float64{1, 0, 0, 0, 0.6, 0.8}), 1e-15) || out.Height != 0 || out.Width != 0 {
		t.Errorf("%v", mat.Formatted(out.X))
	}
	if _, err := Extract(t.Context(), plain, Pixels{}, Options{Crop: Square{}}); err == nil || !strings.Contains(err.Error(), "not images") {
		t.Errorf("a crop of vectors: error %v", err)
	}
}

func TestPixelsDoesNotDependOnWorkers(t *testing.T) {
	var images []image.Image
	for i := range 20 {
		images = append(images, waves(20+i, 40-i, float64(i)))
	}
	images[7], images[11] = nil, image.NewGray(image.Rect(0, 0, 5, 5))
	set := fileSet(t, images...)
	var want *Matrix
	for _, workers := range []int{1, 2, 7, 0} {
		last := 0
		got, err := Extract(t.Context(), set, Pixels{}, Options{SkipBad: true, Workers: workers, Progress: func(done, total int) {
			if last++; done != last || total != 20 {
				t.Errorf("%d workers: progress %d of %d after %d calls", workers, done, total, last)
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		if last != 20 {
			t.Errorf("%d workers: %d calls of progress", workers, last)
		}
		if want == nil {
			want = got
		}
		if !mat.Equal(got.X, want.X) || !slices.Equal(got.Rows, want.Rows) || fmt.Sprint(got.Skipped) != fmt.Sprint(want.Skipped) {
			t.Errorf("%d workers: another result than with one", workers)
		}
		_, err = Extract(t.Context(), set, Pixels{}, Options{Workers: workers})
		if err == nil || !strings.Contains(err.Error(), set.Files[7]) {
			t.Errorf("%d workers: error %v, want one that names %s", workers, err, set.Files[7])
		}
	}
	if n, m := want.X.Dims(); n != 18 || m != 1024 {
		t.Errorf("%d×%d features", n, m)
	}
	if d := cmp.Diff([]int{0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 13, 14, 15, 16, 17, 18, 19}, want.Rows); d != "" {
		t.Errorf("rows (-want +got)\n%s", d)
	}
	if s := want.Skipped; len(s) != 2 || !strings.Contains(s[0].Error(), "07.png") || !strings.HasPrefix(s[1].Error(), "11.png: all values are zero") {
		t.Errorf("skipped %v", s)
	}
	for i := range want.Rows {
		if length := floats.Norm(want.X.(*mat.Dense).RawRowView(i), 2); math.Abs(length-1) > 1e-12 {
			t.Errorf("row %d has the length %v", i, length)
		}
	}
}

func TestPixelsErrors(t *testing.T) {
	good := fileSet(t, waves(8, 8, 0))
	for _, test := range []struct {
		name   string
		pixels Pixels
		opt    Options
		set    *datasets.Set
		want   string
	}{
		{"no samples", Pixels{}, Options{}, good.Subset(nil), "no samples"},
		{"black", Pixels{}, Options{}, fileSet(t, waves(8, 8, 0), image.NewGray(image.Rect(0, 0, 8, 8))), "01.png: all values are zero"},
		{"none left", Pixels{}, Options{SkipBad: true}, fileSet(t, nil, nil), "features: none of the 2 samples of"},
		{"NaN", Pixels{Size: Size{Height: 4, Width: 4}}, Options{}, vectorSet(mat.NewDense(1, 4, []float64{1, 2, math.NaN(), 3}), 2, 2), "v.csv row 1: column 3"},
		{"one side", Pixels{Size: Size{Height: 4}}, Options{}, good, "set both or none"},
		{"negative", Pixels{Size: Size{Height: -4, Width: 4}}, Options{}, good, "-4"},
		{"too large", Pixels{Size: Size{Height: 4, Width: 5000}}, Options{}, good, "5000"},
		{"unknown norm", Pixels{}, Options{Normalise: 9}, good, "norm(9)"},
		{"box outside", Pixels{}, Options{Crop: Box{0, 0, 9, 8}}, good, "00.png: crop: the box from (0, 0) to (9, 8) is outside the image of 8×8 pixels"},
		{"box turned over", Pixels{}, Options{Crop: Box{5, 5, 2, 7}}, good, "crop: the box"},
	} {
		if _, err := Extract(t.Context(), test.set, test.pixels, test.opt); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got error %v, want one with %q", test.name, err, test.want)
		}
	}
}

func TestPixelsStopsWhenCancelled(t *testing.T) {
	var images []image.Image
	for range 10 {
		images = append(images, waves(8, 8, 0))
	}
	reason := errors.New("the user had enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	calls := 0
	_, err := Extract(ctx, fileSet(t, images...), Pixels{}, Options{Workers: 1, Progress: func(done, _ int) {
		if calls++; done == 3 {
			cancel(reason)
		}
	}})
	if !errors.Is(err, reason) || calls > 5 {
		t.Errorf("error %v after %d images", err, calls)
	}
}

func TestPixelsOfRealImages(t *testing.T) {
	testkit.Slow(t)
	dir := testkit.NeedFolder(t, testkit.DataFolder)
	for _, test := range []struct {
		name string
		opt  datasets.OpenOptions
		n    int
	}{
		{"orl-pgm", datasets.OpenOptions{}, 400},
		{"yale-gif", datasets.OpenOptions{Pattern: "subject{class}.*"}, 165},
	} {
		set, err := datasets.Folder(t.Context(), filepath.Join(dir, test.name), test.opt)
		if err != nil {
			t.Fatal(err)
		}
		out := extract(t, Pixels{}, set, Options{})
		if n, m := out.X.Dims(); n != test.n || m != 1024 {
			t.Errorf("%s: %d×%d features", test.name, n, m)
		}
		if floats.Min(out.X.(*mat.Dense).RawMatrix().Data) < 0 {
			t.Errorf("%s: a negative value", test.name)
		}
	}
}

func BenchmarkPixels(b *testing.B) {
	img := image.NewRGBA(image.Rect(0, 0, 300, 300))
	for i := range img.Pix {
		img.Pix[i] = uint8(i * i >> 8)
	}
	set := photographs(b, img)
	for name, p := range map[string]Pixels{"grey": {}, "colour": {Colour: true}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				extract(b, p, set, Options{})
			}
		})
	}
}

// colours returns an opaque image of height×width smooth colours.
func colours(height, width int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			wave := func(phase float64) uint8 {
				return uint8(127.5 + 80*math.Sin(float64(x)/4+phase) + 40*math.Cos(float64(y)/6-phase))
			}
			img.SetNRGBA(x, y, color.NRGBA{wave(0), wave(2), wave(4), 0xff})
		}
	}
	return img
}

// holes is colours with a transparency that falls from left to right.
func holes(height, width int) *image.NRGBA {
	img := colours(height, width)
	for i := range height * width {
		img.Pix[4*i+3] = uint8(255 - 255*(i%width)/width)
	}
	return img
}

// planesOf returns the red, green and blue of an image over white.
func planesOf(img image.Image) [3]*image.Gray16 {
	var planes [3]*image.Gray16
	b := img.Bounds()
	for plane := range planes {
		planes[plane] = image.NewGray16(image.Rectangle{Max: b.Size()})
	}
	for y := range b.Dy() {
		for x := range b.Dx() {
			red, green, blue, alpha := img.At(b.Min.X+x, b.Min.Y+y).RGBA()
			for plane, v := range []uint32{red, green, blue} {
				planes[plane].SetGray16(x, y, color.Gray16{Y: uint16(v + 0xffff - alpha)})
			}
		}
	}
	return planes
}

// photographs returns a set of one JPEG file.
func photographs(t testing.TB, img image.Image) *datasets.Set {
	t.Helper()
	set := fileSet(t, nil)
	f, err := os.Create(set.Files[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(jpeg.Encode(f, img, nil), f.Close()); err != nil {
		t.Fatal(err)
	}
	return set
}

// Colour applies the same filter to each of the three planes, for any type of image.
func TestColourIsTheSameForEachPlane(t *testing.T) {
	testkit.Slow(t)
	deep := image.NewNRGBA64(image.Rect(0, 0, 30, 25))
	for i := range 30 * 25 {
		deep.SetNRGBA64(i%30, i/30, color.NRGBA64{R: uint16(80 * i), G: 60000, B: uint16(1111 * (i % 30)), A: uint16(65535 - 50*i)})
	}
	paletted := image.NewPaletted(image.Rect(0, 0, 30, 20), color.Palette{color.White, color.NRGBA{200, 30, 60, 255}, color.Transparent})
	for i := range paletted.Pix {
		paletted.Pix[i] = uint8(i / 100 % 3)
	}
	for name, set := range map[string]*datasets.Set{
		"opaque":      fileSet(t, colours(28, 36)),
		"transparent": fileSet(t, holes(28, 36)),
		"16 bits":     fileSet(t, deep),
		"palette":     fileSet(t, paletted),
		"grey":        fileSet(t, waves(30, 24, 1)),
		"JPEG":        photographs(t, colours(28, 36)),
	} {
		decoded, err := set.Image(0)
		if err != nil {
			t.Fatal(err)
		}
		planes := planesOf(decoded)
		size := decoded.Bounds().Size()
		for _, to := range []image.Point{{12, 10}, {50, 40}, size} {
			out := extract(t, Pixels{Size: Size{Height: to.Y, Width: to.X}, Colour: true}, set, Options{Normalise: NormNone})
			if _, m := out.X.Dims(); m != 3*to.X*to.Y || out.Channels != 3 || out.Height != to.Y || out.Width != to.X {
				t.Fatalf("%s to %v: %d values for %d images of %d×%d", name, to, m, out.Channels, out.Height, out.Width)
			}
			for plane := range planes {
				for j, want := range overlap(planes[plane], to.Y, to.X) {
					if got := out.X.At(0, plane*to.X*to.Y+j); math.Abs(got-want) > 2.0/0xffff {
						t.Fatalf("%s to %v: plane %d, pixel %d is %v, want %v", name, to, plane, j, got, want)
					}
				}
			}
		}
	}
}

func TestColourOfGreyImages(t *testing.T) {
	eight := image.NewGray(image.Rect(0, 0, 40, 40))
	for i := range eight.Pix {
		eight.Pix[i] = uint8(i * i >> 4)
	}
	set := fileSet(t, waves(40, 40, 0), eight)
	eyes, err := ReadEyes(writeCSV(t, "00.png,10,12,28,15\n01.png,11,20,27,18\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, crop := range []Crop{nil, Square{}, Box{3, 5, 33, 38}, eyes} {
		p, opt := Pixels{Size: Size{Height: 16, Width: 20}}, Options{Crop: crop, Normalise: NormNone}
		grey := mat.DenseCopyOf(extract(t, p, set, opt).X)
		p.Colour = true
		out := mat.DenseCopyOf(extract(t, p, set, opt).X)
		for plane := range 3 {
			if !mat.EqualApprox(out.Slice(0, 2, plane*320, (plane+1)*320), grey, 1.0/0xffff) {
				t.Errorf("%T: plane %d of grey images is not their grey", crop, plane)
			}
			if !mat.Equal(out.Slice(0, 2, plane*320, (plane+1)*320), out.Slice(0, 2, 0, 320)) {
				t.Errorf("%T: the planes of grey images differ", crop)
			}
		}
	}
}

// A crop selects the same part of each plane.
func TestColourCrops(t *testing.T) {
	img := holes(40, 60)
	set := fileSet(t, img)
	eyes, err := ReadEyes(writeCSV(t, "00.png,20,12,38,17\n"))
	if err != nil {
		t.Fatal(err)
	}
	planes := planesOf(img)
	apart := fileSet(t, planes[0], planes[1], planes[2])
	everyone, err := ReadEyes(writeCSV(t, "00.png,20,12,38,17\n01.png,20,12,38,17\n02.png,20,12,38,17\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, crops := range [][2]Crop{{Square{}, Square{}}, {Box{9, 2, 50, 30}, Box{9, 2, 50, 30}}, {eyes, everyone}} {
		size := Size{Height: 15, Width: 18}
		got := extract(t, Pixels{size, true}, set, Options{Crop: crops[0], Normalise: NormNone}).X.(*mat.Dense).RawRowView(0)
		if want := extract(t, Pixels{Size: size}, apart, Options{Crop: crops[1], Normalise: NormNone}).X.(*mat.Dense).RawMatrix().Data; !floats.EqualApprox(got, want, 2.0/0xffff) {
			t.Errorf("%T: the colours differ from the planes", crops[0])
		}
	}
	if _, err := Extract(t.Context(), set, Pixels{Colour: true}, Options{Crop: Box{0, 0, 61, 40}}); err == nil || !strings.Contains(err.Error(), "60×40 pixels") {
		t.Errorf("a box outside: error %v", err)
	}
}

func TestColourOfVectorsIsGrey(t *testing.T) {
	x := mat.NewDense(1, 6, []float64{1, 2, 3, 4, 5, 6})
	for _, p := range []Pixels{{}, {Size: Size{Height: 4, Width: 4}}} {
		want := extract(t, p, vectorSet(x, 2, 3), Options{})
		p.Colour = true
		got := extract(t, p, vectorSet(x, 2, 3), Options{})
		if !mat.Equal(got.X, want.X) || got.Channels != 1 || want.Channels != 1 {
			t.Errorf("%+v: colour makes a difference", p)
		}
	}
	if out := extract(t, Pixels{Colour: true}, vectorSet(x, 0, 0), Options{}); out.Channels != 0 {
		t.Errorf("vectors that are no images have %d channels", out.Channels)
	}
}

// A row is normalised as a whole, bad samples are left out individually, and the number of workers has no effect.
func TestColourSamples(t *testing.T) {
	var images []image.Image
	for i := range 12 {
		images = append(images, colours(20+i, 40-i))
	}
	images[3], images[8] = nil, image.NewGray(image.Rect(0, 0, 5, 5))
	set := fileSet(t, images...)
	var want *Matrix
	for _, workers := range []int{1, 5} {
		got := extract(t, Pixels{Colour: true}, set, Options{SkipBad: true, Workers: workers})
		if want == nil {
			want = got
		}
		if !mat.Equal(got.X, want.X) || fmt.Sprint(got.Skipped) != fmt.Sprint(want.Skipped) {
			t.Errorf("%d workers: another result than with one", workers)
		}
	}
	if !slices.Equal(want.Rows, []int{0, 1, 2, 4, 5, 6, 7, 9, 10, 11}) || len(want.Skipped) != 2 || !strings.HasPrefix(want.Skipped[1].Error(), "08.png: all values are zero") {
		t.Errorf("rows %v, skipped %v", want.Rows, want.Skipped)
	}
	for i := range want.Rows {
		if length := floats.Norm(want.X.(*mat.Dense).RawRowView(i), 2); math.Abs(length-1) > 1e-12 {
			t.Errorf("row %d has the length %v", i, length)
		}
	}
}

func TestOpaque(t *testing.T) {
	img := colours(9, 12)
	if overWhite(img) != image.Image(img) {
		t.Error("an opaque image was copied")
	}
	part := img.SubImage(image.Rect(2, 3, 8, 9))
	moved := overWhite(part)
	if moved.Bounds() != image.Rect(0, 0, 6, 6) || moved.At(1, 2) != color.RGBA64Model.Convert(img.At(3, 5)) {
		t.Errorf("a part of an image: %v, %v", moved.Bounds(), moved.At(1, 2))
	}
	if got := overWhite(image.NewNRGBA(image.Rect(0, 0, 1, 1))).At(0, 0); got != (color.RGBA64{0xffff, 0xffff, 0xffff, 0xffff}) {
		t.Errorf("a transparent image over white is %v, want white", got)
	}
}

func TestVectors(t *testing.T) {
	values := []float64{3, 0, 4, 0, 0, 0, 0, 2, 0}
	var entries []sparse.Entry
	var bytes []uint8
	for i, v := range values {
		entries = append(entries, sparse.Entry{Row: i / 3, Col: i % 3, Value: v})
		bytes = append(bytes, uint8(v))
	}
	want := mat.NewDense(2, 3, []float64{0.6, 0, 0.8, 0, 1, 0})
	for _, x := range []mat.Matrix{mat.NewDense(3, 3, values), sparse.FromEntries(3, 3, entries), vectorfile.NewBytes(3, 3, bytes)} {
		set := vectorSet(x, 0, 0)
		if _, err := Extract(t.Context(), set, Pixels{}, Options{}); err == nil || !strings.HasPrefix(err.Error(), "v.csv row 2: all values are zero") {
			t.Errorf("%T: error %v", x, err)
		}
		out, err := Extract(t.Context(), set, Pixels{}, Options{SkipBad: true})
		if err != nil {
			t.Fatal(err)
		}
		if !mat.EqualApprox(out.X, want, 1e-15) || !slices.Equal(out.Rows, []int{0, 2}) || len(out.Skipped) != 1 {
			t.Errorf("%T: rows %v, %v\n%v", x, out.Rows, out.Skipped, mat.Formatted(out.X))
		}
		if _, ok := x.(*sparse.CSR); ok {
			if _, ok := out.X.(*sparse.CSR); !ok {
				t.Errorf("sparse vectors gave a %T", out.X)
			}
		}
		if !mat.Equal(set.Vectors, mat.NewDense(3, 3, values)) {
			t.Errorf("%T: the set was changed", x)
		}
	}

	bad := vectorSet(sparse.FromEntries(2, 9, []sparse.Entry{{Row: 0, Col: 1, Value: 1}, {Row: 1, Col: 7, Value: math.Inf(1)}}), 0, 0)
	if _, err := Extract(t.Context(), bad, Pixels{}, Options{Normalise: NormNone}); err == nil || !strings.Contains(err.Error(), "v.csv row 2: column 8") {
		t.Errorf("infinite value: error %v", err)
	}
}
