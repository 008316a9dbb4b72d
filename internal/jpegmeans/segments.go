package jpegmeans

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

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
	application14      = 0xee
	application15      = 0xef
	comment            = 0xfe
)

var (
	errEnds    = fmt.Errorf("no end of the image: %w", io.ErrUnexpectedEOF)
	errDamaged = errors.New("a damaged JPEG file")
)

// reader reads the segments of a file (T.81, B.1.1).
type reader struct {
	content []byte
	at      int
}

// next returns the marker of the next segment and the bytes after its length. It skips bytes before it,
// restarts and 0xff 0x00, a byte of a scan.
func (r *reader) next() (marker byte, data []byte, err error) {
	for {
		skip := bytes.IndexByte(r.content[r.at:], 0xff)
		if skip < 0 {
			return 0, nil, errEnds
		}
		first := r.at + skip + 1
		for r.at = first; r.at < len(r.content) && r.content[r.at] == 0xff; r.at++ { // fill bytes
		}
		if r.at == len(r.content) {
			return 0, nil, errEnds
		}
		marker = r.content[r.at]
		r.at++
		switch {
		case marker == 0 && r.at > first+1:
			return 0, nil, errDamaged
		case marker == 0 || marker >= restart0 && marker <= restart7:
			continue
		case marker == endOfImage:
			return marker, nil, nil
		}
		rest := r.content[r.at:]
		if len(rest) < 2 {
			return 0, nil, errEnds
		}
		length := int(rest[0])<<8 | int(rest[1])
		switch {
		case length < 2:
			return 0, nil, errDamaged
		case length > len(rest):
			return 0, nil, errEnds
		}
		r.at += length
		return marker, rest[2:length], nil
	}
}

// Segments calls f for each segment of a JPEG file before the end of the image, with its marker
// and the bytes after its length, until f returns false or a segment is not whole.
func Segments(content []byte, f func(marker byte, data []byte) bool) {
	r := reader{content, min(2, len(content))}
	for {
		marker, data, err := r.next()
		if err != nil || marker == endOfImage || !f(marker, data) {
			return
		}
	}
}

// frame is the header of a frame (T.81, B.2.2).
type frame struct {
	baseline      bool
	width, height int
	components    []component
}

// component is one of the values of a pixel.
type component struct {
	id, quant byte
	h, v      int // sampling factors

	width, height int      // of the samples within the image
	across, down  *average // of how many samples means are taken
	means         []uint8
	stride        int
}

// readFrame reads the header of a frame of 8 bits, one or three components, and sampling factors of which the
// second and the third component have the same, which divide those of the first.
func readFrame(marker byte, data []byte) (*frame, error) {
	if len(data) < 6 || len(data) != 6+3*int(data[5]) || data[5] != 1 && data[5] != 3 || data[0] != 8 {
		return nil, errDamaged
	}
	f := &frame{
		baseline:   marker == startOfFrame,
		height:     int(data[1])<<8 | int(data[2]),
		width:      int(data[3])<<8 | int(data[4]),
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
		if !ok {
			return nil, errDamaged
		}
	}
	if len(f.components) == 1 {
		first.h, first.v = 1, 1 // whatever they are (T.81, A.2.2)
	}
	return f, nil
}

// component returns which component has an id, the first of several, or -1.
func (f *frame) component(id byte) int {
	for i, c := range f.components {
		if c.id == id {
			return i
		}
	}
	return -1
}

// subsampling returns how many pixels a sample of colour stands for, across and down.
func (f *frame) subsampling() (across, down int) {
	first, last := f.components[0], f.components[len(f.components)-1]
	return first.h / last.h, first.v / last.v
}

// readQuant reads quantisation tables (T.81, B.2.4.1).
func (d *decoder) readQuant(data []byte) error {
	for len(data) > 0 {
		id, wide := data[0]&0xf, data[0]>>4
		if id >= 4 || wide > 1 {
			return errDamaged
		}
		if data = data[1:]; len(data) == 0 {
			return nil // the number of a table that is not there, which image/jpeg accepts
		}
		if len(data) < blockSize<<wide {
			return errDamaged
		}
		for i := range d.quant[id] {
			d.quant[id][i] = int32(data[i<<wide])
			if wide == 1 {
				d.quant[id][i] = int32(data[2*i])<<8 | int32(data[2*i+1])
			}
		}
		data = data[blockSize<<wide:]
	}
	return nil
}
