package imagefile

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"io"
)

// pnmMagics are the beginnings of the grey and colour files of the Netpbm
// family: P2 and P5 grey, P3 and P6 colour; P2 and P3 with decimal numbers.
// The byte after them tells them from texts.
var pnmMagics = func() (magics []string) {
	for _, kind := range []string{"P2", "P3", "P5", "P6"} {
		for _, next := range []string{" ", "\t", "\r", "\n", "\v", "\f", "#"} {
			magics = append(magics, kind+next)
		}
	}
	return magics
}()

// pnm reads a Netpbm file.
type pnm struct {
	r             *bufio.Reader
	plain, colour bool
	width, height int
	maxValue      int
	read          int // values so far
}

func newPNM(r io.Reader) (*pnm, error) {
	p := &pnm{r: bufio.NewReader(r)}
	magic := make([]byte, 2)
	if _, err := io.ReadFull(p.r, magic); err != nil {
		return nil, err
	}
	switch string(magic) {
	case "P2":
		p.plain = true
	case "P3":
		p.plain, p.colour = true, true
	case "P5":
	case "P6":
		p.colour = true
	default:
		return nil, fmt.Errorf("a file that begins with %q", magic)
	}
	for _, field := range []struct {
		name  string
		value *int
		limit int
	}{
		{"width", &p.width, MaxPixels},
		{"height", &p.height, MaxPixels},
		{"largest value", &p.maxValue, 65535},
	} {
		v, err := p.number(field.limit)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", field.name, err)
		}
		*field.value = v
	}
	if p.maxValue == 0 {
		return nil, errors.New("largest value: 0, want 1 to 65535")
	}
	return p, nil
}

// number reads a decimal number up to limit and the one byte that ends it.
// Blanks and comments, from '#' to the line's end, may stand before it.
func (p *pnm) number(limit int) (int, error) {
	v, digits := 0, 0
	for {
		c, err := p.r.ReadByte()
		switch {
		case err == io.EOF && digits > 0:
			return v, nil
		case err == io.EOF:
			return 0, io.ErrUnexpectedEOF
		case err != nil:
			return 0, err
		case c >= '0' && c <= '9':
			digits++
			if v = 10*v + int(c-'0'); v > limit {
				return 0, fmt.Errorf("%d or more, want at most %d", v, limit)
			}
		case c == '#':
			for c != '\n' && c != '\r' {
				if c, err = p.r.ReadByte(); err == io.EOF {
					c = '\n'
				} else if err != nil {
					return 0, err
				}
			}
			if digits > 0 {
				return v, nil
			}
		case c == ' ' || c >= '\t' && c <= '\r':
			if digits > 0 {
				return v, nil
			}
		default:
			return 0, fmt.Errorf("the byte %q, want a number", c)
		}
	}
}

// row reads the next values.
func (p *pnm) row(values []uint16) error {
	for i := range values {
		v, err := 0, error(nil)
		switch {
		case p.plain:
			v, err = p.number(65535)
		case p.maxValue > 255:
			var high, low byte
			if high, err = p.r.ReadByte(); err == nil {
				low, err = p.r.ReadByte()
			}
			v = int(high)<<8 | int(low)
		default:
			var b byte
			b, err = p.r.ReadByte()
			v = int(b)
		}
		if err != nil {
			return fmt.Errorf("value %d of %d: %w", p.read+1, p.values(), noEOF(err))
		}
		if v > p.maxValue {
			return fmt.Errorf("value %d of %d is %d, want at most %d", p.read+1, p.values(), v, p.maxValue)
		}
		p.read++
		values[i] = uint16((0xffff*uint32(v) + uint32(p.maxValue)/2) / uint32(p.maxValue))
	}
	return nil
}

func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// values returns the number of the file's values.
func (p *pnm) values() int {
	if p.colour {
		return 3 * p.width * p.height
	}
	return p.width * p.height
}

// check returns an error where the bytes that are left cannot hold the values.
func (p *pnm) check(left int) error {
	need := p.values()
	switch {
	case p.plain:
		need = 2*need - 1 // a digit each, and a blank between two
	case p.maxValue > 255:
		need *= 2
	}
	if left < need {
		return fmt.Errorf("pixels: at least %d bytes are promised and %d are there: %w", need, left, io.ErrUnexpectedEOF)
	}
	return nil
}

func decodePNMConfig(r io.Reader) (image.Config, error) {
	p, err := newPNM(r)
	if err != nil {
		return image.Config{}, err
	}
	model := color.Gray16Model
	if p.colour {
		model = color.RGBA64Model
	}
	return image.Config{ColorModel: model, Width: p.width, Height: p.height}, nil
}

// decodePNM decodes a P2, P3, P5 or P6 file whose values run to at most 65535
// and scales them to 16 bits. It allocates the image and a row of it, once the
// file is known to be long enough.
func decodePNM(content []byte) (image.Image, error) {
	in := bytes.NewReader(content)
	p, err := newPNM(in)
	if err != nil {
		return nil, err
	}
	if err := checkSize(p.width, p.height); err != nil {
		return nil, err
	}
	if err := p.check(p.r.Buffered() + in.Len()); err != nil {
		return nil, err
	}
	bounds := image.Rect(0, 0, p.width, p.height)
	if !p.colour {
		img := image.NewGray16(bounds)
		row := make([]uint16, p.width)
		for y := range p.height {
			if err := p.row(row); err != nil {
				return nil, err
			}
			for x, v := range row {
				binary.BigEndian.PutUint16(img.Pix[y*img.Stride+2*x:], v)
			}
		}
		return img, nil
	}
	img := image.NewRGBA64(bounds)
	row := make([]uint16, 3*p.width)
	for y := range p.height {
		if err := p.row(row); err != nil {
			return nil, err
		}
		for x := range p.width {
			img.SetRGBA64(x, y, color.RGBA64{R: row[3*x], G: row[3*x+1], B: row[3*x+2], A: 0xffff})
		}
	}
	return img, nil
}
