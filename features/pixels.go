package features

import (
	"cmp"
	"context"
	"fmt"
	"image"
	"image/draw"

	"github.com/seed4492f2cd/partwise/datasets"
)

// defaultSide is the height and width of the images in the papers.
const defaultSide = 32

// maxSide is the largest height or width that images are resized to.
const maxSide = 4096

// Pixels takes the grey or colour values of images. Its zero value makes 32×32
// grey images of unit length.
type Pixels struct {
	// Height and Width are the size that all images get. Both 0 stand for
	// 32×32, or for their own size where the set holds images as vectors.
	Height, Width int
	// Colour takes the red, green and blue values instead of the grey ones. It
	// makes no difference where the set holds images as vectors: they are grey.
	Colour bool
	// Crop picks the part of each image that is taken, nil for the whole.
	Crop      Crop
	Normalise Norm
	// SkipBad leaves out the samples that cannot be used instead of stopping.
	SkipBad bool
	// Workers is how many images are in work at once, or 0 for one for each
	// processor. The result does not depend on it.
	Workers int
	// Images opens the set's images; nil stands for those of the set.
	Images *datasets.Images
}

// Extract returns the n×(Height·Width) grey values or the n×(3·Height·Width)
// colour values of the set's images, which the package's description explains. Vectors that hold images of the wanted
// size and are not cropped are taken as they are, and so are vectors that hold
// no images, as by Vectors.
//
// Without SkipBad the first sample that cannot be used stops the run with an
// error that names it. The calls of progress, which may be nil, do not
// overlap.
func (p Pixels) Extract(ctx context.Context, set *datasets.Set, progress func(done, total int)) (*Matrix, error) {
	height, width, err := p.size(set)
	if err != nil {
		return nil, err
	}
	if set.Files == nil && p.Crop == nil && height == set.Height && width == set.Width {
		return Vectors{Normalise: p.Normalise, SkipBad: p.SkipBad, Workers: p.Workers}.Extract(ctx, set, progress)
	}
	if set.Files == nil && set.Height == 0 {
		return nil, fmt.Errorf("features: the vectors of the set %s are no images to crop", set.Name)
	}
	var crop Crop = whole{}
	if p.Crop != nil {
		crop = p.Crop
	}
	channels := 1
	if p.Colour && set.Files != nil {
		channels = 3
	}
	images := p.Images
	if images == nil {
		images = set.Images()
	}
	black, white := images.Range()
	run := run{set, p.Normalise, p.SkipBad, p.Workers, progress}
	area := height * width
	out, err := run.dense(ctx, channels*area, func(i int, row []float64) error {
		return images.With(ctx, i, func(w, h int) int64 { return resizing(w, h, height, width, channels) }, func(img image.Image) error {
			if channels == 3 {
				img = opaque(img)
			} else {
				img = datasets.Gray(img)
			}
			dst := &canvas{height, width, channels, row}
			if err := crop.resample(dst, img, set.Names[i]); err != nil {
				return fmt.Errorf("%s: %w", set.Names[i], err)
			}
			for j, v := range row {
				row[j] = black + (white-black)*v
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	out.Height, out.Width, out.Channels = height, width, channels
	return out, nil
}

// opaque returns an image laid over white, its upper left corner at (0, 0):
// the image itself where it is so already, since it may be large, and some
// kinds of images are resized faster than their copies.
func opaque(img image.Image) image.Image {
	if o, ok := img.(interface{ Opaque() bool }); ok && o.Opaque() && img.Bounds().Min == (image.Point{}) {
		return img
	}
	out := image.NewRGBA64(image.Rectangle{Max: img.Bounds().Size()})
	draw.Draw(out, out.Rect, image.White, image.Point{}, draw.Src)
	draw.Draw(out, out.Rect, img, img.Bounds().Min, draw.Over)
	return out
}

// size returns the size of the images that are made of the set's, or 0 and 0
// where it holds vectors that are no images.
func (p Pixels) size(set *datasets.Set) (height, width int, err error) {
	switch {
	case (p.Height == 0) != (p.Width == 0):
		return 0, 0, fmt.Errorf("features: height %d and width %d: give both or none", p.Height, p.Width)
	case p.Height < 0 || p.Width < 0 || p.Height > maxSide || p.Width > maxSide:
		return 0, 0, fmt.Errorf("features: height %d and width %d: want 1 to %d", p.Height, p.Width, maxSide)
	case set.Files == nil && (set.Height == 0 || p.Height == 0):
		return set.Height, set.Width, nil
	}
	return cmp.Or(p.Height, defaultSide), cmp.Or(p.Width, defaultSide), nil
}
