// Package imagetest makes image files for tests.
package imagetest

import (
	"bytes"
	"compress/lzw"
	"compress/zlib"
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
	"testing"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
)

func Encoded(t testing.TB, encode func(io.Writer, image.Image) error, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func EncodeJPEG(w io.Writer, img image.Image) error {
	return jpeg.Encode(w, img, &jpeg.Options{Quality: 100})
}
func EncodeGIF(w io.Writer, img image.Image) error  { return gif.Encode(w, img, nil) }
func EncodeTIFF(w io.Writer, img image.Image) error { return tiff.Encode(w, img, nil) }
func EncodePGM(w io.Writer, img image.Image) error {
	b := img.Bounds()
	fmt.Fprintf(w, "P5\n# a comment\n%d %d\n255\n", b.Dx(), b.Dy())
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			w.Write([]byte{color.GrayModel.Convert(img.At(x, y)).(color.Gray).Y})
		}
	}
	return nil
}

// WebPFile returns a lossless WebP file of one colour: every prefix code has a
// single symbol, so that the pixels take no bits.
func WebPFile(width, height int, r, g, b uint8) []byte {
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

// Sample is 7×5 pixels of grey that rises to the right and down.
func Sample() *image.Gray {
	img := image.NewGray(image.Rect(0, 0, 7, 5))
	for i := range img.Pix {
		img.Pix[i] = uint8(20 + 6*i)
	}
	return img
}

// ImageFiles returns one file of each kind: Sample, and a WebP of one colour.
func ImageFiles(t testing.TB) map[string][]byte {
	return map[string][]byte{
		"png":  Encoded(t, png.Encode, Sample()),
		"jpeg": Encoded(t, EncodeJPEG, Sample()),
		"gif":  Encoded(t, EncodeGIF, Sample()),
		"bmp":  Encoded(t, bmp.Encode, Sample()),
		"tiff": Encoded(t, EncodeTIFF, Sample()),
		"pgm":  Encoded(t, EncodePGM, Sample()),
		"webp": WebPFile(7, 5, 40, 80, 120),
	}
}

func WithOrientation(t testing.TB, img image.Image, orientation uint16) []byte {
	file := Encoded(t, EncodeJPEG, img)
	order := binary.BigEndian
	exif := []byte("Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x02")
	exif = order.AppendUint16(exif, 0x0100) // a tag before
	exif = append(exif, 0, 3, 0, 0, 0, 1, 0, 9, 0, 0)
	exif = order.AppendUint16(exif, 0x0112)
	exif = append(exif, 0, 3, 0, 0, 0, 1)
	exif = order.AppendUint16(exif, orientation)
	exif = append(exif, 0, 0)
	out := []byte{0xff, 0xd8}
	for _, block := range [][]byte{[]byte("http://ns.adobe.com/xap/1.0/\x00<x/>"), exif} {
		out = order.AppendUint16(append(out, 0xff, 0xe1), uint16(len(block)+2))
		out = append(out, block...)
	}
	return append(out, file[2:]...)
}

// ProgressiveJPEG returns a grey progressive JPEG of one colour: a first scan of
// a bit for each block, and then scans in which a few bytes stand for all blocks.
func ProgressiveJPEG(width, height, scans int) []byte {
	order := binary.BigEndian
	out := []byte{0xff, 0xd8}
	segment := func(marker byte, data ...byte) {
		out = order.AppendUint16(append(out, 0xff, marker), uint16(len(data)+2))
		out = append(out, data...)
	}
	segment(0xdb, append([]byte{0}, bytes.Repeat([]byte{1}, 64)...)...)
	size := order.AppendUint16(order.AppendUint16(nil, uint16(height)), uint16(width))
	segment(0xc2, append(append([]byte{8}, size...), 1, 1, 0x11, 0)...)
	oneCode := func(class, symbol byte) {
		segment(0xc4, append(append([]byte{class, 1}, make([]byte, 15)...), symbol)...)
	}
	oneCode(0x00, 0x00)
	oneCode(0x10, 0xe0) // 2^14 blocks that end
	blocks := (width + 7) / 8 * ((height + 7) / 8)
	segment(0xda, 1, 1, 0, 0, 0, 0)
	out = append(out, make([]byte, blocks/8+2)...)
	for range scans - 1 {
		segment(0xda, 1, 1, 0, 1, 63, 0x10)
		out = append(out, make([]byte, blocks/(1<<14)*15/8+4)...)
	}
	return append(out, 0xff, 0xd9)
}

// TIFFEntry is one entry of a TIFF file's directory.
type TIFFEntry struct {
	tag, kind uint16
	values    []uint32
}

// Tag returns an entry of values of a kind: bytes (1), or whole numbers of 2 (3) or 4 bytes.
func Tag(tag, kind uint16, values []uint32) TIFFEntry { return TIFFEntry{tag, kind, values} }

// TIFFFile returns a TIFF file of one directory, which the data follow at the
// offset 1024.
func TIFFFile(order binary.AppendByteOrder, data []byte, entries ...TIFFEntry) []byte {
	out := []byte("II*\x00")
	if order.String() == "BigEndian" {
		out = []byte("MM\x00*")
	}
	out = order.AppendUint16(order.AppendUint32(out, 8), uint16(len(entries)))
	beyond := 8 + 2 + 12*len(entries) + 4
	var more []byte
	for _, e := range entries {
		var values []byte
		for _, v := range e.values {
			switch e.kind {
			case 1:
				values = append(values, byte(v))
			case 3:
				values = order.AppendUint16(values, uint16(v))
			default:
				values = order.AppendUint32(values, v)
			}
		}
		out = order.AppendUint32(order.AppendUint16(order.AppendUint16(out, e.tag), e.kind), uint32(len(e.values)))
		if len(values) > 4 {
			out = order.AppendUint32(out, uint32(beyond+len(more)))
			more = append(more, values...)
		} else {
			out = append(out, append(values, make([]byte, 4-len(values))...)...)
		}
	}
	out = append(append(out, 0, 0, 0, 0), more...)
	out = append(out, make([]byte, max(0, 1024-len(out)))...)
	return append(out, data...)
}

// GreyTIFF returns a grey TIFF file of a size, a form of compression and one
// strip, and with the entries given, which go before those of the same tags.
func GreyTIFF(width, height, compression uint32, data []byte, entries ...TIFFEntry) []byte {
	all := map[uint16]TIFFEntry{
		256: {256, 4, []uint32{width}}, 257: {257, 4, []uint32{height}}, 258: {258, 3, []uint32{8}},
		259: {259, 3, []uint32{compression}}, 262: {262, 3, []uint32{1}},
		273: {273, 4, []uint32{1024}}, 278: {278, 4, []uint32{height}}, 279: {279, 4, []uint32{uint32(len(data))}},
	}
	for _, e := range entries {
		all[e.tag] = e
	}
	var sorted []TIFFEntry
	for tag := range uint16(400) {
		if e, ok := all[tag]; ok {
			sorted = append(sorted, e)
		}
	}
	return TIFFFile(binary.LittleEndian, data, sorted...)
}

// RawPNG returns a PNG file with this header and the packed rows.
func RawPNG(width, height uint32, depth, colour, interlaced byte, rows []byte, chunks ...string) []byte {
	out := []byte("\x89PNG\r\n\x1a\n")
	chunk := func(kind string, data []byte) {
		out = binary.BigEndian.AppendUint32(out, uint32(len(data)))
		whole := append([]byte(kind), data...)
		out = binary.BigEndian.AppendUint32(append(out, whole...), crc32.ChecksumIEEE(whole))
	}
	header := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, width), height)
	chunk("IHDR", append(header, depth, colour, 0, 0, interlaced))
	for _, c := range chunks {
		chunk(c[:4], []byte(c[4:]))
	}
	chunk("IDAT", Deflated(rows))
	chunk("IEND", nil)
	return out
}

