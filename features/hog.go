package features

import (
	"context"
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
	// hogFlat is the mean gradient in a cell, in grey values a pixel with white 1, at which its values are half
	// of what they are in a cell of much contrast: what is fainter is taken for noise.
	hogFlat = 0.01
)

// HOG takes histograms of oriented gradients of an image of 32×32 greys: 8×8 cells of 8 orientations, which go
// round the whole circle. They are for things that fill the image, such as faces and digits.
//
// Each gradient is shared linearly between the cells and the orientations beside it (Dalal and Triggs 2005, but
// cells are normalised one by one). A value is the square root of its part of its cell's sum. The values are
// ordered by the cell's row and column, then by the orientation, counter-clockwise from the right.
type HOG struct{}

func (HOG) Label() string { return "histograms of oriented gradients of 32×32 pixels" }

// Rows implements [RowExtractor]. An image of one grey value has no gradients and cannot be used.
func (HOG) Rows(context.Context, *datasets.Set) (*Rows, error) {
	return &Rows{Height: defaultSide, Width: defaultSide, Channels: 1, Columns: hogCells * hogCells * orientations,
		Fill: func(row []float64, img *Canvas) error { hog(row, img.Gray()); return nil }}, nil
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

// beside returns the cells beside a pixel, in x or y. What would fall to a cell outside the image is lost:
// there is one of part 0 instead.
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
