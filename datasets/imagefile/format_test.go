package imagefile

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/image/bmp"
)

func TestDecodeImageTellsKindsByContent(t *testing.T) {
	for kind, data := range imageFiles(t) {
		img, err := Decode(writeFile(t, filepath.Join(t.TempDir(), "no extension"), data))
		if err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		want := Gray(Sample())
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

// A run of white in CCITT data has the value 0, which the file declares as white or black.
func TestCCITT(t *testing.T) {
	for photometric, want := range []uint8{0xff, 0} {
		// Eight white rows of Group 4, a bit each, and the end of the block.
		file := greyTIFF(8, 8, 4, []byte{0xff, 0x00, 0x10, 0x01}, tag(258, 3, []uint32{1}), tag(262, 3, []uint32{uint32(photometric)}))
		img, err := DecodeBytes(file)
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
			if _, err := Decode(path); err == nil || !strings.Contains(err.Error(), path) {
				t.Errorf("%s cut to %d of %d bytes: error %v", kind, keep, len(data), err)
			}
		}
	}
}

func TestDecodeImageRefusesHugeHeaders(t *testing.T) {
	hugeBMP := Encoded(t, bmp.Encode, Sample())
	binary.LittleEndian.PutUint32(hugeBMP[18:], 100000)
	binary.LittleEndian.PutUint32(hugeBMP[22:], 100000)
	hugeJPEG := Encoded(t, EncodeJPEG, Sample())
	frame := bytes.Index(hugeJPEG, []byte{0xff, 0xc0})
	copy(hugeJPEG[frame+5:], "\xff\xff\xff\xff")
	hugeGIF := Encoded(t, EncodeGIF, Sample())
	copy(hugeGIF[6:], "\xff\xff\xff\xff")
	for name, data := range map[string][]byte{
		"png": pngHeader(100000, 100000), "bmp": hugeBMP, "jpeg": hugeJPEG, "gif": hugeGIF,
		"pgm": []byte("P5 100000 100000 255\n"), "webp": webPFile(16384, 16384, 1, 2, 3),
		"narrow.png": pngHeader(1, MaxPixels+1),
	} {
		path := writeFile(t, filepath.Join(t.TempDir(), name), data)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Decode(path)
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), "pixels, above the limit of 100 million") || !strings.Contains(err.Error(), path) {
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
		if _, err := Decode(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	for _, path := range []string{dir, filepath.Join(dir, "missing.png")} {
		if _, err := Decode(path); err == nil || !strings.Contains(err.Error(), path) {
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
			t.Errorf("pixel %d: got %v, want %v", i, g, want)
		}
	}
	for x := range 5 {
		opaque := color.NRGBA64{uint16(x * 9999), 0x5555, 0x7777, 0xffff}
		img.SetNRGBA64(10+x, 20, opaque)
		if g, want := Gray(img).Gray16At(x, 0), color.Gray16Model.Convert(opaque); g != want {
			t.Errorf("%v: %v, color.Gray16Model says %v", opaque, g, want)
		}
	}
	plain := struct{ image.Image }{Sample()} // hides the fast access to its pixels
	for _, img := range []image.Image{Sample(), Gray(Sample())} {
		if !bytes.Equal(Gray(img).Pix, Gray(plain).Pix) {
			t.Errorf("%T: other greys than through At", img)
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

// DecodeBytes decodes the content of an image file as Decode does.
func DecodeBytes(content []byte) (image.Image, error) {
	r, err := NewReading(content, false)
	if err != nil {
		return nil, err
	}
	img, _, err := r.Image(0)
	return img, err
}

// Decode reads the image file at path, upright.
func Decode(path string) (img image.Image, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, OpenError(err)
	}
	if err := CheckLength(path, info.Size()); err != nil {
		return nil, err
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, OpenError(err)
	}
	r, err := NewReading(content, false)
	if err == nil {
		img, _, err = r.Image(0)
	}
	if err != nil {
		return nil, FileError(path, err)
	}
	return img, nil
}
