package report

import (
	"fmt"
	"image"
	"image/color"
	"math"

	"gonum.org/v1/gonum/mat"
)

// MontageOptions say how a montage is laid out.
type MontageOptions struct {
	// Scale is how many screen pixels show one pixel of a basis vector, in
	// each direction. 0 chooses: about 96 to the longer side of a tile.
	Scale int
	// Columns is the number of tiles side by side. 0 makes the montage as
	// square as can be.
	Columns int
}

const (
	tileSide   = 96 // screen pixels, what a chosen scale aims at
	montageGap = 3
)

// Montage draws a basis (m×k, a basis vector a column) as k tiles on white, row
// by row from the top left. Each column holds an upright image of the given
// height and width, row by row, so m = height·width.
//
// Each tile is scaled to its own range: its smallest value is black and its
// largest white, as in most papers. A tile whose values are all the same is
// mid grey; values that are not finite count as the tile's smallest. It is an
// error if the sizes do not fit each other or nothing is there to draw.
func Montage(basis mat.Matrix, height, width int, opt MontageOptions) (*image.Gray, error) {
	m, k := basis.Dims()
	switch {
	case height <= 0 || width <= 0:
		return nil, fmt.Errorf("montage: tiles of %d×%d pixels", height, width)
	case m != height*width:
		return nil, fmt.Errorf("montage: the basis vectors have %d values, a tile of %d×%d pixels has %d", m, height, width, height*width)
	case k == 0:
		return nil, fmt.Errorf("montage: %w", ErrNoData)
	}
	scale := opt.Scale
	if scale <= 0 {
		scale = max(1, int(math.Round(tileSide/float64(max(height, width)))))
	}
	columns := opt.Columns
	if columns <= 0 {
		columns = int(math.Ceil(math.Sqrt(float64(k) * float64(height) / float64(width))))
	}
	columns = min(columns, k)
	rows := (k + columns - 1) / columns

	stepX, stepY := width*scale+montageGap, height*scale+montageGap
	img := image.NewGray(image.Rect(0, 0, columns*stepX+montageGap, rows*stepY+montageGap))
	for i := range img.Pix {
		img.Pix[i] = 0xff
	}
	for j := range k {
		left, top := montageGap+j%columns*stepX, montageGap+j/columns*stepY
		lo, hi := columnRange(basis, j)
		for i := range m {
			grey := color.Gray{shade(basis.At(i, j), lo, hi)}
			x, y := left+i%width*scale, top+i/width*scale
			for dy := range scale {
				for dx := range scale {
					img.SetGray(x+dx, y+dy, grey)
				}
			}
		}
	}
	return img, nil
}

// columnRange returns the smallest and the largest finite value of a column;
// lo > hi where there is none.
func columnRange(x mat.Matrix, j int) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	m, _ := x.Dims()
	for i := range m {
		if v := x.At(i, j); !math.IsNaN(v) && !math.IsInf(v, 0) {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	return lo, hi
}

// shade maps [lo, hi] to black … white.
func shade(v, lo, hi float64) uint8 {
	if lo >= hi {
		return 0x80
	}
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	// Halves, since the whole range of the largest numbers overflows.
	return uint8(math.Round(255 * ((v/2 - lo/2) / (hi/2 - lo/2))))
}
