package datasets

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed4492f2cd/partwise/internal/fuzztest"
	limits "github.com/seed4492f2cd/partwise/internal/memory"
)

// waves is a picture of a size in colour.
func waves(width, height int) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			u, v := float64(x)/31, float64(y)/23
			at := func(k float64) uint8 { return uint8(128 + 100*math.Sin(k*u+v)*math.Cos(u-k*v)) }
			img.SetRGBA(x, y, color.RGBA{at(1), at(0.4), at(1.7), 255})
		}
	}
	return img
}

// greatestDifference returns the greatest between two images' pixels, of 255, and more than that where the sizes
// differ.
func greatestDifference(a, b image.Image) int {
	if a.Bounds().Size() != b.Bounds().Size() {
		return 256
	}
	greatest := 0
	for y := range a.Bounds().Dy() {
		for x := range a.Bounds().Dx() {
			p := a.(image.RGBA64Image).RGBA64At(a.Bounds().Min.X+x, a.Bounds().Min.Y+y)
			q := b.(image.RGBA64Image).RGBA64At(b.Bounds().Min.X+x, b.Bounds().Min.Y+y)
			for _, d := range []int{int(p.R) - int(q.R), int(p.G) - int(q.G), int(p.B) - int(q.B)} {
				greatest = max(greatest, (max(d, -d)+128)/257)
			}
		}
	}
	return greatest
}

// one returns the images of a set of one file.
func one(t *testing.T, content []byte) *Images {
	path := writeFile(t, filepath.Join(t.TempDir(), "a"), content)
	return (&Set{Name: "x", Names: []string{"a"}, Files: []string{path}}).Images()
}

// What uses of a file are given is what Reduced makes of the whole image, to rounding, upright, and does
// not depend on other uses.
func TestReading(t *testing.T) {
	files := map[string][]byte{}
	for orientation := uint16(1); orientation <= 8; orientation++ {
		files["JPEG of orientation "+string(rune('0'+orientation))] = withOrientation(t, waves(333, 229), orientation)
	}
	// RGB of several sampling factors is not served, and is reduced when it has been decoded.
	rgb := files["JPEG of orientation 1"]
	rgb = slices.Clone(rgb)
	frame, scan := bytes.Index(rgb, []byte{0xff, 0xc0}), bytes.Index(rgb, []byte{0xff, 0xda})
	for i, name := range []byte("RGB") {
		rgb[frame+10+3*i], rgb[scan+5+2*i] = name, name
	}
	files["JPEG in RGB"] = rgb
	files["PNG"] = encoded(t, png.Encode, waves(333, 229))
	for name, content := range files {
		whole, err := DecodeImageBytes(content)
		if err != nil {
			t.Fatal(err)
		}
		size := whole.Bounds().Size()
		im := one(t, content)
		alone := map[int]image.Image{}
		for _, least := range []int{0, 1, 50, 57, 58, 115, 1000} {
			if err := im.With(t.Context(), 0, Use{Least: least, Do: func(img image.Image, of image.Point) error {
				want := whole
				if least > 0 {
					want = Reduced(whole, least)
				}
				// A level of luma and of both chromas is up to 1 + 1.772 levels of blue.
				if d := greatestDifference(img, want); d > 3 || of != size {
					t.Errorf("%s to %d: %v of %v, want %v of %v; pixels differ by up to %d", name, least, img.Bounds(), of, want.Bounds(), size, d)
				}
				if img.Bounds() != want.Bounds() {
					t.Errorf("%s to %d: bounds %v, want %v", name, least, img.Bounds(), want.Bounds())
				}
				alone[least] = img
				return nil
			}}); err != nil {
				t.Fatal(err)
			}
		}
		var seen []image.Image
		do := func(least int) Use {
			return Use{Least: least, Do: func(img image.Image, of image.Point) error {
				if seen = append(seen, img); greatestDifference(img, alone[least]) > 0 || of != size {
					t.Errorf("%s to %d: another image beside other uses", name, least)
				}
				return nil
			}}
		}
		if err := im.With(t.Context(), 0, do(0), do(50), do(57), do(1), do(1000)); err != nil {
			t.Fatal(err)
		}
		if len(seen) != 5 || seen[1] != seen[2] || seen[0] == seen[1] || seen[1] == seen[3] || seen[4] != seen[0] {
			t.Errorf("%s: images are not shared as their sizes are", name)
		}
	}
}

