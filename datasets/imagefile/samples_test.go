package imagefile

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"io"
	"math"
	"testing"

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

// Sample returns a 7×5 grey image with values that increase to the right and downwards.
func Sample() *image.Gray {
	img := image.NewGray(image.Rect(0, 0, 7, 5))
	for i := range img.Pix {
		img.Pix[i] = uint8(20 + 6*i)
	}
	return img
}

func WithOrientation(t testing.TB, img image.Image, orientation uint16) []byte {
	file := Encoded(t, EncodeJPEG, img)
	order := binary.BigEndian
	exif := []byte("Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x02")
	exif = order.AppendUint16(exif, 0x0100) // another tag before the orientation
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

// ProgressiveJPEG returns a uniform grey progressive JPEG: the first scan has one bit per block, and in the other scans a
// few bytes encode all blocks.
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
	oneCode(0x10, 0xe0) // an end-of-block run of 2^14 blocks
	blocks := (width + 7) / 8 * ((height + 7) / 8)
	segment(0xda, 1, 1, 0, 0, 0, 0)
	out = append(out, make([]byte, blocks/8+2)...)
	for range scans - 1 {
		segment(0xda, 1, 1, 0, 1, 63, 0x10)
		out = append(out, make([]byte, blocks/(1<<14)*15/8+4)...)
	}
	return append(out, 0xff, 0xd9)
}

// RawPNG returns a PNG file with the given header, additional chunks and packed rows.
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

// RIFF returns a WebP file of chunks, each a four-letter name followed by data.
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

// Waves returns a colour image with a smooth pattern.
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
