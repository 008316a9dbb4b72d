package datasets

import (
	"encoding/binary"
	"errors"
	"fmt"
	"image"
)

// The tags of a TIFF file's directory that tell how much its pixels take.
const (
	tiffBitsPerSample = 258
	tiffCompression   = 259
	tiffRowsPerStrip  = 278
	tiffTileWidth     = 322
	tiffTileLength    = 323
)

// tiffRatios tells for each form of compression how many bytes a byte can unpack
// to. CCITT's codes are not among them: a bit can stand for a row of any length.
var tiffRatios = map[int64]int64{
	0: 1, 1: 1, 5: mostLZW, 8: mostDeflate, 32946: mostDeflate, 32773: mostPackBits,
}

// maxTile is the largest tile that is read, in pixels, where it is larger than
// the image.
const maxTile = 1 << 20

// costOfTIFF: the decoder unpacks a block, a strip of rows or a tile, as far as
// 8 bytes a pixel, into memory that grows to up to three times that, and then
// puts its pixels into the image.
func costOfTIFF(content []byte, c image.Config) (int64, error) {
	tags, err := tiffTags(content)
	if err != nil {
		return 0, err
	}
	bits, samples := max(tags[tiffBitsPerSample].value, 1), max(tags[tiffBitsPerSample].count, 1)
	if bits > 16 || samples > 16 {
		return 0, fmt.Errorf("%d samples of %d bits in a pixel", samples, bits)
	}
	row := (int64(c.Width)*bits*samples + 7) / 8
	ratio, known := tiffRatios[tags[tiffCompression].value]
	if !known {
		// A row takes a bit at least.
		row, ratio = 1, 8
	}
	if err := checkPromise(c, row*int64(c.Height), content, ratio); err != nil {
		return 0, err
	}
	block := pixelsOf(c)
	if w := tags[tiffTileWidth].value; w != 0 {
		h := tags[tiffTileLength].value
		if w > MaxPixels || h > MaxPixels || w*h > max(4*block, maxTile) {
			return 0, fmt.Errorf("tiles of %d×%d pixels in an image of %d×%d", w, h, c.Width, c.Height)
		}
		block = w * h
	} else if h := tags[tiffRowsPerStrip].value; 0 < h && h < int64(c.Height) {
		block = int64(c.Width) * h
	}
	unpacked := 8 * block
	if known {
		unpacked = min(unpacked, ratio*int64(len(content)))
	}
	return pixelsOf(c)*max(bits/8, 1)*max(samples, samples/3*4) + 3*unpacked, nil
}

// tiffTag is one entry of a directory: the number of its values and the first.
type tiffTag struct{ count, value int64 }

// tiffTags reads the first directory of a TIFF file, the only one that is
// decoded.
func tiffTags(content []byte) (map[uint16]tiffTag, error) {
	if len(content) < 8 {
		return nil, errors.New("no header")
	}
	var order binary.ByteOrder = binary.LittleEndian
	if content[0] == 'M' {
		order = binary.BigEndian
	}
	at := int64(order.Uint32(content[4:]))
	if at+2 > int64(len(content)) {
		return nil, errors.New("its directory lies beyond the file's end")
	}
	entries := content[at+2:]
	tags := map[uint16]tiffTag{}
	for range order.Uint16(content[at:]) {
		if len(entries) < 12 {
			return nil, errors.New("its directory runs over the file's end")
		}
		entry := entries[:12]
		entries = entries[12:]
		number := func(b []byte, kind uint16) int64 {
			switch kind {
			case 1:
				return int64(b[0])
			case 3:
				return int64(order.Uint16(b))
			}
			return int64(order.Uint32(b))
		}
		kind := order.Uint16(entry[2:])
		tag := tiffTag{count: int64(order.Uint32(entry[4:]))}
		values := entry[8:]
		// More than four bytes lie elsewhere.
		if size := map[uint16]int64{1: 1, 3: 2, 4: 4}[kind]; size*tag.count > 4 {
			start := int64(order.Uint32(values))
			if start+4 > int64(len(content)) {
				return nil, fmt.Errorf("the values of tag %d lie beyond the file's end", order.Uint16(entry))
			}
			values = content[start:]
		}
		tag.value = number(values, kind)
		tags[order.Uint16(entry)] = tag
	}
	return tags, nil
}
