// Package jpegmeans decodes JPEG files (ITU-T T.81) to images of half, a quarter or an eighth of
// their height and width, whose pixels are the means of blocks of those of the whole image. The
// whole image is never in memory.
//
// The mean of some pixels of a block is a linear function of its coefficients, so that means are found by a
// shorter inverse transform (means.go). Where pixels of a block might lie beyond black or white, and at the image's
// border, the pixels are found first. So the means are those of the pixels that image/jpeg decodes, but for
// rounding: a level of 255 at most.
//
// It refuses what image/jpeg refuses. Kinds of files that hardly occur are not served ([File.Serves]): progressive
// files, those in RGB or of four components, and those with damaged headers.
package jpegmeans

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
)

// File is what the segments of a JPEG file tell.
type File struct {
	// Width and Height are the image's size in pixels, 0 where no frame is.
	Width, Height int
	// Components is how many values the file promises for a pixel, 3 where no frame is.
	Components int
	// Progressive tells whether coefficients come in several scans.
	Progressive bool
	// Scans is how many scans there are.
	Scans int

	content []byte
	frame   *frame // nil where none is, or one that is not served
	rgb     bool
	unusual bool // has what is left to image/jpeg

	whole    bool // has an end
	heightAt int  // where the height stands in the content
	lastScan int  // where the last scan begins, or 0
	before   int  // has a bit for each component whose first coefficients are in scans before that
}

// Parse reads the segments of a file, as far as they are whole, and decodes nothing.
func Parse(content []byte) *File {
	f := &File{Components: 3, content: content}
	frames, last, jfif, adobe := 0, 0, false, false
	var tables decoder
	r := reader{content, min(2, len(content))}
	for {
		marker, data, err := r.next()
		if err != nil || marker == endOfImage {
			f.whole = err == nil
			break
		}
		at := r.at - len(data)
		switch marker {
		case startOfFrame, startOfExtended, startOfProgressive:
			frames++
			if len(data) >= 6 {
				f.Components, f.Progressive, f.heightAt = int(data[5]), marker == startOfProgressive, at+1
			}
			if f.frame, err = readFrame(marker, data); err == nil {
				f.Width, f.Height = f.frame.width, f.frame.height
			}
		case startOfScan:
			f.Scans++
			f.before |= last
			f.lastScan, last = at-4, f.firstOf(data)
		case huffmanTables:
			f.unusual = f.unusual || tables.readTables(data) != nil
		case application0:
			if len(data) >= 5 {
				jfif = string(data[:5]) == "JFIF\x00"
			}
		case application14:
			if len(data) >= 12 && string(data[:5]) == "Adobe" {
				adobe = data[11] == 0 // no transform of the colours
			}
		}
	}
	f.unusual = f.unusual || frames != 1 || f.frame == nil
	if !f.unusual && f.Components == 3 && !jfif {
		c := f.frame.components
		f.rgb = adobe || c[0].id == 'R' && c[1].id == 'G' && c[2].id == 'B'
	}
	return f
}

// firstOf returns a bit for each component of a scan that has their first coefficients.
func (f *File) firstOf(header []byte) (components int) {
	if f.frame == nil || len(header) == 0 || len(header) != 4+2*int(header[0]) || header[len(header)-3] != 0 {
		return 0
	}
	for at := 1; at < len(header)-3; at += 2 {
		if i := f.frame.component(header[at]); i >= 0 {
			components |= 1 << i
		}
	}
	return components
}

// Serves tells whether Decode makes an image whose height and width are divided by times, which is
// 2, 4 or 8. It tells nothing of errors in the file.
func (f *File) Serves(times int) bool {
	if f.unusual || f.Progressive || f.rgb || times != 2 && times != 4 && times != 8 || f.Width < 1 || f.Height < 1 {
		return false
	}
	across, down := f.frame.subsampling()
	return across <= times && down <= times
}

// Memory returns the most bytes that Decode of a file that it serves takes for what grows with the image.
func (f *File) Memory(times int) int64 {
	return int64((f.Width+times-1)/times) * int64((f.Height+times-1)/times) * int64(f.Components)
}

// Decode decodes the file to an image whose height and width are ⌈height/times⌉ and
// ⌈width/times⌉. Each pixel is the mean of a block of times×times of the file's, those at the right
// and the lower border of what there is of theirs. The image is an *image.Gray, an *image.YCbCr of
// 4:4:4. A file that is not served (Serves) is an error.
func (f *File) Decode(times int) (image.Image, error) {
	if !f.Serves(times) {
		return nil, errors.New("jpegmeans: a kind of JPEG that is not served")
	}
	return (&decoder{reader: reader{content: f.content}, times: times}).decode()
}

// Mend returns a whole file of the part that is there of one that ends early, and how many of its rows of pixels
// that is. Of a sequential file these are the rows of whole units, from the top;
// of a progressive one all rows, by the scans before the last, if all components have one. A file of no rows, one
// that is whole, one that is damaged before its end and one of a kind that is not served are returned as they are,
// with 0 rows.
//
// The height in the frame is set to these rows: a decoder passes over the bits that are left.
func (f *File) Mend() (content []byte, rows int) {
	// Zeros at the end are of a file whose length was set before its content came.
	if content = bytes.TrimRight(f.content, "\x00"); !f.whole && len(content) < len(f.content) {
		return Parse(content).Mend()
	}
	if f.whole || f.unusual || f.Width < 1 || f.Height < 1 {
		return f.content, 0
	}
	all := 1<<len(f.frame.components) - 1
	if !f.Progressive {
		d := &decoder{reader: reader{content: content}, counting: true}
		_, err := d.decode()
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
