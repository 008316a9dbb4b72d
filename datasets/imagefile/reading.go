package imagefile

import (
	"errors"
	"fmt"
	"image"

	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/jpegmeans"
)

// Use is what is done with an image.
type Use struct {
	// Least is the height and the width that the image has to keep: it is reduced, as Reduced does.
	// 0 stands for the whole image.
	Least int
	// Memory returns how many bytes Do takes, at most, beside those of an image that has this width
	// and height or less. Nil stands for none.
	Memory func(width, height int) int64
	// Do is given the image, and the size of the whole one.
	Do func(img image.Image, whole image.Point) error
}

// MemoryOf returns what Memory says of an image of a size.
func (u Use) MemoryOf(size image.Point) int64 {
	if u.Memory == nil {
		return 0
	}
	return u.Memory(size.X, size.Y)
}

// Reading decodes an image file for several uses. A JPEG file of which a reduced image is wanted is
// decoded to that (internal/jpegmeans), where its kind is served, whatever else is decoded of it: what a use is given does
// not depend on other uses. Of other files the whole image is reduced. Nothing is made twice.
type Reading struct {
	// Header is the file's own.
	Header Header
	// Truncated says how much is there of a file that ends early, "" for a whole one.
	Truncated string

	content []byte
	kind    *format
	jpeg    *jpegmeans.File // nil for other kinds
	whole   image.Image
	reduced [mostReduced + 1]image.Image // by what height and width are divided
}

// NewReading reads the header of a file with this content. Errors are those of ReadHeader. With mend a JPEG file
// that ends early becomes one of the rows that are there, and less than half of them are an error.
func NewReading(content []byte, mend bool) (*Reading, error) {
	kind, header, err := readHeader(content)
	if err != nil {
		return nil, err
	}
	r := &Reading{content: content, kind: kind, Header: header}
	if kind.name == "JPEG" {
		r.jpeg = jpegmeans.Parse(content)
	}
	if mend && r.jpeg != nil {
		if mended, rows := r.jpeg.Mend(); rows > 0 {
			return newTruncated(mended, rows, header.Height)
		}
	}
	return r, nil
}

// newTruncated reads the header of a file of so many rows that are left of an image.
func newTruncated(content []byte, rows, height int) (*Reading, error) {
	said := fmt.Sprintf("the JPEG file ends early: %d of %d rows are there", rows, height)
	if 2*rows < height {
		return nil, NewError(KindTruncated, "%s, and less than half is not used", said)
	}
	r, err := NewReading(content, false)
	if err == nil {
		if r.Truncated = said; rows == height && r.jpeg.Progressive {
			r.Truncated = "the progressive JPEG file ends early: its finest detail is missing"
		}
	}
	return r, err
}

// Length is how many bytes the file's content has.
func (r *Reading) Length() int64 { return int64(len(r.content)) }

// means returns by what the height and width are divided while the file is decoded, or 1.
func (r *Reading) means(least int) int {
	if r.jpeg == nil || least <= 0 {
		return 1
	}
	if times := reduction(image.Pt(r.Header.Width, r.Header.Height), least); times > 1 && r.jpeg.Serves(times) {
		return times
	}
	return 1
}

// Memory returns the most bytes that decoding for the uses takes, one after the other, and that they
// take themselves.
func (r *Reading) Memory(uses []Use) int64 {
	size := image.Pt(r.Header.Width, r.Header.Height)
	var known [mostReduced + 1]bool
	decoding, using := int64(0), int64(0)
	need := func(times int, bytes int64) {
		if !known[times] {
			known[times] = true
			decoding += bytes
		}
	}
	for _, u := range uses {
		of := size
		if times := r.means(u.Least); times > 1 {
			need(times, r.jpeg.Memory(times)+smallDecoding)
			of = reducedBounds(size, times).Size()
		} else {
			need(1, r.Header.Memory)
			if times := reduction(size, u.Least); u.Least > 0 && times > 1 {
				small := reducedBounds(size, times).Size()
				need(times, 4*int64(small.X)*int64(small.Y))
			}
		}
		using = max(using, u.MemoryOf(of))
	}
	if r.Truncated != "" {
		decoding += int64(len(r.content)) // which is a copy
	}
	return decoding + using
}

// Image returns the image, reduced to no less than least where that is not 0, and the size of the whole one.
func (r *Reading) Image(least int) (img image.Image, whole image.Point, err error) {
	if times := r.means(least); times > 1 {
		orientation := exifOrientation(r.content)
		if r.reduced[times] == nil {
			if err := guard.Call(func() error {
				img, err = r.jpeg.Decode(times)
				return err
			}); err != nil {
				return nil, whole, decodeError(r.kind, err)
			}
			r.reduced[times] = orient(img, orientation)
		}
		return r.reduced[times], uprightSize(image.Pt(r.Header.Width, r.Header.Height), orientation), nil
	}
	if r.whole == nil {
		if r.whole, err = r.decode(); err != nil {
			return nil, whole, err
		}
	}
	whole = r.whole.Bounds().Size()
	if least <= 0 {
		return r.whole, whole, nil
	}
	times := reduction(whole, least)
	if r.reduced[times] == nil {
		r.reduced[times] = Reduced(r.whole, least)
	}
	return r.reduced[times], whole, nil
}

// decode decodes the whole image, upright.
func (r *Reading) decode() (img image.Image, err error) {
	if err := guard.Call(func() error {
		img, err = r.kind.decode(r.content)
		return err
	}); err != nil {
		return nil, decodeError(r.kind, err)
	}
	switch size := img.Bounds().Size(); {
	case size.X < 1 || size.Y < 1:
		return nil, errors.New("no pixels")
	case size.X > r.Header.Width || size.Y > r.Header.Height:
		return nil, fmt.Errorf("%d×%d pixels where the header promises %d×%d", size.X, size.Y, r.Header.Width, r.Header.Height)
	case r.jpeg != nil:
		img = orient(img, exifOrientation(r.content))
	}
	return img, nil
}
