// Package jpegmeans decodes JPEG files (ITU-T T.81) at 1/2, 1/4 or 1/8 of their height and width. Each pixel is the
// mean of a block of pixels of the full image, which is never in memory.
//
// The mean of pixels of a block is a linear function of its coefficients, computed by a shorter inverse transform
// (means.go). If pixels might be clipped, and at the border, the pixels are decoded first. Means therefore differ from
// the means of image/jpeg's pixels only by rounding, at most one level of 255.
//
// It rejects the files that image/jpeg rejects. It does not support progressive files, RGB files, files with four
// components and files with damaged headers; see [File.Serves].
package jpegmeans

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"io"
	"slices"

	"github.com/seed4492f2cd/partwise/internal/guard"
)

// File is the information in the segments of a JPEG file.
type File struct {
	Width, Height int // size of the image in pixels, 0 without a frame
	Components    int // number of values per pixel, 3 without a frame
	// Progressive reports whether the file is progressive, and Scans is the number of scans.
	Progressive bool
	Scans       int
	EXIF        []byte // the first EXIF block before the first scan, in the layout of a TIFF file

	content  []byte
	frame    *frame // nil if missing or not supported
	rgb      bool
	unusual  bool // not supported by this package
	whole    bool // has an end-of-image marker
	heightAt int  // offset of the height in content
	lastScan int  // offset of the last scan, or 0
	before   int  // bit set of the components with DC coefficients in earlier scans
}

// Parse reads the segments of a file, up to the first incomplete one, without decoding.
func Parse(content []byte) *File {
	f := &File{Components: 3, content: content}
	frames, last, jfif, adobe := 0, 0, false, false
	var tables decoder
	r := reader{content, min(2, len(content))}
	for {
		var marker byte
		var data []byte
		f.whole = guard.Try(func() { marker, data = r.nextSegment() }) == nil
		if !f.whole || marker == endOfImage {
			break
		}
		at := r.at - len(data)
		switch marker {
		case startOfFrame, startOfExtended, startOfProgressive:
			frames++
			if len(data) >= 6 {
				f.Components, f.Progressive, f.heightAt = int(data[5]), marker == startOfProgressive, at+1
			}
			f.frame = nil
			if guard.Try(func() { f.frame = readFrame(marker, data) }) == nil {
				f.Width, f.Height = f.frame.width, f.frame.height
			}
		case startOfScan:
			f.Scans++
			f.before |= last
			f.lastScan, last = at-4, 0
			n := len(data) // only scans with DC coefficients matter
			if f.frame == nil || n == 0 || n != 4+2*int(data[0]) || data[n-3] != 0 {
				continue
			}
			for k := 1; k < n-3; k += 2 {
				if i := f.frame.component(data[k]); i >= 0 {
					last |= 1 << i
				}
			}
		case huffmanTables:
			f.unusual = f.unusual || guard.Try(func() { tables.readTables(data) }) != nil
		case application0:
			if len(data) >= 5 {
				jfif = string(data[:5]) == "JFIF\x00"
			}
		case application1: // an XMP block has the same marker
			if block, ok := bytes.CutPrefix(data, []byte("Exif\x00\x00")); ok && f.Scans == 0 && f.EXIF == nil {
				f.EXIF = block
			}
		case application14:
			if len(data) >= 12 && string(data[:5]) == "Adobe" {
				adobe = data[11] == 0 // no colour transform
			}
		}
	}
	if f.unusual = f.unusual || frames != 1 || f.frame == nil; !f.unusual && f.Components == 3 && !jfif {
		c := f.frame.components
		f.rgb = adobe || c[0].id == 'R' && c[1].id == 'G' && c[2].id == 'B'
	}
	return f
}

// Serves reports whether Decode supports this file and the reduction times: 2, 4 or 8.
func (f *File) Serves(times int) bool {
	if f.unusual || f.Progressive || f.rgb || times != 2 && times != 4 && times != 8 || f.Width < 1 || f.Height < 1 {
		return false
	}
	across, down := f.frame.subsampling()
	return across <= times && down <= times
}

// Memory returns an upper bound of the bytes that Decode allocates in proportion to the image.
func (f *File) Memory(times int) int64 {
	return int64((f.Width+times-1)/times) * int64((f.Height+times-1)/times) * int64(f.Components)
}

// Decode decodes the file to an *image.Gray or a 4:4:4 *image.YCbCr of ⌈height/times⌉×⌈width/times⌉ pixels. Each
// pixel is the mean of a block of times×times pixels, or of the part of the block within the image. It returns an
// error if Serves is false.
func (f *File) Decode(times int) (image.Image, error) {
	if !f.Serves(times) {
		return nil, errors.New("jpegmeans: unsupported kind of JPEG")
	}
	return (&decoder{reader: reader{content: f.content}, times: times}).tryDecode()
}

// Mend repairs a truncated file: it returns a complete file and its number of pixel rows. A sequential file keeps the
// rows of complete units from the top. A progressive file keeps all rows, from the scans before the last, if these
// include all components. A file that is complete, has no complete rows, is damaged before its end or is not
// supported is returned unchanged, with 0 rows.
//
// The height in the frame is set to the number of rows, so that a decoder skips the remaining bits.
func (f *File) Mend() (content []byte, rows int) {
	// Trailing zeros come from files that were preallocated and not completely written.
	if content = bytes.TrimRight(f.content, "\x00"); !f.whole && len(content) < len(f.content) {
		return Parse(content).Mend()
	}
	if f.whole || f.unusual || f.Width < 1 || f.Height < 1 {
		return f.content, 0
	}
	all := 1<<len(f.frame.components) - 1
	if !f.Progressive {
		d := &decoder{reader: reader{content: content}, counting: true}
		_, err := d.tryDecode()
		atEnd := errors.Is(err, errEnds) || d.bits.over && d.bits.at+1 >= len(content)
		if err != nil && atEnd && d.seen == all {
			rows = min(d.rows, f.Height)
		}
	} else if f.lastScan > 0 && f.before == all {
		content, rows = content[:f.lastScan:f.lastScan], f.Height
	}
	if rows == 0 {
		return f.content, 0
	}
	content = append(bytes.Clone(content), 0xff, endOfImage)
	binary.BigEndian.PutUint16(content[f.heightAt:], uint16(rows))
	return content, rows
}

