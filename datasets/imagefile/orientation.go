package imagefile

import (
	"image"
	"image/color"

	"github.com/seed4492f2cd/partwise/internal/jpegmeans"
)

// exifOrientation returns the orientation tag, 1 to 8, of the EXIF block of a
// JPEG file, or 1 (upright) where it has none or one that makes no sense.
func exifOrientation(content []byte) int {
	const app1, startOfScan = 0xe1, 0xda
	orientation := 1
	jpegmeans.Segments(content, func(marker byte, data []byte) bool {
		// An XMP block has the same marker.
		if marker == app1 && len(data) >= 6 && string(data[:6]) == "Exif\x00\x00" {
			if v := tiffTags(data[6:])[tiffOrientation]; 1 <= v && v <= 8 { // an EXIF block is laid out as a TIFF file
				orientation = int(v)
			}
			return false
		}
		return marker != startOfScan
	})
	return orientation
}

// oriented is an image as a camera stored it, seen upright.
type oriented struct {
	image.RGBA64Image
	orientation int
}

// orient returns img turned as its EXIF orientation, 1 to 8, says.
func orient(img image.Image, orientation int) image.Image {
	src, ok := img.(image.RGBA64Image)
	if !ok || orientation == 1 {
		return img
	}
	return &oriented{src, orientation}
}

// Stored returns the image that one turned upright is a view of, or the image itself.
func Stored(img image.Image) image.Image {
	if o, ok := img.(*oriented); ok {
		return o.RGBA64Image
	}
	return img
}

// uprightSize returns the size of a stored image, seen upright.
func uprightSize(stored image.Point, orientation int) image.Point {
	if orientation >= 5 {
		return image.Pt(stored.Y, stored.X)
	}
	return stored
}

func (o *oriented) Bounds() image.Rectangle {
	return image.Rectangle{Max: uprightSize(o.RGBA64Image.Bounds().Size(), o.orientation)}
}

// stored returns where the pixel (x, y) is stored.
func (o *oriented) stored(x, y int) (int, int) {
	b := o.RGBA64Image.Bounds()
	right, bottom := b.Dx()-1, b.Dy()-1
	switch o.orientation {
	case 2: // mirrored left to right
		x = right - x
	case 3: // upside down
		x, y = right-x, bottom-y
	case 4: // mirrored top to bottom
		y = bottom - y
	case 5: // mirrored at the main diagonal
		x, y = y, x
	case 6: // stored turned to the left
		x, y = y, bottom-x
	case 7: // mirrored at the other diagonal
		x, y = right-y, bottom-x
	case 8: // stored turned to the right
		x, y = right-y, x
	}
	return b.Min.X + x, b.Min.Y + y
}

func (o *oriented) At(x, y int) color.Color { return o.RGBA64Image.At(o.stored(x, y)) }

func (o *oriented) RGBA64At(x, y int) color.RGBA64 { return o.RGBA64Image.RGBA64At(o.stored(x, y)) }
