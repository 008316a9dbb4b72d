package factor

import (
	"fmt"
	"math"
)

// Image is the size of the images that samples are. An image is stored row by row, one
// channel after another. The zero value stands for square images of one channel.
type Image struct {
	// Channels is how many there are; 0 means 1.
	Height, Width, Channels int
}

// ForImages returns the method for samples that are images of the size. Methods that are
// not made of parts do not see samples as images.
func ForImages(m Method, size Image) Method {
	c, ok := m.(Composition)
	if !ok || size == (Image{}) {
		return m
	}
	p := c.AsParts()
	p.Image = size
	return p
}

// of returns the size of images of m values: a square for none. It is 0×0 where there
// is no such image.
func (i Image) of(m int) Image {
	if i == (Image{}) {
		side := int(math.Round(math.Sqrt(float64(m))))
		i = Image{Height: side, Width: side}
	}
	if i.Height < 1 || i.Width < 1 || i.Channels < 0 || i.rows()*i.Width != m {
		return Image{}
	}
	return i
}

// rows is how many rows of Width values an image has.
func (i Image) rows() int { return i.Height * max(i.Channels, 1) }

// check reports that samples of m values are no images, which what is for.
func (i Image) check(m int, what string) error {
	if i.of(m) != (Image{}) {
		return nil
	}
	size := "square"
	if i != (Image{}) {
		size = fmt.Sprintf("%d×%d", i.rows(), i.Width)
	}
	return fmt.Errorf("%s is for images, and samples of %d features are no %s images", what, m, size)
}
