package imagefile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"io"

	"github.com/seed4492f2cd/partwise/internal/jpegmeans"
)

// How many bytes one byte of a packed file can unpack to. A code of LZW stands for no
// more bytes than there are codes, 4096, and takes more than a byte where it stands for
// more than 2^8. PackBits puts up to 128 bytes into two.
const (
	mostLZW      = 4096
	mostPackBits = 64
)

// checkPromise returns an error where a file with this content cannot hold need
// bytes of pixels, packed or, with most 1, as they are.
func checkPromise(c image.Config, need int64, content []byte, most int64) error {
	if need > most*int64(len(content)) {
		return fmt.Errorf("%d×%d pixels are promised, which the %d bytes of the file cannot hold: %w",
			c.Width, c.Height, len(content), io.ErrUnexpectedEOF)
	}
	return nil
}

func pixelsOf(c image.Config) int64 { return int64(c.Width) * int64(c.Height) }

// pixelBytes returns how many bytes a decoded pixel of a colour model takes.
func pixelBytes(model color.Model) int64 {
	switch model {
	case color.GrayModel:
		return 1
	case color.Gray16Model:
		return 2
	case color.RGBA64Model, color.NRGBA64Model:
		return 8
	}
	if _, ok := model.(color.Palette); ok {
		return 1
	}
	return 4
}

// Bounds on the scans of a JPEG. Files as programs write them have up to 20. A
// scan can take no more than a few bytes and yet goes over all pixels, which
// takes about 7 ms for a million of them.
const (
	mostScans      = 128
	mostScanPixels = 2_000_000_000
)

// memory returns the most bytes that decoding a file with this header allocates at a
// time. It is an error if the content cannot hold as many pixels, or if decoding would
// take out of all proportion.
func (f *format) memory(content []byte, c image.Config) (int64, error) {
	if f.densest > 0 {
		if err := checkPromise(c, pixelsOf(c), content, f.densest); err != nil {
			return 0, err
		}
	}
	pixel, rows := pixelBytes(c.ColorModel), 16*int64(c.Width)
	switch f.name {
	case "PNG":
		if bytes.Contains(content, []byte("tRNS")) {
			pixel *= 4
		}
		if at := 28; len(content) > at && content[at] != 0 {
			pixel *= 2 // interlaced: seven images that take as much together
		}
	case "JPEG":
		return jpegMemory(content, c)
	case "GIF":
		pixel *= 2 // the first frame, and as much again where it is interlaced
	case "TIFF":
		blocks, err := tiffBlocks(content, c)
		return pixelsOf(c)*pixel + blocks, err
	case "WebP":
		return webpMemory(content, c)
	}
	return pixelsOf(c)*pixel + rows, nil
}

// jpegMemory: image/jpeg fills whole MCUs, of up to 32×32 pixels, keeps the
// coefficients of progressive images until all scans are read, four bytes each, and
// makes a new image where the three or four components are RGB or CMYK.
func jpegMemory(content []byte, c image.Config) (int64, error) {
	f := jpegmeans.Parse(content)
	if f.Scans > mostScans || int64(f.Scans)*pixelsOf(c) > mostScanPixels {
		return 0, NewError(KindTooLarge, "a JPEG of %d×%d pixels in %d scans, where %d are read at most", c.Width, c.Height, f.Scans,
			min(mostScans, mostScanPixels/pixelsOf(c)))
	}
	pixel := int64(f.Components)
	if f.Components > 1 {
		pixel += 4
	}
	if f.Progressive {
		pixel += 4 * int64(f.Components)
	}
	return padded(c, 32) * pixel, nil
}

// padded returns the pixels of an image whose sides are filled up to a multiple.
func padded(c image.Config, to int) int64 {
	return int64((c.Width+to-1)/to*to) * int64((c.Height+to-1)/to*to)
}

// webpMemory: a lossless image of few colours takes no bits for its pixels, so
// nothing but MaxPixels bounds the promise. The lossy decoder takes three bytes
// for two pixels and more for its tables, the lossless one 4 for each pixel and
// as much again for a palette, and where it gives a lossy image its
// transparency, a byte more.
func webpMemory(content []byte, c image.Config) (int64, error) {
	if len(content) < 16 {
		return 0, io.ErrUnexpectedEOF
	}
	// The decoder takes the lengths that chunks promise at their word. None may
	// be longer than the whole, which is filled up to an even number of bytes.
	if whole := int64(binary.LittleEndian.Uint32(content[4:])); whole+8 > int64(len(content))+1 {
		return 0, fmt.Errorf("%d bytes are promised and %d are there: %w", whole+8, len(content), io.ErrUnexpectedEOF)
	}
	const extended, flagsAt, animated = "VP8X", 20, 0x02
	if string(content[12:16]) == extended && len(content) > flagsAt && content[flagsAt]&animated != 0 {
		return 0, NewError(KindUnsupported, "an animated WebP, which is not read")
	}
	const tables = 64 << 20 // up to 2600 groups of prefix codes
	return padded(c, 16)*11 + min(tables, 64*int64(len(content))) + int64(len(content)), nil
}
