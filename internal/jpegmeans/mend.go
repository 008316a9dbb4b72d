package jpegmeans

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// Mend returns a whole file of what there is of one that ends early, and of how many of its rows of pixels that is.
// Of a sequential file these are the rows of whole units, from the top;
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
	height := f.Height
	if f.Progressive {
		if f.lastScan == 0 || f.before != 1<<len(f.frame.components)-1 {
			return f.content, 0
		}
		content, rows = content[:f.lastScan:f.lastScan], height
	} else {
		d := &decoder{reader: reader{content: content}, counting: true}
		_, err := d.decode()
		atEnd := errors.Is(err, errEnds) || d.bits.over && d.bits.at+1 >= len(content)
		if err == nil || !atEnd || !d.scanned || d.seen != 1<<len(d.frame.components)-1 {
			return f.content, 0
		}
		rows = min(d.rows, height)
	}
	if rows == 0 {
		return f.content, 0
	}
	content = append(bytes.Clone(content), 0xff, endOfImage)
	binary.BigEndian.PutUint16(content[f.heightAt:], uint16(rows))
	return content, rows
}
