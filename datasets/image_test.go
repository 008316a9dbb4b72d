package datasets

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
	"gonum.org/v1/gonum/mat"
)

// encoded returns img as a file made by encode.
func encoded(t testing.TB, encode func(io.Writer, image.Image) error, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func encodeJPEG(w io.Writer, img image.Image) error {
	return jpeg.Encode(w, img, &jpeg.Options{Quality: 100})
}
func encodeGIF(w io.Writer, img image.Image) error  { return gif.Encode(w, img, nil) }
func encodeTIFF(w io.Writer, img image.Image) error { return tiff.Encode(w, img, nil) }
func encodePGM(w io.Writer, img image.Image) error {
	b := img.Bounds()
	fmt.Fprintf(w, "P5\n# a comment\n%d %d\n255\n", b.Dx(), b.Dy())
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			w.Write([]byte{color.GrayModel.Convert(img.At(x, y)).(color.Gray).Y})
		}
	}
	return nil
}

// webpFile returns a lossless WebP file of one colour: every prefix code has a
// single symbol, so that the pixels take no bits.
func webpFile(width, height int, r, g, b uint8) []byte {
	var bits []byte
	n := 0
	put := func(v, count int) {
		for i := range count {
			if n%8 == 0 {
				bits = append(bits, 0)
			}
			bits[n/8] |= byte(v>>i&1) << (n % 8)
			n++
		}
	}
	put(0x2f, 8)
	put(width-1, 14)
	put(height-1, 14)
	put(0, 1+3)   // no alpha, version 0
	put(0, 1+1+1) // no transform, colour cache or meta prefix codes
	for _, symbol := range []int{int(g), int(r), int(b), 255} {
		put(1, 1) // simple code
		put(0, 1) // of one symbol
		put(1, 1) // of 8 bits
		put(symbol, 8)
	}
	put(1, 1) // the code of distances: one symbol of 1 bit, 0
	put(0, 3)
	if len(bits)%2 == 1 {
		bits = append(bits, 0)
	}
	file := []byte("RIFF\x00\x00\x00\x00WEBPVP8L")
	file = binary.LittleEndian.AppendUint32(file, uint32(len(bits)))
	file = append(file, bits...)
	binary.LittleEndian.PutUint32(file[4:], uint32(len(file)-8))
	return file
}

// sample is 7×5 pixels of grey that rises to the right and down.
func sample() *image.Gray {
	img := image.NewGray(image.Rect(0, 0, 7, 5))
	for i := range img.Pix {
		img.Pix[i] = uint8(20 + 6*i)
	}
	return img
}

// imageFiles returns one file of each kind: sample, and a WebP of one colour.
func imageFiles(t testing.TB) map[string][]byte {
	return map[string][]byte{
		"png":  encoded(t, png.Encode, sample()),
		"jpeg": encoded(t, encodeJPEG, sample()),
		"gif":  encoded(t, encodeGIF, sample()),
		"bmp":  encoded(t, bmp.Encode, sample()),
		"tiff": encoded(t, encodeTIFF, sample()),
		"pgm":  encoded(t, encodePGM, sample()),
		"webp": webpFile(7, 5, 40, 80, 120),
	}
}

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

// Pictures of phones that are not read are named, with what converts them.
func TestUnreadKinds(t *testing.T) {
	for brand, word := range map[string]string{"avif": "avifdec", "heic": "heif-convert", "mif1": "sips", "mp42": "not a PNG"} {
		_, err := DecodeImageBytes([]byte("\x00\x00\x00\x14ftyp" + brand + "\x00\x00\x00\x00mp42" + "avifavif"))
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%s: %v, want an error with %q", brand, err, word)
		}
	}
	// One kind of several may be general.
	if _, err := DecodeImageBytes([]byte("\x00\x00\x00\x1cftypmif1\x00\x00\x00\x00mif1avifmiaf")); err == nil || !strings.Contains(err.Error(), "avifdec") {
		t.Errorf("an AVIF picture of a general kind: %v", err)
	}
}