func Deflated(data []byte) []byte {
	var out bytes.Buffer
	z := zlib.NewWriter(&out)
	z.Write(data)
	z.Close()
	return out.Bytes()
}

// RIFF returns a WebP file of these chunks, a name of four letters and data each.
func RIFF(chunks ...string) []byte {
	out := []byte("RIFF\x00\x00\x00\x00WEBP")
	for _, c := range chunks {
		out = binary.LittleEndian.AppendUint32(append(out, c[:4]...), uint32(len(c)-4))
		out = append(out, c[4:]...)
		if len(c)%2 == 1 {
			out = append(out, 0)
		}
	}
	binary.LittleEndian.PutUint32(out[4:], uint32(len(out)-8))
	return out
}

// ManyImages returns images of every kind, and of the forms of each that take
// memory in other ways.
func ManyImages(t testing.TB) map[string][]byte {
	box := image.Rect(0, 0, 203, 107)
	grey, colour, deep, paletted := image.NewGray(box), image.NewNRGBA(box), image.NewNRGBA64(box), image.NewPaletted(box, color.Palette{color.Black, color.White})
	for i := range grey.Pix {
		grey.Pix[i] = uint8(i * i >> 7)
		paletted.Pix[i] = uint8(i >> 5 & 1)
	}
	for i := range colour.Pix {
		colour.Pix[i] = uint8(i>>3 | 3)
	}
	for i := range deep.Pix {
		deep.Pix[i] = uint8(i>>4 | 5)
	}
	deflate := func(w io.Writer, img image.Image) error {
		return tiff.Encode(w, img, &tiff.Options{Compression: tiff.Deflate, Predictor: true})
	}
	packBits := []byte{}
	for range 64 {
		packBits = append(packBits, 0xc1, 9) // 64 bytes of 9
	}
	var tiled bytes.Buffer
	z := lzw.NewWriter(&tiled, lzw.MSB, 8) // short enough to be the same in a TIFF file
	z.Write(bytes.Repeat([]byte{7}, 64))
	z.Close()
	interlaced := []byte{}
	for _, pass := range [][2]int{{1, 1}, {1, 1}, {2, 1}, {2, 2}, {4, 2}, {4, 4}, {8, 4}} { // of an 8×8 image
		for range pass[1] {
			interlaced = append(interlaced, make([]byte, 1+pass[0])...)
		}
	}
	files := map[string][]byte{
		"png grey": Encoded(t, png.Encode, grey), "png colour": Encoded(t, png.Encode, colour),
		"png deep": Encoded(t, png.Encode, deep), "png paletted": Encoded(t, png.Encode, paletted),
		"png interlaced":       RawPNG(8, 8, 8, 0, 1, interlaced),
		"png transparent grey": RawPNG(4, 1, 8, 0, 0, []byte{0, 1, 2, 3, 4}, "tRNS\x00\x02"),
		"png palette index":    RawPNG(4, 1, 8, 3, 0, []byte{0, 0, 1, 200, 255}, "PLTE\x01\x02\x03\x04\x05\x06"),
		"jpeg grey":            Encoded(t, EncodeJPEG, grey), "jpeg colour": Encoded(t, EncodeJPEG, colour),
		"jpeg progressive": ProgressiveJPEG(203, 107, 20), "jpeg upright": WithOrientation(t, grey, 6),
		"gif": Encoded(t, EncodeGIF, grey), "bmp grey": Encoded(t, bmp.Encode, grey), "bmp colour": Encoded(t, bmp.Encode, colour),
		"tiff grey": Encoded(t, EncodeTIFF, grey), "tiff colour": Encoded(t, EncodeTIFF, colour), "tiff deep": Encoded(t, EncodeTIFF, deep),
		"tiff deflate": Encoded(t, deflate, colour), "tiff deflate deep": Encoded(t, deflate, deep),
		"tiff packbits": GreyTIFF(64, 64, 32773, packBits),
		"tiff lzw":      GreyTIFF(8, 8, 5, tiled.Bytes()),
		"tiff tiles": GreyTIFF(12, 12, 1, make([]byte, 256), TIFFEntry{322, 3, []uint32{16}}, TIFFEntry{323, 3, []uint32{16}},
			TIFFEntry{324, 4, []uint32{1024}}, TIFFEntry{325, 4, []uint32{256}}),
		"pgm": Encoded(t, EncodePGM, grey), "ppm": append([]byte("P6 40 30 255\n"), make([]byte, 3600)...),
		"webp":          WebPFile(203, 107, 1, 2, 3),
		"webp extended": RIFF("VP8X\x00\x00\x00\x00\xca\x00\x00\x6a\x00\x00", "VP8L"+string(WebPFile(203, 107, 1, 2, 3)[20:])),
	}
	return files
}

// Waves is a picture of a size in colour.
func Waves(width, height int) *image.RGBA {
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
