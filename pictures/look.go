// Package pictures finds copies, outliers, and blurred or blank pictures. A [Look] describes a picture in a few
// hundred bytes; only looks, thumbnails and features are compared.
package pictures

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/jpeg"

	"github.com/seed4492f2cd/partwise/features"
)

const (
	// Version is part of the key under which looks are cached: it changes with what New returns for the same
	// picture.
	Version       = "4"
	ThumbnailSide = 160 // the longer side of a thumbnail in pixels, at most
	// Least is the height and width that a picture has to keep, in pixels, for its look; see [imagefile.Use].
	Least      = workSide
	LeastSide  = 64  // the height and width, in pixels, from which a picture can be blurred, and be a near duplicate
	workSide   = 480 // the longer side of the picture that is measured, in pixels, at most
	roughSide  = 16  // height and width of the rough picture of a look, in its brightness
	colourSide = 8   // and in its two colour differences
	quality    = 90  // of thumbnails as JPEG files
)

// Look is what is kept of a picture.
type Look struct {
	Width, Height int // of the picture, in pixels
	// Sharpness is how steep the sharpest edges are, from 0 to 1, and −1 with too few edges to tell.
	Sharpness float64
	// Spread is how much the picture changes, from 0 to 255: the difference between the darkest and the brightest
	// places, or between those of most and least of a colour, but for the outer hundredth each.
	Spread float64

	rough  [roughSide * roughSide]uint8       // brightness, stretched to a square
	colour [2 * colourSide * colourSide]uint8 // Cb, then Cr
}

// New returns the look of a picture and its thumbnail, a JPEG file whose longer side has ThumbnailSide pixels
// at most. The picture is laid over white. It may be reduced to Least, and whole is the size of the whole.
func New(img image.Image, whole image.Point) (*Look, []byte, error) {
	work := features.Thumbnail(img, workSide)
	l := &Look{Width: whole.X, Height: whole.Y, Sharpness: sharpness(work)}
	canvas := features.Stretched(work, side, side)
	l.Spread = spread(canvas)
	brightness, cb, cr := planes(canvas)
	for i, v := range brightness.reduced(roughSide).v {
		l.rough[i] = level(v)
	}
	blues, reds := cb.reduced(colourSide), cr.reduced(colourSide)
	for i := range blues.v {
		l.colour[i], l.colour[len(blues.v)+i] = level(blues.v[i]+128), level(reds.v[i]+128)
	}
	var file bytes.Buffer
	if err := jpeg.Encode(&file, features.Thumbnail(work, ThumbnailSide), &jpeg.Options{Quality: quality}); err != nil {
		return nil, nil, err
	}
	return l, file.Bytes(), nil
}

// Memory returns how many bytes New takes, at most, for a picture of width×height pixels, beside those of the
// picture.
func Memory(width, height int) int64 {
	size := image.Pt(width, height)
	work := features.ThumbnailSize(size, workSide)
	return features.ThumbnailMemory(size, workSide) + 32*int64(work.X)*int64(work.Y) + 100*side*side
}

func level(v float32) uint8 { return uint8(min(max(v+0.5, 0), 255)) }

// planes returns the brightness of a square picture and its two colour differences (ITU-R BT.601), in levels of
// 256.
func planes(c *features.Canvas) (brightness, cb, cr plane) {
	area := c.Height * c.Width
	brightness, cb, cr = newPlane(c.Width), newPlane(c.Width), newPlane(c.Width)
	for i := range area {
		r, g, b := 255*c.Values[i], 255*c.Values[area+i], 255*c.Values[2*area+i]
		y := 0.299*r + 0.587*g + 0.114*b
		brightness.v[i], cb.v[i], cr.v[i] = float32(y), float32((b-y)/1.772), float32((r-y)/1.402)
	}
	return brightness, cb, cr
}

// stored is a look as bytes, the numbers with their low byte first.
type stored struct {
	Width, Height     uint32
	Sharpness, Spread float64
	Rough             [roughSide * roughSide]uint8
	Colour            [2 * colourSide * colourSide]uint8
}

// AppendBinary appends the look to b.
func (l *Look) AppendBinary(b []byte) ([]byte, error) {
	return binary.Append(b, binary.LittleEndian, stored{uint32(l.Width), uint32(l.Height), l.Sharpness, l.Spread, l.rough, l.colour})
}

// Cut reads the look with which b begins, as AppendBinary appends it, and returns the rest.
func (l *Look) Cut(b []byte) (rest []byte, err error) {
	var s stored
	n, err := binary.Decode(b, binary.LittleEndian, &s)
	if err != nil {
		return nil, fmt.Errorf("pictures: the look of a picture: %w", err)
	}
	if s.Width < 1 || s.Height < 1 || !(s.Sharpness >= -1 && s.Sharpness <= 1e6) || !(s.Spread >= 0 && s.Spread <= 256) {
		return nil, errors.New("pictures: no look of a picture")
	}
	*l = Look{int(s.Width), int(s.Height), s.Sharpness, s.Spread, s.Rough, s.Colour}
	return b[n:], nil
}
