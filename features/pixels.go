package features

import (
	"cmp"
	"context"
	"fmt"
	"image"

	"github.com/seed4492f2cd/partwise/datasets"
)

// defaultSide is the height and width of the images in the papers.
const defaultSide = 32

// maxSide is the largest height or width that images are resized to.
const maxSide = 4096

// Pixels takes the grey values of images. Its zero value makes 32×32 images of
// unit length.
type Pixels struct {
	// Height and Width are the size that all images get. Both 0 stand for
	// 32×32, or for their own size where the set holds images as vectors.
	Height, Width int
	// Crop picks the part of each image that is taken, nil for the whole.
	Crop      Crop
	Normalise Norm
	// SkipBad leaves out the samples that cannot be used instead of stopping.
	SkipBad bool
	// Workers is how many images are in work at once, and so in memory, or 0
	// for one for each processor. The result does not depend on it.
	Workers int
}

// Extract returns the n×(Height·Width) grey values of the set's images, which
// the package's description explains. Vectors that hold images of the wanted
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
	black, white := 0.0, 1.0
	if set.Files == nil {
		black, white = set.ValueRange()
	}
	decode := set.Images()
	run := run{set, p.Normalise, p.SkipBad, p.Workers, progress}
	out, err := run.dense(ctx, height*width, func(i int, row []float64) error {
		img, err := decode(i)
		if err != nil {
			return err
		}
		dst := image.NewGray16(image.Rect(0, 0, width, height))
		if err := crop.resample(dst, datasets.Gray(img), set.Names[i]); err != nil {
			return fmt.Errorf("%s: %w", set.Names[i], err)
		}
		for j := range row {
			grey := dst.Gray16At(j%width, j/width).Y
			row[j] = black + (white-black)*float64(grey)/0xffff
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out.Height, out.Width = height, width
	return out, nil
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
