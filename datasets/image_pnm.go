package datasets

import (
	"bufio"
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

// values reads n values. What it allocates depends on what the file holds, not
// on what its header promises.
func (p *pnm) values(n int) ([]uint16, error) {
	var values []uint16
	size := 1
	if p.maxValue > 255 {
		size = 2
	}
	if !p.plain {
		raw, err := readBytes(p.r, int64(n)*int64(size))
		if err != nil {
			return nil, fmt.Errorf("pixels: %w", err)
		}
		values = make([]uint16, n)
		for i, b := range raw {
			values[i/size] = values[i/size]<<8 | uint16(b)
		}
	} else {
		for i := range n {
			v, err := p.number(65535)
			if err != nil {
				return nil, fmt.Errorf("value %d of %d: %w", i+1, n, err)
			}
			values = append(values, uint16(v))
		}
	}
	for i, v := range values {
		if int(v) > p.maxValue {
			return nil, fmt.Errorf("value %d of %d is %d, want at most %d", i+1, n, v, p.maxValue)
		}
	}
	return values, nil
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
// and scales them to 16 bits.
func decodePNM(r io.Reader) (image.Image, error) {
	p, err := newPNM(r)
	if err != nil {
		return nil, err
	}
	if err := checkSize(p.width, p.height); err != nil {
		return nil, err
	}
	n := p.width * p.height
	if p.colour {
		n *= 3
	}
	values, err := p.values(n)
	if err != nil {
		return nil, err
	}
	most := uint32(p.maxValue)
	for i, v := range values {
		values[i] = uint16((0xffff*uint32(v) + most/2) / most)
	}
	bounds := image.Rect(0, 0, p.width, p.height)
	if !p.colour {
		img := image.NewGray16(bounds)
		for i, v := range values {
			img.SetGray16(i%p.width, i/p.width, color.Gray16{Y: v})
		}
		return img, nil
	}
	img := image.NewRGBA64(bounds)
	for i := range p.width * p.height {
		img.SetRGBA64(i%p.width, i/p.width, color.RGBA64{R: values[3*i], G: values[3*i+1], B: values[3*i+2], A: 0xffff})
	}
	return img, nil
}
