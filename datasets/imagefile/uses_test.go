package imagefile_test

import (
	"bytes"
	"errors"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/imagefile"
	limits "github.com/seed4492f2cd/partwise/internal/memory"
)

// greatestDifference returns the largest difference of two images' pixels, of 255, and more if their sizes differ.
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

// imagesOf returns the images of a set of one file.
func imagesOf(t *testing.T, content []byte) *datasets.Images {
	path := filepath.Join(t.TempDir(), "x.jpg")
	if err := os.WriteFile(path, content, 0o666); err != nil {
		t.Fatal(err)
	}
	return (&datasets.Set{Names: []string{"x.jpg"}, Files: []string{path}}).Images()
}

// Uses of a file get the result of Reduced on the whole image, up to rounding, upright, and independent of other uses.
func TestReading(t *testing.T) {
	files := map[string][]byte{}
	for orientation := uint16(1); orientation <= 8; orientation++ {
		files["JPEG of orientation "+string(rune('0'+orientation))] = imagefile.WithOrientation(t, imagefile.Waves(333, 229), orientation)
	}
	// RGB with unequal sampling factors is decoded whole and then reduced.
	rgb := files["JPEG of orientation 1"]
	rgb = slices.Clone(rgb)
	frame, scan := bytes.Index(rgb, []byte{0xff, 0xc0}), bytes.Index(rgb, []byte{0xff, 0xda})
	for i, name := range []byte("RGB") {
		rgb[frame+10+3*i], rgb[scan+5+2*i] = name, name
	}
	files["JPEG in RGB"] = rgb
	files["PNG"] = imagefile.Encoded(t, png.Encode, imagefile.Waves(333, 229))
	for name, content := range files {
		reading, err := imagefile.NewReading(content, false)
		if err != nil {
			t.Fatal(err)
		}
		whole, _, err := reading.Image(0)
		if err != nil {
			t.Fatal(err)
		}
		size := whole.Bounds().Size()
		im := imagesOf(t, content)
		alone := map[int]image.Image{}
		for _, least := range []int{0, 1, 50, 57, 58, 115, 1000} {
			if err := im.With(t.Context(), 0, imagefile.Use{Least: least, Do: func(img image.Image, of image.Point) error {
				want := whole
				if least > 0 {
					want = imagefile.Reduced(whole, least)
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
		do := func(least int) imagefile.Use {
			return imagefile.Use{Least: least, Do: func(img image.Image, of image.Point) error {
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

// A reduced image takes less memory than the whole one: a smaller budget is enough.
func TestReadingWithinBudget(t *testing.T) {
	content := imagefile.Encoded(t, func(w io.Writer, img image.Image) error { return jpeg.Encode(w, img, nil) }, imagefile.Waves(1600, 1200))
	use := func(least int) imagefile.Use {
		return imagefile.Use{Least: least, Do: func(image.Image, image.Point) error { return nil }}
	}
	whole, half, quarter := use(0), use(600), use(300)
	budget := limits.New(limits.Least)
	release, err := budget.Keep(budget.Free()-6_000_000, "others")
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	im, ctx := imagesOf(t, content), limits.NewContext(t.Context(), budget)
	if err := im.With(ctx, 0, half, quarter); err != nil {
		t.Error(err)
	}
	var e *limits.LimitError
	if err := im.With(ctx, 0, half, whole); !errors.As(err, &e) {
		t.Errorf("the whole image within 6 MB: %v", err)
	}
}
