package features

import (
	"image"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// numbered returns an image of height×width whose pixel (x, y) is x + 100·y.
func numbered(height, width int) *image.Gray16 {
	img := image.NewGray16(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			img.SetGray16(x, y, color.Gray16{Y: uint16(x + 100*y)})
		}
	}
	return img
}

func TestCropTakesTheRightPart(t *testing.T) {
	for _, test := range []struct {
		name          string
		crop          Crop
		src           *image.Gray16
		height, width int
		first         float64 // the upper left value
	}{
		{"whole", nil, numbered(6, 9), 6, 9, 0},
		{"box", Box{3, 1, 8, 5}, numbered(6, 9), 4, 5, 103},
		{"wide", Square{}, numbered(6, 9), 6, 6, 1},
		{"high", Square{}, numbered(9, 6), 6, 6, 100},
		{"square", Square{}, numbered(6, 6), 6, 6, 0},
	} {
		out := extract(t, Pixels{Size: Size{Height: test.height, Width: test.width}}, fileSet(t, test.src), Options{Crop: test.crop, Normalise: NormNone})
		for j := range test.height * test.width {
			want := test.first + float64(j%test.width) + 100*float64(j/test.width)
			if got := out.X.At(0, j) * 0xffff; math.Abs(got-want) > 1e-9 {
				t.Fatalf("%s: pixel %d is %v, want %v", test.name, j, got, want)
			}
		}
	}
}

// blobs returns a grey image with two round spots at the given places.
func blobs(size image.Point, spots [2][2]float64, sigma float64) *image.Gray16 {
	img := image.NewGray16(image.Rectangle{Max: size})
	for y := range size.Y {
		for x := range size.X {
			v := 0.05
			for _, s := range spots {
				dx, dy := float64(x)-s[0], float64(y)-s[1]
				v += 0.9 * math.Exp(-(dx*dx+dy*dy)/(2*sigma*sigma))
			}
			img.SetGray16(x, y, color.Gray16{Y: uint16(0xffff * min(v, 1))})
		}
	}
	return img
}

func writeCSV(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "eyes.csv")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestEyes(t *testing.T) {
	set := fileSet(t,
		blobs(image.Pt(200, 240), [2][2]float64{{70, 90}, {130, 90}}, 5),  // upright
		blobs(image.Pt(300, 200), [2][2]float64{{90, 60}, {150, 120}}, 5), // turned by 45°
		blobs(image.Pt(60, 60), [2][2]float64{{20, 30}, {40, 24}}, 2),     // smaller than the result
	)
	eyes, err := ReadEyes(writeCSV(t, "file,left_x,left_y,right_x,right_y\n00.png,70,90,130,90\n01.png,90,60,150,120\n02.png, 20,30,40,24.0\nother.png,1,1,9,9\n"))
	if err != nil {
		t.Fatal(err)
	}
	const height, width = 80, 60
	out := extract(t, Pixels{Size: Size{Height: height, Width: width}}, set, Options{Crop: eyes, Normalise: NormMax})
	for i := range 3 {
		for side, want := range [][2]float64{{0.3 * width, 0.35 * height}, {0.7 * width, 0.35 * height}} {
			// The centre of the bright pixels on that side, in continuous coordinates.
			var sum, x, y float64
			for j := range height * width {
				px, py := float64(j%width)+0.5, float64(j/width)+0.5
				if v := out.X.At(i, j); v > 0.4 && (px > width/2) == (side == 1) {
					sum, x, y = sum+v, x+v*px, y+v*py
				}
			}
			if math.Hypot(x/sum-want[0], y/sum-want[1]) > 0.1 {
				t.Errorf("image %d: eye %d lies at (%.2f, %.2f), want %v", i, side, x/sum, y/sum, want)
			}
		}
	}

	for csv, want := range map[string]string{
		"other.png,1,1,9,9":   "00.png: crop: ",
		"00.png,250,1,260,9":  "00.png: crop: the eye at (250, 1) is outside the image of 200×240 pixels",
		"00.png,50,1,60,-0.6": "00.png: crop: the eye at (60, -0.6)",
	} {
		eyes, err := ReadEyes(writeCSV(t, csv))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Extract(t.Context(), set, Pixels{}, Options{Crop: eyes}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got error %v, want one with %q", csv, err, want)
		}
	}
}

func TestReadEyesErrors(t *testing.T) {
	for csv, want := range map[string]string{
		"a,1,2,3":                              "line 1: wrong number of fields, expected five: file,left_x,left_y,right_x,right_y",
		"file,left_x,left_y,right_x,right_y,z": "line 1: wrong number of fields, expected five: file,left_x,left_y,right_x,right_y",
		"a,1,2,3,4\nb,1,2,x,4":                 `line 2: "x": expected a number`,
		"a,1,2,NaN,4":                          `line 1: "NaN": expected a number`,
		"a,1,2,Inf,4":                          `line 1: "Inf": expected a number`,
		"a,3,2,1,2":                            "line 1: the right eye, at x = 1, must be to the right of the left eye, at x =",
		"a,1,2,3,4\n\na,1,2,3,5":               `line 3: "a" already has other eye positions`,
		"a,\"1,2,3,4":                          "line 1",
	} {
		file := writeCSV(t, csv)
		if _, err := ReadEyes(file); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), file) {
			t.Errorf("%q: got error %v, want one with %q", csv, err, want)
		}
	}
	if _, err := ReadEyes("missing.csv"); err == nil || !strings.Contains(err.Error(), "missing.csv") {
		t.Errorf("missing file: error %v", err)
	}
}

