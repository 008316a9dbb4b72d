package features

import (
	"encoding/binary"
	"image"
)

// Thumbnail returns a picture in colour, laid over white, its upper left corner at (0, 0)
// and its longer side of at most longest pixels: each pixel is the mean of what it covers.
// A picture is never enlarged.
func Thumbnail(img image.Image, longest int) *image.RGBA {
	size := ThumbnailSize(img.Bounds().Size(), longest)
	reduced := Stretched(img, size.Y, size.X)
	out := image.NewRGBA(reduced.Bounds())
	area := size.X * size.Y
	for p := range area {
		for plane := range 3 {
			out.Pix[4*p+plane] = uint8(255*reduced.Values[plane*area+p] + 0.5)
		}
		out.Pix[4*p+3] = 0xff
	}
	return out
}

// GreyThumbnail is Thumbnail, but in grey, of a *image.Gray or *image.Gray16 that need not be reduced,
// as images in vectors are. Of all others it is nil.
func GreyThumbnail(img image.Image, longest int) *image.Gray {
	size := img.Bounds().Size()
	if max(size.X, size.Y) > longest {
		return nil
	}
	switch img := img.(type) {
	case *image.Gray:
		return img
	case *image.Gray16:
		out := image.NewGray(image.Rectangle{Max: size})
		for y := range size.Y {
			row := out.Pix[y*out.Stride:][:size.X]
			for x := range row {
				// 255 / 65535 is 1 / 257.
				row[x] = uint8((uint32(binary.BigEndian.Uint16(img.Pix[y*img.Stride+2*x:])) + 128) / 257)
			}
		}
		return out
	}
	return nil
}

// Stretched returns a picture in colour, laid over white, as an image of height×width pixels.
func Stretched(img image.Image, height, width int) *Canvas {
	out := newCanvas(height, width, 3)
	img = opaque(img)
	resize(out, img, img.Bounds())
	return out
}

// ThumbnailSize returns the width and height of the thumbnail of a picture of a size.
func ThumbnailSize(size image.Point, longest int) image.Point {
	longer := max(size.X, size.Y)
	if longer <= longest {
		return size
	}
	scaled := func(side int) int { return max(1, (2*side*longest+longer)/(2*longer)) }
	return image.Pt(scaled(size.X), scaled(size.Y))
}

// ThumbnailMemory returns how many bytes Thumbnail takes, at most, for a picture of a
// size, beside those of the picture.
func ThumbnailMemory(size image.Point, longest int) int64 {
	to := ThumbnailSize(size, longest)
	return resizing(size.X, size.Y, to.Y, to.X, 3) + 28*int64(to.X)*int64(to.Y)
}
