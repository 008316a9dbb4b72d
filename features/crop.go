package features

import (
	"fmt"
	"image"
)

// Crop picks the part of each image that becomes the sample: a Box, a Square,
// Eyes, or the Whole.
type Crop interface {
	// resample draws the part of the sample's image src over the whole of dst,
	// which is black. The upper left corner of both is at (0, 0).
	resample(dst *Canvas, src image.Image, sample string) error
	// digest tells apart the parts that crops take of the sample's image.
	digest(sample string) string
}

// Part returns the part of an image of a size that a crop takes, its upper left corner at
// (0, 0). Eyes takes none that is a part.
func Part(crop Crop, size image.Point) (part image.Rectangle, ok bool) {
	switch c := crop.(type) {
	case Whole:
		return image.Rectangle{Max: size}, true
	case Square:
		side := min(size.X, size.Y)
		corner := image.Pt((size.X-side)/2, (size.Y-side)/2)
		return image.Rectangle{Min: corner, Max: corner.Add(image.Pt(side, side))}, true
	case Box:
		return image.Rect(c.X0, c.Y0, c.X1, c.Y1), true
	}
	return image.Rectangle{}, false
}

// Box is the part of an image from the pixel (X0, Y0) to before (X1, Y1), with
// x to the right and y down from (0, 0) in the upper left corner. An image
// that it does not lie in is an error.
type Box struct{ X0, Y0, X1, Y1 int }

func (b Box) digest(string) string { return fmt.Sprintf("%#v", b) }

func (b Box) resample(dst *Canvas, src image.Image, _ string) error {
	part := image.Rectangle{Min: image.Pt(b.X0, b.Y0), Max: image.Pt(b.X1, b.Y1)}
	if part.Empty() || !part.In(src.Bounds()) {
		return fmt.Errorf("crop: the box from (%d, %d) to (%d, %d) is not within the %d×%d pixels of the image",
			b.X0, b.Y0, b.X1, b.Y1, src.Bounds().Dx(), src.Bounds().Dy())
	}
	resize(dst, src, part)
	return nil
}

// Square is the largest square in the middle of an image.
type Square struct{}

func (Square) digest(string) string { return "square" }

func (Square) resample(dst *Canvas, src image.Image, _ string) error {
	part, _ := Part(Square{}, src.Bounds().Size())
	resize(dst, src, part)
	return nil
}

// Whole is all of an image.
type Whole struct{}

func (Whole) digest(string) string { return "" }

func (Whole) resample(dst *Canvas, src image.Image, _ string) error {
	resize(dst, src, src.Bounds())
	return nil
}
