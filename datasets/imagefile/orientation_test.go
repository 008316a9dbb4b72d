package imagefile

import (
	"bytes"
	"image"
	"math"
	"path/filepath"
	"testing"

	"github.com/seed4492f2cd/partwise/internal/jpegmeans"
)

// TestOrientation decodes a JPEG file with an EXIF block after one of XMP.
func TestOrientation(t *testing.T) {
	// Four squares, and their visible positions: upper left, upper right, lower left, lower right.
	const a, b, c, d = 250, 170, 90, 10
	stored := image.NewGray(image.Rect(0, 0, 32, 16))
	for y := range 16 {
		for x := range 32 {
			stored.Pix[y*32+x] = [][]uint8{{a, b}, {c, d}}[y/8][x/16]
		}
	}
	for orientation, want := range map[uint16][4]float64{
		0: {a, b, c, d}, 1: {a, b, c, d}, 2: {b, a, d, c}, 3: {d, c, b, a}, 4: {c, d, a, b},
		5: {a, c, b, d}, 6: {c, a, d, b}, 7: {d, b, c, a}, 8: {b, d, a, c}, 9: {a, b, c, d},
	} {
		img, err := Decode(writeFile(t, filepath.Join(t.TempDir(), "a.jpg"), WithOrientation(t, stored, orientation)))
		if err != nil {
			t.Fatal(err)
		}
		size := image.Pt(32, 16)
		if orientation >= 5 && orientation <= 8 {
			size = image.Pt(16, 32)
		}
		g := Gray(img)
		if g.Bounds().Size() != size {
			t.Errorf("orientation %d: size %v, want %v", orientation, g.Bounds().Size(), size)
			continue
		}
		for i, p := range []image.Point{{0, 0}, {size.X - 1, 0}, {0, size.Y - 1}, {size.X - 1, size.Y - 1}} {
			if got := float64(g.Gray16At(p.X, p.Y).Y) / 257; math.Abs(got-want[i]) > 8 {
				t.Errorf("orientation %d: corner %d is %v, want %v", orientation, i, got, want[i])
			}
			if r, _, _, _ := img.At(p.X, p.Y).RGBA(); math.Abs(float64(r)/257-want[i]) > 8 {
				t.Errorf("orientation %d: At gives %v at corner %d, want %v", orientation, r, i, want[i])
			}
		}
	}
}

func TestOrientationOfOddBlocks(t *testing.T) {
	whole := WithOrientation(t, Sample(), 6)
	at := bytes.Index(whole, []byte("Exif"))
	for _, keep := range []int{0, 1, 2, 5, at, at + 6, at + 10, at + 14, at + 20, at + 30} {
		if got := orientationOf(jpegmeans.Parse(whole[:keep]).EXIF); got != 1 {
			t.Errorf("cut to %d bytes: orientation %d", keep, got)
		}
	}
	if got := orientationOf(jpegmeans.Parse(whole).EXIF); got != 6 {
		t.Errorf("orientation %d, want 6", got)
	}
	ofBlock := func(block string) int {
		size := len(block) + 8
		return orientationOf(jpegmeans.Parse([]byte("\xff\xd8\xff\xe1" + string([]byte{byte(size >> 8), byte(size)}) + "Exif\x00\x00" + block + "\xff\xd9")).EXIF)
	}
	for _, data := range []string{
		"", "II*\x00", "II*\x00\xff\xff\xff\xff", "XX*\x00\x08\x00\x00\x00", "II*\x00\x08\x00\x00\x00\xff\xff",
		"II*\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00\x63\x00\x00\x00", // 99
	} {
		if got := ofBlock(data); got != 1 {
			t.Errorf("%q: orientation %d", data, got)
		}
	}
	if got := ofBlock("II*\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00\x08\x00\x00\x00"); got != 8 {
		t.Errorf("little-endian: orientation %d, want 8", got)
	}
}