// TestPart checks the rectangles of crops.
func TestPart(t *testing.T) {
	for _, c := range []struct {
		crop Crop
		want image.Rectangle
		ok   bool
	}{
		{Whole{}, image.Rect(0, 0, 9, 4), true},
		{Square{}, image.Rect(2, 0, 6, 4), true},
		{Box{1, 2, 3, 4}, image.Rect(1, 2, 3, 4), true},
		{&Eyes{}, image.Rectangle{}, false},
		{nil, image.Rectangle{}, false},
	} {
		if got, ok := Part(c.crop, image.Pt(9, 4)); got != c.want || ok != c.ok {
			t.Errorf("%T takes %v, %v, want %v", c.crop, got, ok, c.want)
		}
	}
}

func TestThumbnail(t *testing.T) {
	// Two columns of colours, the right one transparent in its lower half.
	img := image.NewNRGBA(image.Rect(3, 5, 3+40, 5+80))
	for y := range 80 {
		for x := range 40 {
			c := color.NRGBA{R: 200, A: 255}
			if x >= 20 {
				c = color.NRGBA{B: 100, A: 255}
				if y >= 40 {
					c.A = 0
				}
			}
			img.SetNRGBA(3+x, 5+y, c)
		}
	}
	small := Thumbnail(img, 4)
	if small.Rect != image.Rect(0, 0, 2, 4) {
		t.Fatalf("size %v, want 2×4", small.Rect)
	}
	for at, want := range map[image.Point]color.RGBA{
		{}: {200, 0, 0, 255}, {X: 1}: {0, 0, 100, 255}, {X: 1, Y: 3}: {255, 255, 255, 255}, {Y: 3}: {200, 0, 0, 255},
	} {
		if got := small.RGBAAt(at.X, at.Y); got != want {
			t.Errorf("at %v: got %v, want %v", at, got, want)
		}
	}
	if same := Thumbnail(img, 1000); same.Rect != image.Rect(0, 0, 40, 80) || same.RGBAAt(19, 79) != (color.RGBA{200, 0, 0, 255}) {
		t.Errorf("a small picture became %v, %v", same.Rect, same.RGBAAt(19, 79))
	}
	for size, want := range map[image.Point]image.Point{
		{X: 160, Y: 160}: {X: 160, Y: 160}, {X: 4000, Y: 3000}: {X: 160, Y: 120}, {X: 10, Y: 100_000}: {X: 1, Y: 160}, {X: 1, Y: 1}: {X: 1, Y: 1},
	} {
		if got := ThumbnailSize(size, 160); got != want {
			t.Errorf("%v: got %v, want %v", size, got, want)
		}
	}
}

// TestThumbnailOfGreys checks that grey images that need no scaling have the same bytes as through colour conversion.
func TestThumbnailOfGreys(t *testing.T) {
	whole := image.NewGray16(image.Rect(3, 2, 303, 302))
	for i := range whole.Pix {
		whole.Pix[i] = byte(i * 7 / 3)
	}
	for v := range 0x10000 {
		whole.Pix[2*v], whole.Pix[2*v+1] = byte(v>>8), byte(v)
	}
	eight := image.NewGray(image.Rect(3, 2, 19, 18))
	for i := range eight.Pix {
		eight.Pix[i] = byte(i)
	}
	for _, img := range []image.Image{whole, whole.SubImage(image.Rect(10, 20, 17, 29)), eight, eight.SubImage(image.Rect(5, 5, 9, 8))} {
		want, got := Thumbnail(img, 300), GreyThumbnail(img, 300)
		if got == nil || got.Rect.Size() != want.Rect.Size() {
			t.Fatalf("a picture of %v became one of %v", want.Rect, got)
		}
		for y := range want.Rect.Dy() {
			for x := range want.Rect.Dx() {
				v := got.GrayAt(got.Rect.Min.X+x, got.Rect.Min.Y+y).Y
				if want.RGBAAt(x, y) != (color.RGBA{v, v, v, 255}) {
					t.Fatalf("a picture of %v: %d at (%d, %d), want %v", want.Rect, v, x, y, want.RGBAAt(x, y))
				}
			}
		}
	}
	if GreyThumbnail(whole, 299) != nil || GreyThumbnail(image.NewRGBA(eight.Rect), 300) != nil {
		t.Error("a picture that has to be reduced, or one in colour, has a thumbnail in grey")
	}
}
