package datasets

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"io"

	"github.com/seed4492f2cd/partwise/internal/jpegmeans"
)

// How many bytes one byte of a packed file can unpack to. A code of DEFLATE
// stands for at most 258 bytes and takes two bits at least. A code of LZW stands
// for no more bytes than there are codes, 4096, and takes more than a byte where
// it stands for more than 2^8. PackBits puts up to 128 bytes into two.
const (
	mostDeflate  = 1032
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

// costOfPNG: image/png unpacks the pixels into the image row by row; an
// interlaced image comes in seven parts that take as much again together.
func costOfPNG(content []byte, c image.Config) (int64, error) {
	if len(content) < 29 {
		return 0, io.ErrUnexpectedEOF
	}
	depth, colour, interlaced := int64(content[24]), content[25], content[28] != 0
	samples := map[byte]int64{2: 3, 4: 2, 6: 4}[colour] // 0 is grey, 3 has a palette
	row := 1 + (int64(c.Width)*max(samples, 1)*depth+7)/8
	if err := checkPromise(c, row*int64(c.Height), content, mostDeflate); err != nil {
		return 0, err
	}
	bytesPerPixel := max(depth/8, 1)
	if samples > 0 || bytes.Contains(content, []byte("tRNS")) {
		bytesPerPixel *= 4
	}
	cost := pixelsOf(c) * bytesPerPixel
	if interlaced {
		cost *= 2
	}
	return cost + 2*row, nil
}

// Bounds on the scans of a JPEG. Files as programs write them have up to 20. A
// scan can take no more than a few bytes and yet goes over all pixels, which
// takes about 7 ms for a million of them.
const (
	mostScans      = 128
	mostScanPixels = 2_000_000_000
)

// costOfJPEG: every block of 8×8 pixels takes a bit at least, in the first scan.
// image/jpeg fills whole MCUs, of up to 32×32 pixels, keeps the coefficients of
// progressive images until all scans are read, four bytes each, and makes a new
// image where the three or four components are RGB or CMYK.
func costOfJPEG(content []byte, c image.Config) (int64, error) {
	if err := checkPromise(c, (pixelsOf(c)+511)/512, content, 1); err != nil {
		return 0, err
	}
	f := jpegmeans.Parse(content)
	if f.Scans > mostScans || int64(f.Scans)*pixelsOf(c) > mostScanPixels {
		return 0, kinded(KindTooLarge, "a JPEG of %d×%d pixels in %d scans, where %d are read at most", c.Width, c.Height, f.Scans,
			min(mostScans, mostScanPixels/pixelsOf(c)))
	}
	components := int64(f.Components)
	bytesPerPixel := components
	if components > 1 {
		bytesPerPixel += 4
	}
	if f.Progressive {
		bytesPerPixel += 4 * components
	}
	mcus := ((int64(c.Width) + 31) / 32) * ((int64(c.Height) + 31) / 32)
	return mcus * 32 * 32 * bytesPerPixel, nil
}

// costOfGIF: the first frame takes a byte a pixel, and as much again where it is
// interlaced. The size in the file's header is that of the canvas.
func costOfGIF(content []byte, c image.Config) (int64, error) {
	const extension, text, descriptor, hasColours = 0x21, 0x01, 0x2c, 0x80
	at := 13
	if len(content) >= at && content[10]&hasColours != 0 {
		at += 3 << (content[10]&7 + 1)
	}
	for at+1 < len(content) && content[at] == extension {
		if content[at+1] == text {
			at += 13 // its first block, whatever length that gives
		}
		at += 2
		for at < len(content) && content[at] != 0 {
			at += 1 + int(content[at])
		}
		at++
	}
	if at >= len(content) || content[at] == descriptor && at+9 >= len(content) {
		return 0, io.ErrUnexpectedEOF
	}
	if content[at] != descriptor {
		return 0, nil // image/gif tells what is wrong
	}
	frame := content[at:]
	c.Width, c.Height = int(binary.LittleEndian.Uint16(frame[5:])), int(binary.LittleEndian.Uint16(frame[7:]))
	if err := checkPromise(c, pixelsOf(c), content, mostLZW); err != nil {
		return 0, err
	}
	return 2 * pixelsOf(c), nil
}

// costOfBMP: rows are filled up to four bytes.
func costOfBMP(content []byte, c image.Config) (int64, error) {
	if len(content) < 30 {
		return 0, io.ErrUnexpectedEOF
	}
	bits := int64(binary.LittleEndian.Uint16(content[28:]))
	row := (int64(c.Width)*bits + 31) / 32 * 4
	if err := checkPromise(c, row*int64(c.Height), content, 1); err != nil {
		return 0, err
	}
	if bits <= 8 {
		return pixelsOf(c) + row, nil
	}
	return 4*pixelsOf(c) + row, nil
}

// costOfWebP: a lossless image of few colours takes no bits for its pixels, so
// nothing but MaxPixels bounds the promise. The lossy decoder takes three bytes
// for two pixels and more for its tables, the lossless one 4 for each pixel and
// as much again for a palette, and where it gives a lossy image its
// transparency, a byte more.
func costOfWebP(content []byte, c image.Config) (int64, error) {
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
		return 0, kinded(KindUnsupported, "an animated WebP, which is not read")
	}
	blocks := ((int64(c.Width) + 15) / 16) * ((int64(c.Height) + 15) / 16)
	const tables = 64 << 20 // up to 2600 groups of prefix codes
	return blocks*16*16*11 + min(tables, 64*int64(len(content))) + int64(len(content)), nil
}

// costOfPNM: the image of 16 bits a sample, and a row.
func costOfPNM(content []byte, c image.Config) (int64, error) {
	if content[1] == '3' || content[1] == '6' {
		return 8*pixelsOf(c) + 8*int64(c.Width), nil
	}
	return 2*pixelsOf(c) + 2*int64(c.Width), nil
}
