package features

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/seed4492f2cd/partwise/datasets"
)

// MyLBP computes histograms of local binary patterns, which show the neighbours of a pixel
// that are at least as bright (Ojala, Pietikäinen and Mäenpää 2002). They distinguish
// textures under any light.
type MyLBP struct {
	// Cells is the number of cells along each side of the image; 0 means 4. Each cell
	// has its own histogram.
	Cells int `setting:"cells" default:"4" range:"[1,16]" help:"cells along each side of the image"`
}

// mySide is the height and width to which images are resized.
const mySide = 64

// Label implements [Extractor].
func (l MyLBP) Label() string {
	return fmt.Sprintf("local binary patterns in %d×%[1]d cells", cmp.Or(l.Cells, 4))
}

// Rows implements [RowExtractor].
func (l MyLBP) Rows(context.Context, *datasets.Set) (*Rows, error) {
	cells := cmp.Or(l.Cells, 4)
	if cells < 1 || cells > 16 {
		return nil, fmt.Errorf("local binary patterns: %d cells: want 1 to 16", cells)
	}
	return &Rows{
		Height: mySide, Width: mySide, Channels: 1, Columns: cells * cells * 256,
		Fill: func(row []float64, img *Canvas) error {
			for y := 1; y < mySide-1; y++ {
				for x := 1; x < mySide-1; x++ {
					cell := y*cells/mySide*cells + x*cells/mySide
					row[256*cell+myPattern(img, x, y)]++
				}
			}
			for j, n := range row {
				row[j] = math.Sqrt(n)
			}
			return nil
		},
	}, nil
}

// myPattern returns the pattern at a pixel: one bit for each neighbour.
func myPattern(img *Canvas, x, y int) (bits int) {
	at := func(x, y int) float64 { return img.Values[y*mySide+x] }
	for i, by := range [8][2]int{{1, 0}, {1, -1}, {0, -1}, {-1, -1}, {-1, 0}, {-1, 1}, {0, 1}, {1, 1}} {
		if at(x+by[0], y+by[1]) >= at(x, y) {
			bits |= 1 << i
		}
	}
	return bits
}
