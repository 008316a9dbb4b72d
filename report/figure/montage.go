package figure

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"math"

	"github.com/seed4492f2cd/partwise/internal/text/phrase"

	"golang.org/x/image/draw"
	"gonum.org/v1/gonum/mat"
)

const (
	tileSide   = 96 // pixels, about, of the longer side of a tile
	montageGap = 3
)

// Montage draws a basis (m×k, a basis vector a column) as k tiles on white, in a rectangle that is
// about square. Each column holds an image of the given height and width, row by row, for each
// channel: 1 is grey, 3 is red, green and blue. So m = channels·height·width.
//
// Each tile is scaled to its own range, over all its channels: its smallest value is black and its
// largest white, as in most papers. A tile of equal values is mid grey; values that are not finite
// count as the tile's smallest.
func Montage(ctx context.Context, basis mat.Matrix, height, width, channels int) (image.Image, error) {
	return montage(ctx, basis, height, width, channels, 0, 0)
}

// montage draws each value as scale×scale pixels, with so many tiles side by side; 0 chooses.
func montage(ctx context.Context, basis mat.Matrix, height, width, channels, scale, columns int) (image.Image, error) {
	m, k := basis.Dims()
	area := height * width
	switch {
	case height <= 0 || width <= 0:
		return nil, fmt.Errorf("montage: tiles of %d×%d pixels", height, width)
	case channels != 1 && channels != 3:
		return nil, fmt.Errorf("montage: %d channels, want 1 or 3", channels)
	case m != channels*area:
		return nil, fmt.Errorf("montage: the basis vectors have %d values, a tile of %s of %d×%d pixels has %d",
			m, phrase.Count(channels, "channel", "channels"), height, width, channels*area)
	case k == 0:
		return nil, fmt.Errorf("montage: %w", ErrNoData)
	}
	if scale <= 0 {
		scale = max(1, int(math.Round(tileSide/float64(max(height, width)))))
	}
	if columns <= 0 {
		columns = int(math.Ceil(math.Sqrt(float64(k) * float64(height) / float64(width))))
	}
	columns = min(columns, k)
	rows := (k + columns - 1) / columns

	stepX, stepY := width*scale+montageGap, height*scale+montageGap
	size := image.Rect(0, 0, columns*stepX+montageGap, rows*stepY+montageGap)
	var img draw.Image = image.NewGray(size)
	if channels == 3 {
		img = image.NewRGBA(size)
	}
	fill(img, size, color.White)
	for j := range k {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		left, top := montageGap+j%columns*stepX, montageGap+j/columns*stepY
		lo, hi := columnRange(basis, j)
		value := func(i int) uint8 { return shade(basis.At(i, j), lo, hi) }
		for i := range area {
			var c color.Color = color.Gray{value(i)}
			if channels == 3 {
				c = color.RGBA{value(i), value(area + i), value(2*area + i), 0xff}
			}
			fill(img, image.Rect(0, 0, scale, scale).Add(image.Pt(left+i%width*scale, top+i/width*scale)), c)
		}
	}
	return img, nil
}

// columnRange returns the smallest and the largest finite value of a column; lo > hi without any.
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
