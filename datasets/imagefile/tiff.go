package imagefile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"

	"github.com/seed4492f2cd/partwise/internal/zipfile"

	"golang.org/x/image/tiff"
)

// The tags of a TIFF file's directory that tell how much its pixels take, and which
// side of the image is up.
const (
	tiffBitsPerSample   = 258
	tiffCompression     = 259
	tiffPhotometric     = 262
	tiffOrientation     = 274
	tiffRowsPerStrip    = 278
	tiffStripByteCounts = 279
	tiffTileWidth       = 322
	tiffTileLength      = 323
	tiffTileByteCounts  = 325
)

// tiffRatios tells for each form of compression how many bytes a byte can unpack
// to. CCITT's codes are not among them: a bit can stand for a row of any length.
var tiffRatios = map[int64]int64{
	0: 1, 1: 1, 5: mostLZW, 8: zipfile.MostDeflate, 32946: zipfile.MostDeflate, 32773: mostPackBits,
}

// maxTile is the largest tile that is read, in pixels, where it is larger than
// the image.
const maxTile = 1 << 20

// mostBlockBytes bounds the bytes of all blocks of a TIFF file together, packed
// and unpacked. Blocks may share their bytes, and tiles may be larger than the
// image, so a small file can hold many times what its image takes.
const mostBlockBytes = 2_000_000_000

// decodeTIFF: the decoder takes 0 for black in data packed as CCITT says, where a
// run of white is made of the value 0. So where the file says that 0 is black, all
// pixels come out inverted.
func decodeTIFF(content []byte) (image.Image, error) {
	img, err := tiff.Decode(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	tags, err := tiffTags(content)
	if err != nil {
		return nil, err
	}
	const ccitt3, ccitt4, blackIsZero = 3, 4, 1
	packing := tags[tiffCompression].value()
	if grey, ok := img.(*image.Gray); ok && (packing == ccitt3 || packing == ccitt4) && tags[tiffPhotometric].value() == blackIsZero {
		for i, v := range grey.Pix {
			grey.Pix[i] = 0xff - v
		}
	}
	return img, nil
}

// tiffBlocks returns the memory that the blocks of a file, strips of rows or tiles, take
// beside the image: where they are and how long, and one of them unpacked, 8 bytes a
// pixel, in memory that grows to up to three times that.
func tiffBlocks(content []byte, c image.Config) (int64, error) {
	tags, err := tiffTags(content)
	if err != nil {
		return 0, err
	}
	row := (int64(c.Width)*tags[tiffBitsPerSample].value()*tags[tiffBitsPerSample].count + 7) / 8
	ratio, known := tiffRatios[tags[tiffCompression].value()]
	if !known {
		ratio = 8 // a row takes a bit at least
		row = 1
	}
	if err := checkPromise(c, max(row, 1)*int64(c.Height), content, ratio); err != nil {
		return 0, err
	}
	width, height, counts := int64(c.Width), int64(c.Height), tags[tiffStripByteCounts]
	if w := tags[tiffTileWidth].value(); w != 0 {
		width, height, counts = w, max(tags[tiffTileLength].value(), 1), tags[tiffTileByteCounts]
	} else if h := tags[tiffRowsPerStrip].value(); 0 < h && h < height {
		height = h
	}
	if width > MaxPixels || height > MaxPixels || width*height > max(4*pixelsOf(c), maxTile) {
		return 0, fmt.Errorf("tiles of %d×%d pixels in an image of %d×%d", width, height, c.Width, c.Height)
	}
	blocks := ((int64(c.Width) + width - 1) / width) * ((int64(c.Height) + height - 1) / height)
	packed := int64(0)
	for i := range min(blocks, counts.count, int64(len(counts.values))) {
		packed += min(counts.at(i), int64(len(content)))
	}
	unpacked := 8 * width * height
	if blocks > mostBlockBytes/unpacked || packed > mostBlockBytes {
		return 0, fmt.Errorf("%d blocks of %d×%d pixels, of %d bytes together, in an image of %d×%d, where %d bytes are unpacked at most",
			blocks, width, height, packed, c.Width, c.Height, int64(mostBlockBytes))
	}
	if known {
		unpacked = min(unpacked, ratio*int64(len(content)))
	}
	return 3*unpacked + 24*blocks, nil
}

// tiffTag is one entry of a directory: the number of its values, of one, two or
// four bytes each, and those of their bytes that are there.
type tiffTag struct {
	count  int64
	values []byte
	size   int64
	order  binary.ByteOrder
}

// value returns the first value, or 0 where it is not there.
func (t tiffTag) value() int64 { return t.at(0) }

// at returns value i, or 0 where it is not there.
func (t tiffTag) at(i int64) int64 {
	if i >= t.count || (i+1)*t.size > int64(len(t.values)) {
		return 0
	}
	switch b := t.values[i*t.size:]; t.size {
	case 1:
		return int64(b[0])
	case 2:
		return int64(t.order.Uint16(b))
	case 4:
		return int64(t.order.Uint32(b))
	}
	return 0
}

// tiffTags reads the first directory of a TIFF file, the only one that is
// decoded. With an error it returns the tags before it.
func tiffTags(content []byte) (map[uint16]tiffTag, error) {
	var order binary.ByteOrder
	switch {
	case len(content) < 8:
		return nil, errors.New("no header")
	case string(content[:4]) == "II*\x00":
		order = binary.LittleEndian
	case string(content[:4]) == "MM\x00*":
		order = binary.BigEndian
	default:
		return nil, errors.New("no header")
	}
	at := int64(order.Uint32(content[4:]))
	if at+2 > int64(len(content)) {
		return nil, errors.New("its directory lies beyond the file's end")
	}
	entries := content[at+2:]
	tags := map[uint16]tiffTag{}
	for range order.Uint16(content[at:]) {
		if len(entries) < 12 {
			return tags, errors.New("its directory runs over the file's end")
		}
		entry := entries[:12]
		entries = entries[12:]
		tag := tiffTag{
			count:  int64(order.Uint32(entry[4:])),
			values: entry[8:],
			size:   map[uint16]int64{1: 1, 3: 2, 4: 4}[order.Uint16(entry[2:])],
			order:  order,
		}
		if tag.size*tag.count > 4 { // they lie elsewhere
			tag.values = content[min(int64(order.Uint32(tag.values)), int64(len(content))):]
		}
		tags[order.Uint16(entry)] = tag
	}
	return tags, nil
}
