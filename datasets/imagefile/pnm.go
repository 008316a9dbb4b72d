package imagefile

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"io"

	"github.com/seed4492f2cd/partwise/internal/guard"
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

// newPNM reads the header of a file. It and the methods call guard.Fail.
func newPNM(r io.Reader) *pnm {
	p := &pnm{r: bufio.NewReader(r), channels: 1}
	magic := make([]byte, 2)
	guard.Must(io.ReadFull(p.r, magic))
	p.plain = magic[1] < '5'
	if magic[1] == '3' || magic[1] == '6' {
		p.channels = 3
	}
	for _, field := range []struct {
		name  string
		value *int
		limit int
	}{{"width", &p.width, MaxPixels}, {"height", &p.height, MaxPixels}, {"largest value", &p.maxValue, 65535}} {
		guard.Within(func() { *field.value = p.number(field.limit) }, "%s", field.name)
	}
	guard.FailIf(p.maxValue == 0, "largest value 0; expected 1 to 65535")
	return p
}

// number reads a decimal number up to limit, after blanks and comments, and the byte that ends it.
func (p *pnm) number(limit int) (v int) {
	digits, comment := 0, false
	for {
		c, err := p.r.ReadByte()
		if err == io.EOF && digits > 0 {
			return v
		}
		guard.Check(noEOF(err))
		switch isEnd := c == '\n' || c == '\r'; {
		case comment && !isEnd:
		case c == '#':
			comment = true
		case c == ' ' || c >= '\t' && c <= '\r':
			if comment = false; digits > 0 {
				return v
			}
		case c >= '0' && c <= '9':
			digits++
			if v = 10*v + int(c-'0'); v > limit {
				guard.Fail("%d or more; expected at most %d", v, limit)
			}
		default:
			guard.Fail("byte %q; expected a number", c)
		}
	}
}

func (p *pnm) value() (v int) {
	if p.plain {
		return p.number(65535)
	}
	for of := p.maxValue; of > 0; of >>= 8 {
		c, err := p.r.ReadByte()
		guard.Check(noEOF(err))
		v = v<<8 | int(c)
	}
	return v
}

func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

func decodePNMConfig(r io.Reader) (c image.Config, err error) {
	defer guard.Catch(&err)
	p := newPNM(r)
	model := color.Gray16Model
	if p.channels == 3 {
		model = color.RGBA64Model
	}
	return image.Config{ColorModel: model, Width: p.width, Height: p.height}, nil
}

// decodePNM decodes a P2, P3, P5 or P6 file with values up to 65535, and scales them to 16 bits.
func decodePNM(content []byte) (img image.Image, err error) {
	defer guard.Catch(&err)
	p := newPNM(bytes.NewReader(content))
	values := p.channels * p.width * p.height
	var pix []byte
	if bounds := image.Rect(0, 0, p.width, p.height); p.channels == 1 {
		grey := image.NewGray16(bounds)
		img, pix = grey, grey.Pix[:0]
	} else {
		colour := image.NewRGBA64(bounds)
		img, pix = colour, colour.Pix[:0]
	}
	i := 0
	err = guard.Try(func() {
		for ; i < values; i++ {
			v := p.value()
			if v > p.maxValue {
				guard.Fail("%d; expected at most %d", v, p.maxValue)
			}
			pix = binary.BigEndian.AppendUint16(pix, uint16((0xffff*uint32(v)+uint32(p.maxValue)/2)/uint32(p.maxValue)))
			if p.channels == 3 && i%3 == 2 {
				pix = append(pix, 0xff, 0xff)
			}
		}
	})
	return img, guard.Wrap(err, "value %d of %d", i+1, values)
}
