package features

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/seed4492f2cd/partwise/datasets"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// colours is an opaque image of height×width smooth colours.
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

// photographs is a set of one JPEG.
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

// Colour is the same filter on each of the three planes, whatever kind of
// image they come from.
func TestColourIsTheSameForEachPlane(t *testing.T) {
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
			out := extract(t, Pixels{Size: Size{to.Y, to.X}, Colour: true}, set, Options{Normalise: NormNone})
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
		p, opt := Pixels{Size: Size{16, 20}}, Options{Crop: crop, Normalise: NormNone}
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

// A crop takes the same part of each plane.
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
		size := Size{15, 18}
		got := extract(t, Pixels{size, true}, set, Options{Crop: crops[0], Normalise: NormNone}).X.(*mat.Dense).RawRowView(0)
		if want := extract(t, Pixels{Size: size}, apart, Options{Crop: crops[1], Normalise: NormNone}).X.(*mat.Dense).RawMatrix().Data; !floats.EqualApprox(got, want, 2.0/0xffff) {
			t.Errorf("%T: the colours are not those of the planes", crops[0])
		}
	}
	if _, err := Extract(t.Context(), set, Pixels{Colour: true}, Options{Crop: Box{0, 0, 61, 40}}); err == nil || !strings.Contains(err.Error(), "60×40 pixels") {
		t.Errorf("a box outside: error %v", err)
	}
}

func TestColourOfVectorsIsGrey(t *testing.T) {
	x := mat.NewDense(1, 6, []float64{1, 2, 3, 4, 5, 6})
	for _, p := range []Pixels{{}, {Size: Size{4, 4}}} {
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

// Samples are normalised as a whole and left out one by one, and the result
// does not depend on the number of workers.
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
	if opaque(img) != image.Image(img) {
		t.Error("an opaque image was copied")
	}
	part := img.SubImage(image.Rect(2, 3, 8, 9))
	moved := opaque(part)
	if moved.Bounds() != image.Rect(0, 0, 6, 6) || moved.At(1, 2) != color.RGBA64Model.Convert(img.At(3, 5)) {
		t.Errorf("a part of an image: %v, %v", moved.Bounds(), moved.At(1, 2))
	}
	if got := opaque(image.NewNRGBA(image.Rect(0, 0, 1, 1))).At(0, 0); got != (color.RGBA64{0xffff, 0xffff, 0xffff, 0xffff}) {
		t.Errorf("nothing over white is %v", got)
	}
}
