package features

import "image"

// Thumbnail returns a picture in colour, laid over white, its upper left corner at (0, 0)
// and its longer side of at most longest pixels: each pixel is the mean of what it covers.
// A picture is never enlarged.
func Thumbnail(img image.Image, longest int) *image.RGBA {
	size := ThumbnailSize(img.Bounds().Size(), longest)
	if grey, ok := img.(*image.Gray16); ok && size == grey.Rect.Size() {
		return ofGreys(grey)
	}
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

// ofGreys is Thumbnail of a small picture of greys, as vectors of images are.
func ofGreys(img *image.Gray16) *image.RGBA {
	out := image.NewRGBA(image.Rectangle{Max: img.Rect.Size()})
	for y := range out.Rect.Max.Y {
		from, to := img.Pix[y*img.Stride:], out.Pix[y*out.Stride:]
		for x := range out.Rect.Max.X {
			grey := float64(uint16(from[2*x])<<8|uint16(from[2*x+1])) / 0xffff
			v := uint8(255*grey + 0.5)
			copy(to[4*x:], []uint8{v, v, v, 0xff})
		}
	}
	return out
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
