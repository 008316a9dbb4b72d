package datasets

import (
	"image"
	"runtime/metrics"
	"testing"
)

// mostFuzzed is the longest input that the fuzz targets look at: longer ones cost
// time and find nothing else.
const mostFuzzed = 1 << 16

// checkMemory runs f and fails the test where it allocates more than bound
// bytes, as far as can be told without stopping the program: what small objects
// take is counted in steps.
func checkMemory(t testing.TB, bound int64, f func()) {
	t.Helper()
	const steps = 4 << 20
	before := allocated()
	f()
	if used := allocated() - before; used > bound+steps {
		t.Errorf("%d bytes allocated, want at most %d", used, bound)
	}
}

// allocated returns the bytes that were allocated so far.
func allocated() int64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
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
		var header ImageHeader
		var err error
		// A header costs no more than the file.
		checkMemory(t, 64*int64(len(data)), func() { header, err = ReadImageHeader(data) })
		if err != nil || header.Width*header.Height > 1<<14 {
			return // a larger image is right, and slow
		}
		// A TIFF file makes a new unpacker for each of its blocks, each of which takes
		// eight bytes of the file at least.
		checkMemory(t, header.Memory+1<<13*int64(len(data)), func() { img, err = DecodeImageBytes(data) })
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
	whole := withOrientation(f, sample(), 6)
	f.Add(whole)
	f.Add(whole[:100])
	f.Add([]byte("\xff\xd8\xff\xe1\x00\x22Exif\x00\x00II*\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00\x08\x00\x00\x00"))
	f.Add([]byte("\xff\xd8\xff\xff\xff\xe1\x00\x10Exif\x00\x00MM\x00*\xff\xff\xff\xff"))
	f.Add(progressiveJPEG(16, 16, 3))
	f.Fuzz(func(t *testing.T, data []byte) {
		if o := exifOrientation(data); o < 1 || o > 8 {
			t.Errorf("orientation %d", o)
		}
		if o := tiffOrientation(data); o < 1 || o > 8 {
			t.Errorf("orientation %d of a block", o)
		}
		passed := 2
		jpegSegments(data, func(marker byte, segment []byte) bool {
			if marker == 0 || marker == 0xff || len(segment) > 0xffff-2 {
				t.Errorf("a segment %#x of %d bytes", marker, len(segment))
			}
			passed += 4 + len(segment)
			return true
		})
		if passed > len(data)+4 {
			t.Errorf("%d bytes passed of %d", passed, len(data))
		}
	})
}
