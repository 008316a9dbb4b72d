package features

import (
	"encoding/binary"
	"image"
	"image/color"
)

// Canvas is a grey or colour image with floating-point values from 0 to 1.
type Canvas struct {
	Height, Width int
	Channels      int       // 1 for grey, 3 for red, green and blue
	Values        []float64 // plane by plane, each by rows from the top
}

func newCanvas(height, width, channels int) *Canvas {
	return &Canvas{height, width, channels, make([]float64, channels*height*width)}
}

// Gray returns the first plane, rounded to 16 bits.
func (c *Canvas) Gray() *image.Gray16 {
	out := image.NewGray16(image.Rect(0, 0, c.Width, c.Height))
	for i, v := range c.Values[:c.Height*c.Width] {
		binary.BigEndian.PutUint16(out.Pix[2*i:], uint16(v*0xffff+0.5))
	}
	return out
}

// resize scales the part of src to the size of dst; see resample.
func resize(dst *Canvas, src image.Image, part image.Rectangle) {
	at := func(x, y int) color.RGBA64 { return color.RGBA64Model.Convert(src.At(x, y)).(color.RGBA64) }
	if fast, ok := src.(image.RGBA64Image); ok {
		at = fast.RGBA64At
	}
	width := part.Dx()
	read := func(row []float64, y int) {
		for x := range width {
			c := at(part.Min.X+x, part.Min.Y+y)
			for plane, v := range []uint16{c.R, c.G, c.B}[:dst.Channels] {
				row[plane*width+x] = float64(v) / 0xffff
			}
		}
	}
	resample(part.Size(), image.Pt(dst.Width, dst.Height), dst.Channels, read, func(y int, row []float64) {
		for plane := range dst.Channels {
			copy(dst.Values[(plane*dst.Height+y)*dst.Width:], row[plane*dst.Width:(plane+1)*dst.Width])
		}
	})
}

// resample scales an image, whose rows hold one plane after another, by area averaging if it is reduced and linear
// interpolation if it is enlarged.
func resample(from, to image.Point, planes int, read func(row []float64, y int), write func(y int, row []float64)) {
	across, down := taps(from.X, to.X), taps(from.Y, to.Y)
	row, sums := make([]float64, planes*from.X), make([]float64, planes*to.X)
	for y, t := range down {
		clear(sums)
		for i, weight := range t.weights {
			read(row, t.first+i)
			for plane := range planes {
				line, out := row[plane*from.X:], sums[plane*to.X:]
				for x, t := range across {
					out[x] += weight * t.weigh(line)
				}
			}
		}
		write(y, sums)
	}
}

// resizing returns an upper bound of the bytes of the buffers for resizing an image of w×h pixels to height×width.
func resizing(w, h, height, width, channels int) int64 {
	pixel := int64(2) // grey
	if channels == 3 {
		pixel = 8 // for the copy over white
	}
	taps := 8*(int64(w)+int64(h)) + 64*(int64(height)+int64(width))
	return pixel*int64(w)*int64(h) + 8*int64(channels)*(int64(w)+int64(width)) + 2*taps
}

// tap holds the weights of the source pixels, from first on, of one target pixel. They sum to 1.
type tap struct {
	first   int
	weights []float64
}

func (t tap) weigh(line []float64) float64 {
	var sum float64
	for i, w := range t.weights {
		sum += w * line[t.first+i]
	}
	return sum
}

// taps returns the weights that scale a line of n pixels to m.
func taps(n, m int) []tap {
	out := make([]tap, m)
	step := float64(n) / float64(m)
	for i := range out {
		if m > n {
			centre := min(max((float64(i)+0.5)*step-0.5, 0), float64(n-1))
			first := min(int(centre), max(n-2, 0))
			out[i] = tap{first, []float64{1 - (centre - float64(first)), centre - float64(first)}[:min(n, 2)]}
			continue
		}
		// In integers: pixel i covers i·n to (i+1)·n of m·n.
		for p := i * n / m; p*m < (i+1)*n; p++ {
			covered := min((p+1)*m, (i+1)*n) - max(p*m, i*n)
			if out[i].weights == nil {
				out[i].first = p
			}
			out[i].weights = append(out[i].weights, float64(covered)/float64(n))
		}
	}
	return out
}

// Thumbnail returns the image in colour over a white background, reduced by area averaging so that its longer side is at
// most longest pixels. It never enlarges.
func Thumbnail(img image.Image, longest int) *image.RGBA {
	size := ThumbnailSize(img.Bounds().Size(), longest)
	reduced := Stretched(img, size.Y, size.X)
	out := image.NewRGBA(image.Rectangle{Max: size})
	area := size.X * size.Y
	for p := range area {
		for plane := range 3 {
			out.Pix[4*p+plane] = uint8(255*reduced.Values[plane*area+p] + 0.5)
		}
		out.Pix[4*p+3] = 0xff
	}
	return out
}

// GreyThumbnail returns img as 8-bit grey if it is a *image.Gray or *image.Gray16 of at most longest pixels a side,
// else nil.
func GreyThumbnail(img image.Image, longest int) *image.Gray {
	size := img.Bounds().Size()
	if grey, ok := img.(*image.Gray); ok && max(size.X, size.Y) <= longest {
		return grey
	}
	if _, ok := img.(*image.Gray16); ok && max(size.X, size.Y) <= longest {
		return reducedGrey(img, size)
	}
	return nil
}

// Stretched returns the image in colour over a white background, scaled to height×width pixels.
func Stretched(img image.Image, height, width int) *Canvas {
	out := newCanvas(height, width, 3)
	img = overWhite(img)
	resize(out, img, img.Bounds())
	return out
}

// ThumbnailSize returns the width and height of [Thumbnail] for an image of the given size.
func ThumbnailSize(size image.Point, longest int) image.Point {
	longer := max(size.X, size.Y)
	if longer <= longest {
		return size
	}
	scaled := func(side int) int { return max(1, (2*side*longest+longer)/(2*longer)) }
	return image.Pt(scaled(size.X), scaled(size.Y))
}

// ThumbnailMemory returns an upper bound of the bytes that [Thumbnail] allocates.
func ThumbnailMemory(size image.Point, longest int) int64 {
	to := ThumbnailSize(size, longest)
	return resizing(size.X, size.Y, to.Y, to.X, 3) + 28*int64(to.X)*int64(to.Y)
}
