package features

import (
	"context"
	"image"
	"math"
	"slices"

	"github.com/seed4492f2cd/partwise/datasets"
)

const (
	hogCell  = 4                     // pixels between the cells' centres, in x and y
	hogCells = defaultSide / hogCell // along each side of the image
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
	place := func(pixel int) float64 { return (float64(pixel) - (hogCell-1)/2.0) / hogCell }
	above, row, below := padded(-1), padded(0), padded(1)
	grads := make([]gradient, defaultSide)
	for y := range defaultSide {
		gradients(grads, above, row, below)
		for x, g := range grads {
			for _, r := range beside(place(y)) {
				for _, c := range beside(place(x)) {
					if min(r.cell, c.cell) < 0 || max(r.cell, c.cell) >= hogCells {
						continue // what falls to a cell outside the image is lost
					}
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
