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
	// Least is the height and the width that the image has to keep where it is reduced, 0 for the whole image.
	Least int
	// Memory returns the most bytes that Do takes beside an image of up to this size. Nil stands for none.
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

// Reading decodes an image file for several uses, each pixel once. A JPEG file is decoded to a reduced image
// where its kind is served (internal/jpegmeans), whatever the other uses; of other files the whole image is
// reduced.
type Reading struct {
	// Header is the file's own.
	Header Header
	// Truncated says how much is there of a file that ends early, "" for a whole one.
	Truncated string

	content []byte
	kind    *format
	jpeg    *jpegmeans.File              // nil for other kinds
	images  [mostReduced + 1]image.Image // by what height and width are divided: 1 is the whole one
}

// NewReading reads the header of a file with this content. With mend a JPEG file that ends early becomes one of
// the rows that are there, and less than half of them are an error.
func NewReading(content []byte, mend bool) (*Reading, error) {
	kind, header, err := readHeader(content)
	if err != nil {
		return nil, err
	}
	r := &Reading{content: content, kind: kind, Header: header}
	if kind.name != "JPEG" {
		return r, nil
	}
	r.jpeg = jpegmeans.Parse(content)
	if !mend {
		return r, nil
	}
	mended, rows := r.jpeg.Mend()
	said := fmt.Sprintf("the JPEG file ends early: %d of %d rows are there", rows, header.Height)
	switch {
	case rows == 0:
		return r, nil
	case 2*rows < header.Height:
		return nil, NewError(KindTruncated, "%s, and less than half is not used", said)
	case rows == header.Height && r.jpeg.Progressive:
		said = "the progressive JPEG file ends early: its finest detail is missing"
	}
	if r, err = NewReading(mended, false); err == nil {
		r.Truncated = said
	}
	return r, err
}

// Length is how many bytes the file's content has.
func (r *Reading) Length() int64 { return int64(len(r.content)) }

func (r *Reading) size() image.Point { return image.Pt(r.Header.Width, r.Header.Height) }

// means returns by what the height and width are divided while the file is decoded, or 1.
func (r *Reading) means(least int) int {
	if r.jpeg == nil || least <= 0 {
		return 1
	}
	if times := reduction(r.size(), least); r.jpeg.Serves(times) {
		return times
	}
	return 1
}

// Memory returns the most bytes that decoding for the uses takes, one after the other, and that they take
// themselves.
func (r *Reading) Memory(uses []Use) int64 {
	var decoding [mostReduced + 1]int64
	most := int64(0)
	for _, u := range uses {
		of, times := r.size(), r.means(u.Least)
		if times > 1 {
			of = reducedBounds(of, times).Size()
			decoding[times] = max(decoding[times], r.jpeg.Memory(times)+smallDecoding)
		} else {
			decoding[1] = r.Header.Memory
			if times := reduction(of, u.Least); u.Least > 0 && times > 1 {
				small := reducedBounds(of, times).Size()
				decoding[times] = max(decoding[times], 4*int64(small.X)*int64(small.Y))
			}
		}
		most = max(most, u.MemoryOf(of))
	}
	for _, bytes := range decoding {
		most += bytes
	}
	if r.Truncated != "" {
		most += r.Length() // which is a copy
	}
	return most
}

// Image returns the image, reduced to no less than least where that is not 0, and the size of the whole one.
func (r *Reading) Image(least int) (img image.Image, whole image.Point, err error) {
	if times := r.means(least); times > 1 {
		orientation := exifOrientation(r.content)
		if r.images[times] == nil {
			if img, err = r.guarded(func() (image.Image, error) { return r.jpeg.Decode(times) }); err != nil {
				return nil, whole, err
			}
			r.images[times] = orient(img, orientation)
		}
		return r.images[times], uprightSize(r.size(), orientation), nil
	}
	if r.images[1] == nil {
		if r.images[1], err = r.decode(); err != nil {
			return nil, whole, err
		}
	}
	whole = r.images[1].Bounds().Size()
	times := 1
	if least > 0 {
		times = reduction(whole, least)
	}
	if r.images[times] == nil {
		r.images[times] = Reduced(r.images[1], least)
	}
	return r.images[times], whole, nil
}

// guarded calls a decoder, which may panic.
func (r *Reading) guarded(decode func() (image.Image, error)) (img image.Image, err error) {
	err = guard.Call(func() error {
		img, err = decode()
		return err
	})
	return img, decodeError(r.kind, err)
}

func (r *Reading) decode() (image.Image, error) {
	img, err := r.guarded(func() (image.Image, error) { return r.kind.decode(r.content) })
	if err != nil {
		return nil, err
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