func TestDecodeImageTellsKindsByContent(t *testing.T) {
	for kind, data := range imageFiles(t) {
		img, err := DecodeImage(writeFile(t, filepath.Join(t.TempDir(), "no extension"), data))
		if err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		want := Gray(sample())
		tolerance := 0.0
		switch kind {
		case "jpeg":
			tolerance = 3
		case "gif":
			tolerance = 16 // its palette has few greys
		case "webp":
			for i := range 5 * 7 {
				want.SetGray16(i%7, i/7, color.Gray16{Y: 18658}) // 257 · (0.299·40 + 0.587·80 + 0.114·120)
			}
			tolerance = 0.01
		}
		got := Gray(img)
		if got.Bounds() != want.Bounds() {
			t.Errorf("%s: bounds %v, want %v", kind, got.Bounds(), want.Bounds())
			continue
		}
		for y := range 5 {
			for x := range 7 {
				g, w := float64(got.Gray16At(x, y).Y)/257, float64(want.Gray16At(x, y).Y)/257
				if math.Abs(g-w) > tolerance {
					t.Errorf("%s: (%d, %d) is %v, want %v ± %v", kind, x, y, g, w, tolerance)
				}
			}
		}
	}
}

// A run of white in data packed as CCITT says has the value 0, which the file says
// is white or black.
func TestCCITT(t *testing.T) {
	for photometric, want := range []uint8{0xff, 0} {
		// Eight white rows of Group 4, a bit each, and the end of the block.
		file := greyTIFF(8, 8, 4, []byte{0xff, 0x00, 0x10, 0x01}, tiffEntry{258, 3, []uint32{1}}, tiffEntry{262, 3, []uint32{uint32(photometric)}})
		img, err := DecodeImageBytes(file)
		if err != nil {
			t.Fatal(err)
		}
		if got := color.GrayModel.Convert(img.At(3, 4)).(color.Gray).Y; got != want {
			t.Errorf("photometric interpretation %d: white is %d, want %d", photometric, got, want)
		}
	}
}

func TestDecodeImageTruncated(t *testing.T) {
	for kind, data := range imageFiles(t) {
		for _, keep := range []int{len(data) / 3, len(data) * 2 / 3} {
			path := writeFile(t, filepath.Join(t.TempDir(), "cut."+kind), data[:keep])
			if _, err := DecodeImage(path); err == nil || !strings.Contains(err.Error(), path) {
				t.Errorf("%s cut to %d of %d bytes: error %v", kind, keep, len(data), err)
			}
		}
	}
}

func pngHeader(width, height uint32) []byte {
	chunk := binary.BigEndian.AppendUint32([]byte("IHDR"), width)
	chunk = binary.BigEndian.AppendUint32(chunk, height)
	chunk = append(chunk, 16, 6, 0, 0, 0) // 16-bit RGBA
	file := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d"), chunk...)
	return binary.BigEndian.AppendUint32(file, crc32.ChecksumIEEE(chunk))
}

func TestDecodeImageRefusesHugeHeaders(t *testing.T) {
	hugeBMP := encoded(t, bmp.Encode, sample())
	binary.LittleEndian.PutUint32(hugeBMP[18:], 100000)
	binary.LittleEndian.PutUint32(hugeBMP[22:], 100000)
	hugeJPEG := encoded(t, encodeJPEG, sample())
	frame := bytes.Index(hugeJPEG, []byte{0xff, 0xc0})
	copy(hugeJPEG[frame+5:], "\xff\xff\xff\xff")
	hugeGIF := encoded(t, encodeGIF, sample())
	copy(hugeGIF[6:], "\xff\xff\xff\xff")
	for name, data := range map[string][]byte{
		"png": pngHeader(100000, 100000), "bmp": hugeBMP, "jpeg": hugeJPEG, "gif": hugeGIF,
		"pgm": []byte("P5 100000 100000 255\n"), "webp": webpFile(16384, 16384, 1, 2, 3),
		"narrow.png": pngHeader(1, MaxPixels+1),
	} {
		path := writeFile(t, filepath.Join(t.TempDir(), name), data)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := DecodeImage(path)
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), "more than 100 million") || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: error %v", name, err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20 {
			t.Errorf("%s: took %d bytes", name, took)
		}
	}
}

