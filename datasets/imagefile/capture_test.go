package imagefile_test

import (
	"bytes"
	"image"
	"image/jpeg"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed4492f2cd/partwise/datasets/imagefile"
)

// ReadCapture returns what the EXIF block holds, and nothing for other files, also if the block is cut or changed.
func TestReadCapture(t *testing.T) {
	var plain bytes.Buffer
	if err := jpeg.Encode(&plain, image.NewGray(image.Rect(0, 0, 8, 8)), nil); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "a.jpg")
	read := func(content []byte) imagefile.Capture {
		t.Helper()
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		return imagefile.ReadCapture(path)
	}
	taken := time.Date(2021, 7, 3, 23, 59, 58, 0, time.UTC)
	whole := imagefile.WithEXIF(plain.Bytes(), taken, "NIKON D80", -33.5, 151.25)
	c := read(whole)
	if !c.Taken.Equal(taken) || c.Camera != "NIKON D80" || math.Abs(c.Latitude+33.5) > 1e-6 || math.Abs(c.Longitude-151.25) > 1e-6 {
		t.Errorf("got %+v", c)
	}
	if c := read(imagefile.WithEXIF(plain.Bytes(), time.Time{}, "", 0, 0)); c != (imagefile.Capture{}) {
		t.Errorf("of an empty block: %+v", c)
	}
	for _, other := range [][]byte{plain.Bytes(), nil, []byte("GIF89a"), []byte("no image")} {
		if c := read(other); c != (imagefile.Capture{}) {
			t.Errorf("%q: %+v", other[:min(len(other), 8)], c)
		}
	}
	if c := imagefile.ReadCapture(path + " that is missing"); c != (imagefile.Capture{}) {
		t.Errorf("of no file: %+v", c)
	}
	for at := 2; at < 200; at++ { // must not panic, and coordinates stay on the earth
		spoilt := bytes.Clone(whole)
		spoilt[at] ^= 0xa5
		for _, content := range [][]byte{spoilt, whole[:at]} {
			if c := read(content); !(math.Abs(c.Latitude) <= 90 && math.Abs(c.Longitude) <= 180) {
				t.Errorf("byte %d: %+v", at, c)
			}
		}
	}
}
