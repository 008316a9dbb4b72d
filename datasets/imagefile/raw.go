package imagefile

import (
	"bytes"
	"image"
	"image/jpeg"
	"io"

	"github.com/seed4492f2cd/partwise/internal/jpegmeans"
)

// rawMagics begin raw images of cameras other than TIFF: RAF, ORF, RW2 and CR3.
var rawMagics = []string{"FUJIFILMCCD-RAW", "IIRO", "IIRS", "MMOR", "IIU\x00", "????ftypcrx "}

// isRawTIFF reports whether a TIFF file is a raw image, such as CR2, NEF, ARW, PEF or DNG, by the tags in head: Canon's
// mark, a first image that is a preview, a colour filter array, or a packing of cameras.
func isRawTIFF(head []byte) bool {
	const subfileType, reduced, firstCFA, firstPrivate = 254, 1, 32803, 32767
	const packBits, deflate = 32773, 32946
	tags := tiffTags(head)
	packing := tags[tiffCompression]
	return len(head) > 10 && string(head[8:10]) == "CR" || tags[subfileType]&reduced != 0 || tags[tiffPhotometric] >= firstCFA ||
		packing >= firstPrivate && packing != packBits && packing != deflate
}

// preview returns the content from the largest JPEG image in a raw one on. A scan for their first bytes needs no table of
// the places where each camera keeps them.
func preview(content []byte) (found []byte, err error) {
	const mostImages, mostPixels = 1000, 8 * 8 * 8 // pixels for each byte, as for JPEG files
	largest := int64(0)
	for n, rest := 0, content; n < mostImages; n++ {
		at := bytes.Index(rest, []byte("\xff\xd8\xff"))
		if at < 0 {
			break
		}
		c, err := jpeg.DecodeConfig(bytes.NewReader(rest[at:]))
		if pixels := int64(c.Width) * int64(c.Height); err == nil && pixels > largest && pixels <= mostPixels*int64(len(rest)) {
			largest, found = pixels, rest[at:]
		}
		rest = rest[at+2:]
	}
	if found == nil {
		return nil, NewError(KindUnsupported, "the raw image has no JPEG preview; export it as JPEG")
	}
	return found, nil
}

func previewConfig(r io.Reader) (image.Config, error) {
	content, err := io.ReadAll(io.LimitReader(r, maxImageFile))
	if err == nil {
		content, err = preview(content)
	}
	if err != nil {
		return image.Config{}, err
	}
	return jpeg.DecodeConfig(bytes.NewReader(content))
}

// previewOrientation returns the orientation of the preview of a raw image: its own tag, else the tag of the raw image,
// unless the preview is upright already.
func previewOrientation(content []byte, preview *jpegmeans.File) int {
	own := orientationOf(preview.EXIF)
	if at := bytes.Index(content[:min(len(content), 1<<16)], []byte("CMT1")); at >= 0 { // in CR3
		content = content[at+4:]
	}
	if whole := orientationOf(content); own == 1 && (whole < 5 || preview.Width >= preview.Height) {
		return whole
	}
	return own
}