func TestDecodeImageErrors(t *testing.T) {
	dir := t.TempDir()
	for name, data := range map[string]string{
		"empty.png": "", "text.jpg": "not an image", "odd.pbm": "P4 8 1\n\x00", "short.png": "\x89PN",
		"none.bmp": "BM????\x00\x00\x00\x00",
	} {
		path := writeFile(t, filepath.Join(dir, name), []byte(data))
		if _, err := DecodeImage(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	for _, path := range []string{dir, filepath.Join(dir, "missing.png")} {
		if _, err := DecodeImage(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: error %v", path, err)
		}
	}
}

func TestGray(t *testing.T) {
	img := image.NewNRGBA64(image.Rect(10, 20, 16, 21))
	for i, c := range []color.NRGBA64{
		{0xffff, 0, 0, 0xffff}, {0, 0xffff, 0, 0xffff}, {0, 0, 0xffff, 0xffff},
		{0x1234, 0x1234, 0x1234, 0xffff}, {0, 0, 0, 0}, {0, 0, 0, 0x8000},
	} {
		img.SetNRGBA64(10+i, 20, c)
	}
	got := Gray(img)
	if want := image.Rect(0, 0, 6, 1); got.Bounds() != want {
		t.Fatalf("bounds %v, want %v", got.Bounds(), want)
	}
	for i, want := range []float64{0.299 * 0xffff, 0.587 * 0xffff, 0.114 * 0xffff, 0x1234, 0xffff, 0x7fff} {
		if g := float64(got.Gray16At(i, 0).Y); math.Abs(g-want) > 1 {
			t.Errorf("pixel %d: %v, want %v", i, g, want)
		}
	}
	for x := range 5 {
		opaque := color.NRGBA64{uint16(x * 9999), 0x5555, 0x7777, 0xffff}
		img.SetNRGBA64(10+x, 20, opaque)
		if g, want := Gray(img).Gray16At(x, 0), color.Gray16Model.Convert(opaque); g != want {
			t.Errorf("%v: %v, color.Gray16Model says %v", opaque, g, want)
		}
	}
	plain := struct{ image.Image }{sample()} // no fast way to its pixels
	for _, img := range []image.Image{sample(), Gray(sample())} {
		if !bytes.Equal(Gray(img).Pix, Gray(plain).Pix) {
			t.Errorf("%T: other greys than through At", img)
		}
	}
}

func vectorSet(n, m, height, width int, values ...float64) *Set {
	s := &Set{Name: "vectors", Vectors: mat.NewDense(n, m, values), Height: height, Width: width}
	for i := range n {
		s.Names = append(s.Names, fmt.Sprintf("v.csv row %d", i+1))
		s.Labels = append(s.Labels, -1)
	}
	return s
}

func TestImageOfVector(t *testing.T) {
	for _, test := range []struct {
		name   string
		values []float64
		want   []uint16 // of sample 1
	}{
		{"0 to 1", []float64{0, 1, 0.5, 0.1, 0, 1, 0.5, 0.25}, []uint16{0, 0xffff, 0x8000, 0x4000}},
		{"dark 0 to 1", []float64{0, 0, 0, 0.5, 0, 0, 0, 0.5}, []uint16{0, 0, 0, 0x8000}},
		{"0 to 255", []float64{0, 2, 0, 0, 0, 255, 1, 100}, []uint16{0, 0xffff, 257, 25700}},
		{"other", []float64{-2, 0, 0, 0, 0, 2, -1, 1}, []uint16{0x8000, 0xffff, 0x4000, 0xbfff}},
		{"over 255", []float64{510, 510, 510, 510, 510, 255, 510, 510}, []uint16{0xffff, 0x8000, 0xffff, 0xffff}},
	} {
		img, err := vectorSet(2, 4, 2, 2, test.values...).Image(1)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range test.want {
			if got := color.Gray16Model.Convert(img.At(i%2, i/2)).(color.Gray16).Y; got != want {
				t.Errorf("%s: pixel %d is %#x, want %#x", test.name, i, got, want)
			}
		}
	}
	if b, w := (&Set{Vectors: NewBytes(1, 3, []uint8{0, 1, 1})}).ValueRange(); b != 0 || w != 1 {
		t.Errorf("bytes 0 and 1: range %v to %v", b, w)
	}
	if b, w := (&Set{Vectors: NewBytes(1, 3, []uint8{0, 2, 1})}).ValueRange(); b != 0 || w != 255 {
		t.Errorf("bytes 0 to 2: range %v to %v", b, w)
	}

	if _, err := vectorSet(1, 4, 2, 2, 0, math.NaN(), 1, 1).Image(0); err == nil || !strings.Contains(err.Error(), "v.csv row 1: column 2") {
		t.Errorf("NaN: error %v", err)
	}
	if _, err := vectorSet(1, 2, 0, 0, 0, 1).Image(0); err == nil || !strings.Contains(err.Error(), "v.csv row 1") {
		t.Errorf("no images: error %v", err)
	}
}
