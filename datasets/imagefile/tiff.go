package imagefile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"

	"golang.org/x/image/tiff"
)

// Tags of a TIFF file's directory.
const (
	tiffCompression  = 259
	tiffPhotometric  = 262
	tiffOrientation  = 274
	tiffRowsPerStrip = 278
	tiffTileWidth    = 322
	tiffTileLength   = 323
)

// mostBlockPixels bounds the pixels of all blocks of a TIFF file together. Blocks may share their bytes, and
// tiles may be larger than the image, so a small file can hold many times its image.
const mostBlockPixels = 250_000_000

// decodeTIFF: the decoder takes 0 for black in data packed as CCITT says, where a run of white is made of
// the value 0. So where the file says that 0 is black, all pixels come out inverted.
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

// tiffBlock returns the pixels of a block of a file, a strip of rows or a tile.
func tiffBlock(content []byte, c image.Config) (int64, error) {
	tags := tiffTags(content)
	width, height := int64(c.Width), int64(c.Height)
	if w := tags[tiffTileWidth]; w != 0 {
		width, height = w, max(tags[tiffTileLength], 1)
	} else if h := tags[tiffRowsPerStrip]; h != 0 {
		height = min(h, height)
	}
	across, down := (int64(c.Width)+width-1)/width, (int64(c.Height)+height-1)/height
	if width > MaxPixels || height > MaxPixels || across*width > mostBlockPixels/(down*height) {
		return 0, fmt.Errorf("%d blocks of %d×%d pixels in an image of %d×%d", across*down, width, height, c.Width, c.Height)
	}
	return width * height, nil
}

// tiffTags returns the first value of each tag of whole numbers in the first directory of a TIFF file, the only one that is
// decoded, as far as values stand in the directory itself.
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
