package jpegmeans

import (
	"bytes"
	"errors"
	"fmt"
)

// reader reads the segments of a file (T.81, B.1.1).
type reader struct {
	content []byte
	at      int
}

// next returns the marker of the next segment and what follows its length. Bytes before it,
// restarts and 0xff 0x00, a byte of a scan, are passed over.
func (r *reader) next() (marker byte, data []byte, err error) {
	for {
		skip := bytes.IndexByte(r.content[r.at:], 0xff)
		if skip < 0 || r.at+skip+1 >= len(r.content) {
			return 0, nil, errEnds
		}
		r.at += skip + 1
		marker = r.content[r.at]
		r.at++
		if marker == 0 {
			continue
		}
		for marker == 0xff { // a fill byte
			if r.at >= len(r.content) {
				return 0, nil, errEnds
			}
			marker = r.content[r.at]
			r.at++
		}
		if marker == 0 {
			return 0, nil, errors.New("a JPEG marker of 0 behind fill bytes")
		}
		if marker == endOfImage {
			return marker, nil, nil
		}
		if marker < restart0 || marker > restart7 {
			break
		}
	}
	rest := r.content[r.at:]
	if len(rest) < 2 {
		return 0, nil, errEnds
	}
	length := int(rest[0])<<8 | int(rest[1])
	if length < 2 {
		return 0, nil, fmt.Errorf("a segment of %d bytes in a JPEG, want 2 at least", length)
	}
	if length > len(rest) {
		return 0, nil, errEnds
	}
	r.at += length
	return marker, rest[2:length], nil
}

// colours is what tells the colours of three components: YCbCr or RGB.
type colours struct {
	jfif, adobe bool
	transform   byte // of Adobe's segment
}

// see notes what a segment tells.
func (c *colours) see(marker byte, data []byte) {
	switch {
	case marker == application0 && len(data) >= 5:
		c.jfif = string(data[:5]) == "JFIF\x00"
	case marker == application14 && len(data) >= 12 && string(data[:5]) == "Adobe":
		c.adobe, c.transform = true, data[11]
	}
}

// rgb tells whether three components are red, green and blue.
func (c *colours) rgb(f *frame) bool {
	if c.jfif {
		return false
	}
	if c.adobe && c.transform == 0 {
		return true
	}
	return f.components[0].id == 'R' && f.components[1].id == 'G' && f.components[2].id == 'B'
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
	f := &frame{baseline: marker == startOfFrame}
	if len(data) < 6 || len(data) != 6+3*int(data[5]) || data[5] != 1 && data[5] != 3 {
		return nil, errors.New("a frame of a JPEG with another number of components than 1 or 3")
	}
	if data[0] != 8 {
		return nil, fmt.Errorf("a JPEG of %d bits a sample, want 8", data[0])
	}
	f.height, f.width = int(data[1])<<8|int(data[2]), int(data[3])<<8|int(data[4])
	f.components = make([]component, data[5])
	for i := range f.components {
		c, p := &f.components[i], data[6+3*i:]
		c.id, c.h, c.v, c.quant = p[0], int(p[1]>>4), int(p[1]&0xf), p[2]
		if c.quant >= 4 {
			return nil, fmt.Errorf("quantisation table %d of a JPEG, want 0 to 3", c.quant)
		}
		for _, before := range f.components[:i] {
			if before.id == c.id {
				return nil, fmt.Errorf("two components %d of a JPEG", c.id)
			}
		}
		first := f.components[0]
		ok := c.h >= 1 && c.h <= 4 && c.h != 3 && c.v >= 1 && c.v <= 4 && c.v != 3
		if len(f.components) == 3 {
			ok = ok && first.v <= 2 && first.h%c.h == 0 && first.v%c.v == 0 &&
				(i < 2 || c.h == f.components[1].h && c.v == f.components[1].v)
		}
		if !ok {
			return nil, fmt.Errorf("sampling factors of %d×%d in a JPEG, which are not read", c.h, c.v)
		}
	}
	if len(f.components) == 1 {
		f.components[0].h, f.components[0].v = 1, 1 // whatever they are (T.81, A.2.2)
	}
	return f, nil
}

// subsampling returns how many pixels a sample of colour stands for, across and down.
func (f *frame) subsampling() (across, down int) {
	first, last := f.components[0], f.components[len(f.components)-1]
	return first.h / last.h, first.v / last.v
}

// mcus returns how many minimum coded units the image has across and down (T.81, A.2.3).
func (f *frame) mcus() (across, down int) {
	h, v := 8*f.components[0].h, 8*f.components[0].v
	return (f.width + h - 1) / h, (f.height + v - 1) / v
}

// readQuant reads quantisation tables (T.81, B.2.4.1).
func (d *decoder) readQuant(data []byte) error {
	for len(data) > 0 {
		id, wide := data[0]&0xf, data[0]>>4
		if id >= 4 || wide > 1 {
			return fmt.Errorf("quantisation table %#x of a JPEG", data[0])
		}
		if data = data[1:]; len(data) == 0 {
			return nil // the number of a table that is not there, which image/jpeg accepts
		}
		if len(data) < blockSize<<wide {
			return fmt.Errorf("a quantisation table of a JPEG has %d bytes, want %d", len(data), blockSize<<wide)
		}
		for i := range d.quant[id] {
			if wide == 1 {
				d.quant[id][i] = int32(data[2*i])<<8 | int32(data[2*i+1])
			} else {
				d.quant[id][i] = int32(data[i])
			}
		}
		data = data[blockSize<<wide:]
	}
	return nil
}
