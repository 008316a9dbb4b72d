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

// pnmMagics are the beginnings of grey (P2, P5) and colour (P3, P6) Netpbm files; P2 and P3 hold decimal numbers. The
// next byte distinguishes them from texts.
var pnmMagics = func() (magics []string) {
	for _, kind := range []string{"P2", "P3", "P5", "P6"} {
		for _, next := range []string{" ", "\t", "\r", "\n", "\v", "\f", "#"} {
			magics = append(magics, kind+next)
		}
	}
	return magics
}()

type pnm struct {
	r                                 *bufio.Reader
	plain                             bool
	channels, width, height, maxValue int
}

func newPNM(r io.Reader) (*pnm, error) {
	p := &pnm{r: bufio.NewReader(r), channels: 1}
	magic := make([]byte, 2)
	if _, err := io.ReadFull(p.r, magic); err != nil {
		return nil, err
	}
	p.plain = magic[1] < '5'
	if magic[1] == '3' || magic[1] == '6' {
		p.channels = 3
	}
	for _, field := range []struct {
		name  string
		value *int
		limit int
	}{{"width", &p.width, MaxPixels}, {"height", &p.height, MaxPixels}, {"largest value", &p.maxValue, 65535}} {
		var err error
		if *field.value, err = p.number(field.limit); err != nil {
			return nil, fmt.Errorf("%s: %w", field.name, err)
		}
	}
	if p.maxValue == 0 {
		return nil, errors.New("largest value 0; expected 1 to 65535")
	}
	return p, nil
}

// number reads a decimal number up to limit, after blanks and comments, and the byte that ends it.
func (p *pnm) number(limit int) (v int, err error) {
	digits, comment := 0, false
	for {
		c, err := p.r.ReadByte()
		switch isEnd := c == '\n' || c == '\r'; {
		case err == io.EOF && digits > 0:
			return v, nil
		case err != nil:
			return 0, noEOF(err)
		case comment && !isEnd:
		case c == '#':
			comment = true
		case c == ' ' || c >= '\t' && c <= '\r':
			if comment = false; digits > 0 {
				return v, nil
			}
		case c >= '0' && c <= '9':
			digits++
			if v = 10*v + int(c-'0'); v > limit {
				return 0, fmt.Errorf("%d or more; expected at most %d", v, limit)
			}
		default:
			return 0, fmt.Errorf("byte %q; expected a number", c)
		}
	}
}

func (p *pnm) value() (int, error) {
	if p.plain {
		return p.number(65535)
	}
	v, err := p.r.ReadByte()
	if p.maxValue <= 255 || err != nil {
		return int(v), noEOF(err)
	}
	low, err := p.r.ReadByte()
	return int(v)<<8 | int(low), noEOF(err)
}

func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

func decodePNMConfig(r io.Reader) (image.Config, error) {
	p, err := newPNM(r)
	if err != nil {
		return image.Config{}, err
	}
	model := color.Gray16Model
	if p.channels == 3 {
		model = color.RGBA64Model
	}
	return image.Config{ColorModel: model, Width: p.width, Height: p.height}, nil
}

// decodePNM decodes a P2, P3, P5 or P6 file with values up to 65535, and scales them to 16 bits.
func decodePNM(content []byte) (image.Image, error) {
	p, err := newPNM(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	values := p.channels * p.width * p.height
	var img image.Image
	var pix []byte
	if bounds := image.Rect(0, 0, p.width, p.height); p.channels == 1 {
		grey := image.NewGray16(bounds)
		img, pix = grey, grey.Pix[:0]
	} else {
		colour := image.NewRGBA64(bounds)
		img, pix = colour, colour.Pix[:0]
	}
	for i := range values {
		v, err := p.value()
		if err != nil {
			return nil, fmt.Errorf("value %d of %d: %w", i+1, values, err)
		}
		if v > p.maxValue {
			return nil, fmt.Errorf("value %d of %d is %d; expected at most %d", i+1, values, v, p.maxValue)
		}
		pix = binary.BigEndian.AppendUint16(pix, uint16((0xffff*uint32(v)+uint32(p.maxValue)/2)/uint32(p.maxValue)))
		if p.channels == 3 && i%3 == 2 {
			pix = append(pix, 0xff, 0xff)
		}
	}
	return img, nil
}
