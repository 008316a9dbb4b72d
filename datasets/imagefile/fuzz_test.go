package imagefile

import (
	"image"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed4492f2cd/partwise/internal/jpegmeans"
	"github.com/seed4492f2cd/partwise/internal/testkit"
)

const mostFuzzed = 1 << 16

func writeFile(t testing.TB, path string, data []byte) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// checkMemory runs f and fails the test if it allocates more than bound bytes, within the error of measurement.
func checkMemory(t testing.TB, bound int64, f func()) {
	t.Helper()
	const wrongBy = 4 << 20
	if used := int64(testkit.Allocated(f)); used > bound+wrongBy {
		t.Errorf("%d bytes allocated, want at most %d", used, bound)
	}
}

func headerOf(content []byte) (Header, error) {
	_, header, err := readHeader(content)
	return header, err
}

func FuzzDecodeImage(f *testing.F) {
	for _, data := range imageFiles(f) {
		f.Add(data)
	}
	for _, data := range manyImages(f) {
		if len(data) < 4000 {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > mostFuzzed {
			return
		}
		var img image.Image
		var header Header
		var err error
		// A header costs at most as much as the file.
		checkMemory(t, 64*int64(len(data)), func() { header, err = headerOf(data) })
		if err != nil || header.Width*header.Height > 1<<14 {
			return // a larger image is valid, and slow
		}
		// A TIFF decoder allocates an unpacker for each block, and a block takes at least eight bytes of the file.
		checkMemory(t, header.Memory+1<<13*int64(len(data)), func() { img, err = DecodeBytes(data) })
		if err != nil {
			return
		}
		size := img.Bounds().Size()
		if header.Format == "JPEG" && size.X != header.Width {
			size.X, size.Y = size.Y, size.X
		}
		if size.X > header.Width || size.Y > header.Height || header.Format != "GIF" && size != image.Pt(header.Width, header.Height) {
			t.Errorf("an image of %v, and the header says %+v", size, header)
		}
		if g := Gray(img); g.Bounds().Empty() || g.Bounds().Size() != img.Bounds().Size() {
			t.Errorf("grey image of %v for an image of %v", g.Bounds(), img.Bounds())
		}
	})
}

func FuzzEXIF(f *testing.F) {
	whole := WithOrientation(f, Sample(), 6)
	f.Add(whole)
	f.Add(whole[:100])
	f.Add([]byte("\xff\xd8\xff\xe1\x00\x22Exif\x00\x00II*\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00\x08\x00\x00\x00"))
	f.Add([]byte("\xff\xd8\xff\xff\xff\xe1\x00\x10Exif\x00\x00MM\x00*\xff\xff\xff\xff"))
	f.Add(ProgressiveJPEG(16, 16, 3))
	f.Fuzz(func(t *testing.T, data []byte) {
		if o := orientationOf(jpegmeans.Parse(data).EXIF); o < 1 || o > 8 {
			t.Errorf("orientation %d", o)
		}
	})
}
