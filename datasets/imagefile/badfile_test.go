package imagefile_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/imagefile"
)

// noise returns an image whose parts take about equally many bytes.
func noise(width, height int) *image.RGBA {
	rng := rand.New(rand.NewPCG(1, 2))
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for i := range img.Pix {
		img.Pix[i] = uint8(rng.Uint32())
	}
	return img
}

// opened opens a file with this content, and may accept truncated files.
func opened(t *testing.T, content []byte, useTruncated bool) (img image.Image, truncated string, err error) {
	t.Helper()
	images := imagesOf(t, content)
	images.UseTruncated = useTruncated
	img, err = images.Open(t.Context(), 0)
	return img, images.Truncated(0), err
}

// TestKinds: each damaged file has its kind, and valid files have none.
func TestKinds(t *testing.T) {
	whole := imagefile.Encoded(t, png.Encode, noise(40, 40))
	photograph := imagefile.Encoded(t, imagefile.EncodeJPEG, noise(40, 40))
	damaged := bytes.Clone(photograph)
	copy(damaged[len(damaged)/2:], bytes.Repeat([]byte{0xff, 0xd0}, 40))
	large := imagefile.RawPNG(100_000, 100_000, 8, 0, 0, make([]byte, 1000))
	for want, contents := range map[imagefile.Kind][][]byte{
		imagefile.KindEmpty:       {{}},
		imagefile.KindNoImage:     {[]byte("hello, this is no image")},
		imagefile.KindTruncated:   {[]byte("\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic"), whole[:len(whole)/2], photograph[:len(photograph)/5], photograph[:100], imagefile.Encoded(t, imagefile.EncodeGIF, noise(40, 40))[:900]},
		imagefile.KindDamaged:     {damaged},
		imagefile.KindTooLarge:    {large, imagefile.ProgressiveJPEG(100, 100, 128+1)},
		imagefile.KindUnsupported: {imagefile.RIFF("VP8X\x02\x00\x00\x00\xca\x00\x00\x6a\x00\x00")},
	} {
		for i, content := range contents {
			for _, useTruncated := range []bool{false, true} {
				_, _, err := opened(t, content, useTruncated)
				if err == nil || imagefile.KindOf(err) != want || !strings.Contains(err.Error(), "x.jpg") {
					t.Errorf("file %d of kind %q is %q: %v", i, want, imagefile.KindOf(err), err)
				}
			}
		}
	}
	if _, _, err := opened(t, whole, true); err != nil {
		t.Error(err)
	}
	if kind := imagefile.KindOf(errors.New("all values are zero")); kind != imagefile.KindNoFeatures {
		t.Errorf("kind %q", kind)
	}
	bad := []datasets.BadFile{{Kind: imagefile.KindTruncated}, {Kind: imagefile.KindDamaged}, {Kind: imagefile.KindNoImage}, {Kind: imagefile.KindDamaged}, {Kind: imagefile.KindBrokenLink}, {Kind: imagefile.KindBrokenLink}}
	if got, want := datasets.CountKinds(bad), "2 broken links, 2 damaged, 1 not an image, 1 truncated"; got != want {
		t.Errorf("counted %q, want %q", got, want)
	}
}

// TestUseTruncated: a truncated JPEG file gives its first rows as stored if these are at least half and UseTruncated is
// set; otherwise it is an error. A reduced image has the same rows.
func TestUseTruncated(t *testing.T) {
	upright := imagefile.WithOrientation(t, noise(64, 96), 6)
	progressive, err := os.ReadFile(filepath.Join("..", "..", "internal", "jpegmeans", "testdata", "progressive-420.jpg"))
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"colour": imagefile.Encoded(t, imagefile.EncodeJPEG, noise(64, 96)), "grey": imagefile.Encoded(t, imagefile.EncodeJPEG, image.NewGray(image.Rect(0, 0, 640, 960)))} {
		whole, err := jpeg.Decode(bytes.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		size := whole.Bounds().Size()
		for _, part := range []int{40, 70, 95, 99} {
			cut := content[:len(content)*part/100]
			if _, _, err := opened(t, cut, false); imagefile.KindOf(err) != imagefile.KindTruncated {
				t.Errorf("%s, %d %%: error %v, though nobody asks for a part", name, part, err)
			}
			img, said, err := opened(t, cut, true)
			if part < 45 {
				if imagefile.KindOf(err) != imagefile.KindTruncated || !strings.Contains(err.Error(), fmt.Sprintf("of %d rows, and images with less than half", size.Y)) && name == "colour" {
					t.Errorf("%s, %d %%: error %v", name, part, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s, %d %%: %v", name, part, err)
				continue
			}
			got := img.Bounds().Size()
			if got.X != size.X || 2*got.Y < size.Y || got.Y >= size.Y || said != fmt.Sprintf("the JPEG file ends early: it has %d of %d rows", got.Y, size.Y) {
				t.Errorf("%s, %d %%: %v of %v, said %q", name, part, got, size, said)
			}
			if !bytes.Equal(imagefile.Gray(whole).Pix[:2*got.X*got.Y], imagefile.Gray(img).Pix) {
				t.Errorf("%s, %d %%: the rows differ", name, part)
			}
		}
	}
	if img, _, err := opened(t, upright[:len(upright)*8/10], true); err != nil || img.Bounds().Dy() != 64 || img.Bounds().Dx() >= 96 || img.Bounds().Dx() < 48 {
		t.Errorf("turned upright: %v, %v", img, err)
	}
	if img, said, err := opened(t, progressive[:len(progressive)*8/10], true); err != nil || img.Bounds().Dy() != 77 || !strings.Contains(said, "finest detail") {
		t.Errorf("progressive: %q, %v", said, err)
	}
	if _, said, err := opened(t, progressive, true); err != nil || said != "" {
		t.Errorf("a whole file: %q, %v", said, err)
	}
	large := imagefile.Encoded(t, imagefile.EncodeJPEG, noise(256, 256))
	images := imagesOf(t, large[:len(large)*3/4])
	images.UseTruncated = true
	if err := images.With(context.Background(), 0, imagefile.Use{Least: 64, Do: func(img image.Image, whole image.Point) error {
		if whole.Y >= 256 || whole.Y < 128 || img.Bounds().Dy() != (whole.Y+1)/2 {
			t.Errorf("%v of %v", img.Bounds(), whole)
		}
		return nil
	}}); err != nil {
		t.Error(err)
	}
}