// Markers (T.81, table B.1).
const (
	startOfFrame       = 0xc0 // baseline
	startOfExtended    = 0xc1
	startOfProgressive = 0xc2
	huffmanTables      = 0xc4
	restart0           = 0xd0
	restart7           = 0xd7
	startOfImage       = 0xd8
	endOfImage         = 0xd9
	startOfScan        = 0xda
	quantTables        = 0xdb
	restartInterval    = 0xdd
	application0       = 0xe0
	application1       = 0xe1
	application14      = 0xee
	application15      = 0xef
	comment            = 0xfe
)

var (
	errEnds    = fmt.Errorf("the image data end early: %w", io.ErrUnexpectedEOF)
	errDamaged = errors.New("a damaged JPEG file")
)

// damagedIf and endsIf call guard.Fail with errDamaged or errEnds if something is wrong.
func damagedIf(wrong bool) { failIf(wrong, errDamaged) }
func endsIf(wrong bool)    { failIf(wrong, errEnds) }

func failIf(wrong bool, err error) {
	if wrong {
		guard.Check(err)
	}
}

// reader reads the segments of a file (T.81, B.1.1).
type reader struct {
	content []byte
	at      int
}

// nextSegment returns the marker of the next segment and its data. It skips the data of scans. It calls guard.Fail.
func (r *reader) nextSegment() (marker byte, data []byte) {
	for {
		skip := bytes.IndexByte(r.content[r.at:], 0xff)
		endsIf(skip < 0)
		first := r.at + skip + 1
		for r.at = first; r.at < len(r.content) && r.content[r.at] == 0xff; r.at++ { // fill bytes
		}
		endsIf(r.at == len(r.content))
		marker = r.content[r.at]
		r.at++
		damagedIf(marker == 0 && r.at > first+1)
		switch {
		case marker == 0 || marker >= restart0 && marker <= restart7:
			continue
		case marker == endOfImage:
			return marker, nil
		}
		rest := r.content[r.at:]
		endsIf(len(rest) < 2)
		length := int(binary.BigEndian.Uint16(rest))
		damagedIf(length < 2)
		endsIf(length > len(rest))
		r.at += length
		return marker, rest[2:length]
	}
}

// frame is the header of a frame (T.81, B.2.2).
type frame struct {
	baseline      bool
	width, height int
	components    []component
}

// component is a component of a frame, such as luma.
type component struct {
	id, quant byte
	h, v      int // sampling factors

	width, height int      // number of samples within the image
	across, down  *average // means over samples in x and y
	means         []uint8
	stride        int

	dc, ac *table // in the current scan
	last   int32  // previous DC coefficient
}

// readFrame reads the header of a frame with 8 bits and one or three components. The second and the third must have
// the same sampling factors, which divide the factors of the first.
func readFrame(marker byte, data []byte) *frame {
	damagedIf(len(data) < 6 || len(data) != 6+3*int(data[5]) || data[5] != 1 && data[5] != 3 || data[0] != 8)
	f := &frame{
		baseline:   marker == startOfFrame,
		height:     int(binary.BigEndian.Uint16(data[1:])),
		width:      int(binary.BigEndian.Uint16(data[3:])),
		components: make([]component, data[5]),
	}
	first := &f.components[0]
	for i := range f.components {
		c, p := &f.components[i], data[6+3*i:]
		c.id, c.h, c.v, c.quant = p[0], int(p[1]>>4), int(p[1]&0xf), p[2]
		ok := c.quant < 4 && f.component(c.id) == i && c.h >= 1 && c.h <= 4 && c.h != 3 && c.v >= 1 && c.v <= 4 && c.v != 3
		if len(f.components) == 3 {
			ok = ok && first.v <= 2 && first.h%c.h == 0 && first.v%c.v == 0 &&
				(i < 2 || c.h == f.components[1].h && c.v == f.components[1].v)
		}
		damagedIf(!ok)
	}
	if len(f.components) == 1 {
		first.h, first.v = 1, 1 // sampling factors have no effect (T.81, A.2.2)
	}
	return f
}

// component returns the index of the first component with an id, or -1.
func (f *frame) component(id byte) int {
	return slices.IndexFunc(f.components, func(c component) bool { return c.id == id })
}

// subsampling returns the number of pixels per chroma sample in x and y.
func (f *frame) subsampling() (across, down int) {
	first, last := f.components[0], f.components[len(f.components)-1]
	return first.h / last.h, first.v / last.v
}

// readQuant reads quantisation tables (T.81, B.2.4.1).
func (d *decoder) readQuant(data []byte) {
	for len(data) > 0 {
		id, wide := data[0]&0xf, data[0]>>4
		damagedIf(id >= 4 || wide > 1)
		if data = data[1:]; len(data) == 0 {
			return // a table number without a table, which image/jpeg accepts
		}
		damagedIf(len(data) < blockSize<<wide)
		for i := range d.quant[id] {
			d.quant[id][i] = int32(data[i<<wide])
			if wide == 1 {
				d.quant[id][i] = int32(data[2*i])<<8 | int32(data[2*i+1])
			}
		}
		data = data[blockSize<<wide:]
	}
}