// A reduced image takes less memory than the whole one: a budget that is too small for that is enough.
func TestReadingMemory(t *testing.T) {
	content := encoded(t, func(w io.Writer, img image.Image) error { return jpeg.Encode(w, img, nil) }, waves(1600, 1200))
	use := func(least int, size image.Point) Use {
		return Use{Least: least, Memory: func(width, height int) int64 {
			if width != size.X || height != size.Y {
				t.Errorf("memory of %d×%d, want %v", width, height, size)
			}
			return 1000
		}, Do: func(img image.Image, whole image.Point) error {
			if whole != image.Pt(1600, 1200) {
				t.Errorf("the whole is %v", whole)
			}
			return nil
		}}
	}
	whole, half, quarter := use(0, image.Pt(1600, 1200)), use(600, image.Pt(800, 600)), use(300, image.Pt(400, 300))
	r, err := newReading(content, false)
	if err != nil {
		t.Fatal(err)
	}
	const ofHalf, ofQuarter = 3*800*600 + smallDecoding, 3*400*300 + smallDecoding
	for _, test := range []struct {
		uses []Use
		want int64
	}{
		{[]Use{whole}, r.header.Memory + 1000}, {[]Use{half}, ofHalf + 1000}, {[]Use{quarter, quarter}, ofQuarter + 1000},
		{[]Use{quarter, half, whole}, r.header.Memory + ofHalf + ofQuarter + 1000},
	} {
		if got := r.memory(test.uses); got != test.want {
			t.Errorf("%d uses need %d bytes, want %d", len(test.uses), got, test.want)
		}
	}
	budget := limits.New(limits.Least)
	release, err := budget.Keep(budget.Free()-6_000_000, "others")
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	im, ctx := one(t, content), limits.NewContext(t.Context(), budget)
	if err := im.With(ctx, 0, half, quarter); err != nil {
		t.Error(err)
	}
	var e *limits.LimitError
	if err := im.With(ctx, 0, half, whole); !errors.As(err, &e) {
		t.Errorf("the whole image within 6 MB: %v", err)
	}
}

// What decoding to a reduced image allocates stays within what is said, of files of any content, and
// what is refused of the whole image is refused.
func FuzzReading(f *testing.F) {
	for _, name := range []string{"jpeg grey", "jpeg colour", "jpeg progressive", "jpeg upright", "png colour"} {
		f.Add(manyImages(f)[name], 20)
	}
	f.Fuzz(fuzztest.Repeat(func(t *testing.T, content []byte, least int) {
		r, err := newReading(content, false)
		if err != nil || len(content) > mostFuzzed || r.header.Width*r.header.Height > 1<<15 {
			return
		}
		var img image.Image
		var size image.Point
		checkMemory(t, r.memory([]Use{{Least: least}})+1<<13*int64(len(content)), func() { img, size, err = r.image(least) })
		whole, wholeErr := DecodeImageBytes(content)
		if (err == nil) != (wholeErr == nil) {
			t.Fatalf("error %v, and %v for the whole image", err, wholeErr)
		}
		if err != nil {
			return
		}
		if want := whole.Bounds().Size(); size != want {
			t.Errorf("a whole of %v, want %v", size, want)
		}
		if least > 0 {
			whole = Reduced(whole, least)
		}
		if img.Bounds().Size() != whole.Bounds().Size() {
			t.Errorf("%v, want %v", img.Bounds(), whole.Bounds())
		}
	}))
}
