package reporttest

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed4492f2cd/partwise/pipeline"
	"golang.org/x/image/draw"
)

// Red and Blue fill pictures.
var (
	Red  = color.RGBA{200, 0, 0, 255}
	Blue = color.RGBA{0, 0, 200, 255}
)

// Plain is a picture of one colour whose corner is not at the origin.
func Plain(width, height int, c color.Color) image.Image {
	img := image.NewRGBA(image.Rect(7, 5, 7+width, 5+height))
	draw.Draw(img, img.Bounds(), image.NewUniform(c), image.Point{}, draw.Src)
	return img
}

// GoldenImage compares a picture with one in testdata, or rewrites it. Letters
// and scaled pixels may differ a little between processors.
func GoldenImage(t *testing.T, name string, got image.Image) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *Update {
		save(t, path, got)
	}
	want := ReadPNG(t, path)
	if want.Bounds().Size() != got.Bounds().Size() {
		t.Fatalf("%s: size %v, want %v", path, got.Bounds().Size(), want.Bounds().Size())
	}
	size, far := got.Bounds().Size(), 0
	for y := range size.Y {
		for x := range size.X {
			a := color.RGBAModel.Convert(want.At(want.Bounds().Min.X+x, want.Bounds().Min.Y+y)).(color.RGBA)
			b := color.RGBAModel.Convert(got.At(got.Bounds().Min.X+x, got.Bounds().Min.Y+y)).(color.RGBA)
			if max(distance(a.R, b.R), distance(a.G, b.G), distance(a.B, b.B)) > 8 {
				far++
			}
		}
	}
	if all := size.X * size.Y; far*1000 > all {
		kept := filepath.Join(os.TempDir(), "partwise-golden-"+name)
		save(t, kept, got)
		t.Errorf("%d of %d pixels differ from %s; see %s", far, all, path, kept)
	}
}

func save(t *testing.T, path string, img image.Image) {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func distance(a, b uint8) uint8 { return max(a, b) - min(a, b) }

// ReadPNG reads a picture.
func ReadPNG(t *testing.T, path string) image.Image {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return img
}

// Hills is a grey picture that gets lighter to the right with waves in it,
// whose corner is not at the origin.
func Hills(width, height int) image.Image {
	img := image.NewGray(image.Rect(3, 2, 3+width, 2+height))
	for y := range height {
		for x := range width {
			v := 30 + 190*float64(x)/float64(width) + 20*math.Sin(float64(x+2*y)/5)
			img.SetGray(3+x, 2+y, color.Gray{uint8(v)})
		}
	}
	return img
}

// Scattered are marks anywhere on a picture and around it.
func Scattered(seed uint64, n, parts, width, height int) []pipeline.Patch {
	r := rand.New(rand.NewPCG(seed, 9))
	marks := make([]pipeline.Patch, n)
	for i := range marks {
		marks[i] = pipeline.Patch{
			X: float32((1.4*r.Float64() - 0.2) * float64(width)), Y: float32((1.4*r.Float64() - 0.2) * float64(height)),
			Side: float32(1 + 30*r.Float64()), Part: r.IntN(parts), Share: 0.01 + 0.99*r.Float64(),
		}
	}
	return marks
}

// Tinted returns the pixels of a picture that are not grey.
func Tinted(img *image.RGBA) map[image.Point]bool {
	found := map[image.Point]bool{}
	for y := range img.Rect.Dy() {
		for x := range img.Rect.Dx() {
			if c := img.RGBAAt(x, y); c.R != c.G || c.G != c.B {
				found[image.Pt(x, y)] = true
			}
		}
	}
	return found
}
