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

// smallDecoding is what any decoder takes beside what grows with the image:
// buffers, tables and chunks that are read before they are known to be there.
const smallDecoding = 1 << 20

// Bounds on the scans of a JPEG. Files as programs write them have up to 20. A scan can take no more than a
// few bytes and yet goes over all pixels, which takes about 7 ms for a million of them.
const (
	mostScans      = 128
	mostScanPixels = 2_000_000_000
)

// memory returns the most bytes that decoding a file with this header allocates at a time. It is an error
// if the content cannot hold as many pixels, or if decoding would take out of all proportion.
func (f *format) memory(content []byte, c image.Config) (int64, error) {
	pixels, length := int64(c.Width)*int64(c.Height), int64(len(content))
	if f.densest > 0 && pixels > f.densest*length {
		return 0, fmt.Errorf("%d×%d pixels are promised, which the %d bytes of the file cannot hold: %w",
			c.Width, c.Height, length, io.ErrUnexpectedEOF)
	}
	pixel := pixelBytes(c.ColorModel)
	switch f.name {
	case "PNG":
		if bytes.Contains(content, []byte("tRNS")) {
			pixel *= 4
		}
		if at := 28; len(content) > at && content[at] != 0 {
			pixel *= 2 // interlaced: seven images that take as much together
		}
	case "GIF":
		pixel *= 2 // the first frame, and as much again where it is interlaced
	case "JPEG":
		// image/jpeg fills whole MCUs, of up to 32×32 pixels, keeps the coefficients of progressive images
		// until all scans are read, four bytes each, and makes a new image of components that are RGB or CMYK.
		jpeg := jpegmeans.Parse(content)
		if jpeg.Scans > mostScans || int64(jpeg.Scans)*pixels > mostScanPixels {
			return 0, NewError(KindTooLarge, "a JPEG of %d×%d pixels in %d scans, where %d are read at most", c.Width, c.Height, jpeg.Scans,
				min(mostScans, mostScanPixels/pixels))
		}
		if pixel = int64(jpeg.Components); pixel > 1 {
			pixel += 4
		}
		if jpeg.Progressive {
			pixel += 4 * int64(jpeg.Components)
		}
		return padded(c, 32) * pixel, nil
	case "TIFF":
		block, err := tiffBlock(content, c)
		return pixel*pixels + 3*8*block + 8*length, err // a block is unpacked in memory that doubles
	case "WebP":
		return webpMemory(content, c)
	}
	return pixel*pixels + 16*int64(c.Width), nil
}

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

// padded returns the pixels of an image whose sides are filled up to a multiple.
func padded(c image.Config, to int) int64 {
	return int64((c.Width+to-1)/to*to) * int64((c.Height+to-1)/to*to)
}

// webpMemory: the lossy decoder takes three bytes for two pixels and more for its tables, the lossless one
// 4 for each pixel and as much again for a palette, and where it gives a lossy image its transparency, a
// byte more.
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
