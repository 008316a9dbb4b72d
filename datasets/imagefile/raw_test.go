package imagefile

import (
	"encoding/binary"
	"image"
	"slices"
	"strings"
	"testing"
)

// TestRaw: a raw image is its largest JPEG preview, upright once.
func TestRaw(t *testing.T) {
	grey := func(width, height int) []byte {
		return Encoded(t, EncodeJPEG, image.NewGray(image.Rect(0, 0, width, height)))
	}
	thumbnail, large, portrait, turned := grey(16, 8), grey(64, 32), grey(32, 64), WithOrientation(t, image.NewGray(image.Rect(0, 0, 64, 32)), 6)
	junk := slices.Concat([]byte("\xff\xd8\xff\x00 no image "), thumbnail, []byte("\xff\xd8\xff\xc3\x00\x0b\x0e\x10\x00\x10\x00\x01\x01\x11\x00")) // the last is lossless
	inTIFF := func(preview []byte, tags ...tiffEntry) []byte {
		return tiffFile(binary.BigEndian, slices.Concat(junk, preview, []byte("raw data")), tags...)
	}
	first, orientation := tag(254, 4, []uint32{1}), tag(274, 3, []uint32{6})
	cr3 := "\x00\x00\x00\x18ftypcrx \x00\x00\x00\x01crx isom" + "\x00\x00\x00\x00CMT1" + string(inTIFF(nil, orientation))
	for name, c := range map[string]struct {
		file          []byte
		width, height int
	}{
		"NEF":             {inTIFF(large, first), 64, 32},
		"NEF turned":      {inTIFF(large, first, orientation), 32, 64},
		"upright preview": {inTIFF(portrait, first, orientation), 32, 64},
		"turned preview":  {inTIFF(turned, first, orientation), 32, 64},
		"DNG of sensor":   {inTIFF(large, tag(262, 3, []uint32{32803})), 64, 32},
		"PEF":             {inTIFF(large, tag(259, 3, []uint32{65535})), 64, 32},
		"CR2":             {slices.Concat([]byte("II*\x00\x10\x00\x00\x00CR\x02\x00\x00\x00\x00\x00"), junk, large), 64, 32},
		"RAF":             {slices.Concat([]byte("FUJIFILMCCD-RAW 0201"), junk, turned), 32, 64},
		"ORF":             {slices.Concat([]byte("IIRO\x08\x00\x00\x00\x00\x00"), junk, large), 64, 32},
		"CR3 turned":      {slices.Concat([]byte(cr3), junk, large), 32, 64},
	} {
		for _, least := range []int{0, 4} { // reduced too
			r, err := NewReading(c.file, false)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if _, whole, err := r.Image(least); err != nil || whole != image.Pt(c.width, c.height) {
				t.Errorf("%s: %v pixels, %v", name, whole, err)
			}
		}
		if width, height, err := Size(writeFile(t, t.TempDir()+"/x", c.file)); err != nil || width*height != 64*32 {
			t.Errorf("%s: size %d×%d, %v", name, width, height, err)
		}
	}
	for _, file := range [][]byte{inTIFF(nil, first)[:1024], []byte("FUJIFILMCCD-RAW 0201")} {
		if _, err := DecodeBytes(file); KindOfFile(err) != KindUnsupported || !strings.Contains(err.Error(), "no JPEG preview") {
			t.Errorf("without a preview: %v", err)
		}
	}
	if _, err := DecodeBytes(inTIFF(large, first)[:1024+len(junk)+len(large)-4]); KindOfFile(err) != KindTruncated {
		t.Errorf("a truncated preview: %v", err)
	}
}
