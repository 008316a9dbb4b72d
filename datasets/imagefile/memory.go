package imagefile

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"io"

	"golang.org/x/image/tiff"

	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/heif"
	"github.com/seed4492f2cd/partwise/internal/jpegmeans"
)

const smallDecoding = 1 << 20 // the fixed memory of any decoder: buffers and tables

// Limits on the scans of a JPEG, usually up to 20: a scan of a few bytes can cover all pixels.
const mostScans, mostScanPixels = 128, 2_000_000_000

// memory returns the most bytes that decoding takes at a time. It calls guard.Fail if the header is implausible.
func (f *format) memory(content []byte, c image.Config) int64 {
	pixels, length := int64(c.Width)*int64(c.Height), int64(len(content))
	guard.FailIf(f.densest > 0 && pixels > f.densest*length, "the header declares %d×%d pixels, too many for the %d bytes of the file: %w",
		c.Width, c.Height, length, io.ErrUnexpectedEOF)
	pixel := pixelBytes(c.ColorModel)
	switch f.name {
	case "PNG":
		if bytes.Contains(content, []byte("tRNS")) {
			pixel *= 4
		}
		if at := 28; len(content) > at && content[at] != 0 {
			pixel *= 2 // interlaced: seven images that together take as much
		}
	case "GIF":
		pixel *= 2 // the first frame, and as much again if it is interlaced
	case "JPEG":
		// image/jpeg allocates whole MCUs of up to 32×32 pixels and four bytes for each coefficient of a progressive
		// image, and copies RGB and CMYK images.
		jpeg := jpegmeans.Parse(content)
		if jpeg.Scans > mostScans || int64(jpeg.Scans)*pixels > mostScanPixels {
			guard.Check(NewError(KindTooLarge, "a JPEG of %d×%d pixels in %d scans; the limit is %d scans", c.Width, c.Height, jpeg.Scans,
				min(mostScans, mostScanPixels/pixels)))
		}
		if pixel = int64(jpeg.Components); pixel > 1 {
			pixel += 4
		}
		if jpeg.Progressive {
			pixel += 4 * int64(jpeg.Components)
		}
		return paddedPixels(c, 32) * pixel
	case "TIFF":
		return pixel*pixels + 3*8*tiffBlock(content, c) + 8*length // a block is unpacked into memory that doubles
	case "HEIF":
		return heif.Memory(c.Width, c.Height, length)
	case "WebP":
		return webpMemory(content, c)
	}
	return pixel*pixels + 16*int64(c.Width)
}

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

// paddedPixels returns the pixels of an image whose sides are rounded up to multiples of to.
func paddedPixels(c image.Config, to int) int64 {
	return int64((c.Width+to-1)/to*to) * int64((c.Height+to-1)/to*to)
}

// webpMemory: the lossy decoder takes three bytes for two pixels and more for its tables. The lossless one takes 4 for
// each pixel, as much again for a palette, and a byte more for the transparency of a lossy image.
func webpMemory(content []byte, c image.Config) int64 {
	guard.FailIf(len(content) < 16, "%w", io.ErrUnexpectedEOF)
	// The decoder trusts the lengths of chunks. None may be longer than the file, rounded up to even.
	whole := int64(binary.LittleEndian.Uint32(content[4:])) + 8
	guard.FailIf(whole > int64(len(content))+1, "the header declares %d bytes, but the file has %d: %w", whole, len(content), io.ErrUnexpectedEOF)
	const extended, flagsAt, animated = "VP8X", 20, 0x02
	if string(content[12:16]) == extended && len(content) > flagsAt && content[flagsAt]&animated != 0 {
		guard.Check(NewError(KindUnsupported, "animated WebP images are not supported"))
	}
	const tables = 64 << 20 // up to 2600 groups of prefix codes
	return paddedPixels(c, 16)*11 + min(tables, 64*int64(len(content))) + int64(len(content))
}

// Tags of the directory of a TIFF file.
const (
	tiffCompression, tiffPhotometric, tiffOrientation = 259, 262, 274
	tiffRowsPerStrip, tiffTileWidth, tiffTileLength   = 278, 322, 323
)

// mostBlockPixels limits the pixels of all blocks of a TIFF file, which may share bytes or exceed the image.
const mostBlockPixels = 250_000_000

// decodeTIFF inverts CCITT images whose tag says that 0 is black, because the decoder has already assumed so.
func decodeTIFF(content []byte) (image.Image, error) {
	img, err := tiff.Decode(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	const ccitt3, ccitt4, blackIsZero = 3, 4, 1
	tags := tiffTags(content)
	packing := tags[tiffCompression]
	if grey, ok := img.(*image.Gray); ok && (packing == ccitt3 || packing == ccitt4) && tags[tiffPhotometric] == blackIsZero {
		for i, v := range grey.Pix {
			grey.Pix[i] = 0xff - v
		}
	}
	return img, nil
}

// tiffBlock returns the pixels of a block, which is a strip of rows or a tile.
func tiffBlock(content []byte, c image.Config) int64 {
	tags := tiffTags(content)
	width, height := int64(c.Width), int64(c.Height)
	if w := tags[tiffTileWidth]; w != 0 {
		width, height = w, max(tags[tiffTileLength], 1)
	} else if h := tags[tiffRowsPerStrip]; h != 0 {
		height = min(h, height)
	}
	across, down := (int64(c.Width)+width-1)/width, (int64(c.Height)+height-1)/height
	guard.FailIf(width > MaxPixels || height > MaxPixels || across*width > mostBlockPixels/(down*height),
		"%d blocks of %d×%d pixels in an image of %d×%d", across*down, width, height, c.Width, c.Height)
	return width * height
}

// tiffTags returns the tags with a single integer in the first directory of a TIFF file.
func tiffTags(content []byte) map[uint16]int64 {
	var order binary.ByteOrder = binary.LittleEndian
	if bytes.HasPrefix(content, []byte("MM")) {
		order = binary.BigEndian
	}
	tags := map[uint16]int64{}
	if len(content) < 8 {
		return tags
	}
	at := int64(order.Uint32(content[4:]))
	if at+2 > int64(len(content)) {
		return tags
	}
	entries := content[at+2:]
	for range order.Uint16(content[at:]) {
		if len(entries) < 12 {
			break
		}
		tag, value := order.Uint16(entries), entries[8:12]
		switch kind, count := order.Uint16(entries[2:]), order.Uint32(entries[4:]); {
		case kind == 3 && count > 0 && count <= 2:
			tags[tag] = int64(order.Uint16(value))
		case kind == 4 && count == 1:
			tags[tag] = int64(order.Uint32(value))
		}
		entries = entries[12:]
	}
	return tags
}
