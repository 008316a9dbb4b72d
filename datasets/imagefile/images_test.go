package imagefile

import (
	"bytes"
	"compress/lzw"
	"encoding/binary"
	"image"
	"image/color"
	"image/png"
	"io"
	"testing"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
)

// webPFile returns a lossless WebP file of one colour: every prefix code has a single symbol, so pixels take no bits.
func webPFile(width, height int, r, g, b uint8) []byte {
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

// imageFiles returns one file of each format: Sample and a WebP of one colour.
func imageFiles(t testing.TB) map[string][]byte {
	return map[string][]byte{
		"png":  Encoded(t, png.Encode, Sample()),
		"jpeg": Encoded(t, EncodeJPEG, Sample()),
		"gif":  Encoded(t, EncodeGIF, Sample()),
		"bmp":  Encoded(t, bmp.Encode, Sample()),
		"tiff": Encoded(t, EncodeTIFF, Sample()),
		"pgm":  Encoded(t, EncodePGM, Sample()),
		"webp": webPFile(7, 5, 40, 80, 120),
	}
}

// tiffEntry is one entry of a TIFF file's directory.
type tiffEntry struct {
	tag, kind uint16
	values    []uint32
}

// tag returns a directory entry with values of a type: bytes (1), or integers of 2 (3) or 4 (4) bytes.
func tag(tag, kind uint16, values []uint32) tiffEntry { return tiffEntry{tag, kind, values} }

// tiffFile returns a TIFF file with one directory, and the data at offset 1024.
func tiffFile(order binary.AppendByteOrder, data []byte, entries ...tiffEntry) []byte {
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

// greyTIFF returns a grey TIFF file with one strip; entries replace those with the same tags.
func greyTIFF(width, height, compression uint32, data []byte, entries ...tiffEntry) []byte {
	all := map[uint16]tiffEntry{
		256: {256, 4, []uint32{width}}, 257: {257, 4, []uint32{height}}, 258: {258, 3, []uint32{8}},
		259: {259, 3, []uint32{compression}}, 262: {262, 3, []uint32{1}},
		273: {273, 4, []uint32{1024}}, 278: {278, 4, []uint32{height}}, 279: {279, 4, []uint32{uint32(len(data))}},
	}
	for _, e := range entries {
		all[e.tag] = e
	}
	var sorted []tiffEntry
	for tag := range uint16(400) {
		if e, ok := all[tag]; ok {
			sorted = append(sorted, e)
		}
	}
	return tiffFile(binary.LittleEndian, data, sorted...)
}

// manyImages returns images of every format and of each form with another use of memory.
func manyImages(t testing.TB) map[string][]byte {
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
		"tiff packbits": greyTIFF(64, 64, 32773, packBits),
		"tiff lzw":      greyTIFF(8, 8, 5, tiled.Bytes()),
		"tiff tiles": greyTIFF(12, 12, 1, make([]byte, 256), tiffEntry{322, 3, []uint32{16}}, tiffEntry{323, 3, []uint32{16}},
			tiffEntry{324, 4, []uint32{1024}}, tiffEntry{325, 4, []uint32{256}}),
		"pgm": Encoded(t, EncodePGM, grey), "ppm": append([]byte("P6 40 30 255\n"), make([]byte, 3600)...),
		"webp":          webPFile(203, 107, 1, 2, 3),
		"webp extended": RIFF("VP8X\x00\x00\x00\x00\xca\x00\x00\x6a\x00\x00", "VP8L"+string(webPFile(203, 107, 1, 2, 3)[20:])),
	}
	return files
}
