package features

import (
	"context"
	"fmt"
	"image"
	"math"
	"slices"

	"github.com/seed4492f2cd/partwise/datasets"
)

const (
	// hogCell is how many pixels lie between the cells' centres, in x and y.
	hogCell = 4
	// hogCells is the number of cells along each side of the image.
	hogCells = defaultSide / hogCell
	// hogFlat is the mean gradient in a cell, in grey values a pixel with white
	// 1, at which its values are half of what they are in a cell of much
	// contrast: what is fainter is taken for noise.
	hogFlat = 0.01
)

// HOG takes histograms of oriented gradients: of an image of 32×32 greys, 8×8
// cells of 8 orientations, which go round the whole circle. They are for
// things that fill the image, such as faces and digits, where their values,
// 0 or greater, say which way the edges run whatever the light.
//
// Each gradient is shared linearly between the cells beside it, whose centres
// are 4 pixels apart, and between the two orientations beside it; the image
// goes on outside with its outermost pixels (Dalal and Triggs 2005, but that
// cells are normalised one by one). A value is the square root of its
// part of its cell's sum. The values are ordered by the cell's row from the
// top, then by its column from the left, then by the orientation,
// counter-clockwise from the right.
type HOG struct {
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

// Extract returns the n×512 histograms of the set's images. An image of one
// grey value has no gradients and cannot be used.
//
// Without SkipBad the first sample that cannot be used stops the run with an
// error that names it. The calls of progress, which may be nil, do not
// overlap.
func (h HOG) Extract(ctx context.Context, set *datasets.Set, progress func(done, total int)) (*Matrix, error) {
	if set.Files == nil && set.Height == 0 {
		return nil, fmt.Errorf("features: the vectors of the set %s are no images to take gradients of", set.Name)
	}
	var crop Crop = whole{}
	if h.Crop != nil {
		crop = h.Crop
	}
	images := h.Images
	if images == nil {
		images = set.Images()
	}
	run := run{set, h.Normalise, h.SkipBad, h.Workers, progress}
	return run.dense(ctx, hogCells*hogCells*orientations, func(i int, row []float64) error {
		return images.With(ctx, i, func(w, h int) int64 { return resizing(w, h, defaultSide, defaultSide, 1) }, func(img image.Image) error {
			small := newCanvas(defaultSide, defaultSide, 1)
			if err := crop.resample(small, datasets.Gray(img), set.Names[i]); err != nil {
				return fmt.Errorf("%s: %w", set.Names[i], err)
			}
			hog(row, small.grey())
			return nil
		})
	})
}

// hog adds the histograms of the image, of 32×32 pixels, to out, which is zero.
func hog(out []float64, img *image.Gray16) {
	grey := greyRows(img)
	padded := func(y int) []float32 {
		row := make([]float32, defaultSide+2)
		grey(row[1:defaultSide+1], min(max(y, 0), defaultSide-1))
		row[0], row[defaultSide+1] = row[1], row[defaultSide]
		return row
	}
	above, row, below := padded(-1), padded(0), padded(1)
	grads := make([]gradient, defaultSide)
	for y := range defaultSide {
		gradients(grads, above, row, below)
		for x, g := range grads {
			for _, r := range beside(y) {
				for _, c := range beside(x) {
					cell := out[(r.cell*hogCells+c.cell)*orientations:]
					cell[g.axis] += r.part * c.part * float64(g.axisPart)
					cell[g.diagonal] += r.part * c.part * float64(g.diagonalPart)
				}
			}
		}
		above, row, below = row, below, padded(y+2)
	}
	// Parts add up to hogCell² in a cell, and gradients are over two pixels.
	const flat = hogFlat * hogCell * hogCell * 2
	for cell := range slices.Chunk(out, orientations) {
		sum := flat
		for _, v := range cell {
			sum += v
		}
		for o, v := range cell {
			cell[o] = math.Sqrt(v / sum)
		}
	}
}

// share is a cell in x or y and which part of a pixel is its.
type share struct {
	cell int
	part float64
}

// beside returns the cells beside a pixel, in x or y. What would fall to a
// cell outside the image is lost: there is one of part 0 instead.
func beside(pixel int) [2]share {
	at := (float64(pixel) - (hogCell-1)/2.0) / hogCell
	first := math.Floor(at)
	out := [2]share{{int(first), 1 - (at - first)}, {int(first) + 1, at - first}}
	for i := range out {
		if out[i].cell < 0 || out[i].cell >= hogCells {
			out[i] = share{}
		}
	}
	return out
}
