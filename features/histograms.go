package features

import (
	"cmp"
	"context"
	"fmt"
	"image"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/internal/guard"
)

const (
	colourSide = 64      // height and width of images for colour histograms
	maxColumns = 1 << 20 // largest length of a row of histograms
)

// ColourHistogram computes histograms of hue, saturation and value, by default with 8×3×3 bins, in each cell of a grid
// (Swain and Ballard 1991; van de Sande et al. 2010). Pixels are interpolated linearly between bins. The features are the
// square roots of the fractions of the cell's pixels (Hellinger map), ordered by row and column of the cell, then by
// hue, saturation and value.
type ColourHistogram struct {
	Grid        Cells `setting:"grid" default:"1x1" help:"grid of cells (rows × columns), such as 2x2"`
	Hues        int   `setting:"hues" default:"8" help:"number of hue bins" range:"[1,360]"`
	Saturations int   `setting:"saturations" default:"3" help:"number of saturation bins" range:"[1,256]"`
	Values      int   `setting:"values" default:"3" help:"number of bins of the value, max(red, green, blue)" range:"[1,256]"`
}

// Cells is a grid of equal cells over an image.
type Cells struct{ Rows, Columns int }

// UnmarshalText parses "ROWSxCOLUMNS", such as "2x3".
func (c *Cells) UnmarshalText(text []byte) error { return c.Parse(string(text), colourSide) }

// Parse is UnmarshalText for a grid of at most most rows and columns.
func (c *Cells) Parse(text string, most int) error {
	rows, columns, both := strings.Cut(text, "x")
	r, err1 := strconv.Atoi(rows)
	n, err2 := strconv.Atoi(columns)
	if !both || err1 != nil || err2 != nil || min(r, n) < 1 || max(r, n) > most {
		return fmt.Errorf("invalid grid %q; expected rows×columns such as 2x2, at most %dx%[2]d", text, most)
	}
	*c = Cells{r, n}
	return nil
}

// MarshalText returns "ROWSxCOLUMNS".
func (c Cells) MarshalText() ([]byte, error) {
	return fmt.Appendf(nil, "%dx%d", c.Rows, c.Columns), nil
}

func (h ColourHistogram) withDefaults() ColourHistogram {
	grid := Cells{cmp.Or(h.Grid.Rows, 1), cmp.Or(h.Grid.Columns, 1)}
	return ColourHistogram{grid, cmp.Or(h.Hues, 8), cmp.Or(h.Saturations, 3), cmp.Or(h.Values, 3)}
}

// Label implements [Extractor].
func (h ColourHistogram) Label() string {
	h = h.withDefaults()
	return fmt.Sprintf("histograms of %d hues, %d saturations and %d values in %d×%d cells", h.Hues, h.Saturations, h.Values, h.Grid.Rows, h.Grid.Columns)
}

func (h ColourHistogram) Rows(context.Context, *datasets.Set) (_ *Rows, err error) {
	defer guard.Catch(&err)
	h = h.withDefaults()
	guard.Check(validate(h))
	cells, bins := h.Grid.Rows*h.Grid.Columns, h.Hues*h.Saturations*h.Values
	guard.FailIf(bins > maxColumns/cells, "%s: expected at most %d values", h.Label(), maxColumns)
	return &Rows{
		Height: colourSide, Width: colourSide, Channels: 3, Columns: cells * bins,
		Fill: func(row []float64, img *Canvas) error { h.fill(row, img); return nil },
	}, nil
}

// fill writes the histograms of the image to row, which must be zero.
func (h ColourHistogram) fill(row []float64, img *Canvas) {
	bins := h.Hues * h.Saturations * h.Values
	area := img.Height * img.Width
	count := make([]float64, h.Grid.Rows*h.Grid.Columns)
	for p := range area {
		cell := p/img.Width*h.Grid.Rows/img.Height*h.Grid.Columns + p%img.Width*h.Grid.Columns/img.Width
		count[cell]++
		hue, saturation, value := hsv(img.Values[p], img.Values[area+p], img.Values[2*area+p])
		in := row[cell*bins : (cell+1)*bins]
		// Hue is circular. For the others, the first bin is centred at 0 and the last at 1.
		for _, u := range nearestBins(min(hue, 1) * float64(h.Hues)) {
			for _, s := range nearestBins(min(saturation, 1) * float64(h.Saturations-1)) {
				for _, v := range nearestBins(min(value, 1) * float64(h.Values-1)) {
					bin := u.cell%h.Hues*h.Saturations + min(s.cell, h.Saturations-1)
					in[bin*h.Values+min(v.cell, h.Values-1)] += u.part * s.part * v.part
				}
			}
		}
	}
	for j, sum := range row {
		row[j] = math.Sqrt(sum / count[j/bins])
	}
}

// hsv returns hue, saturation and value of a colour, all from 0 to 1. Hue starts at red and goes to green; it is 0 for
// greys.
func hsv(r, g, b float64) (hue, saturation, value float64) {
	value = max(r, g, b)
	chroma := value - min(r, g, b)
	if chroma == 0 {
		return 0, 0, value
	}
	switch value {
	case r:
		hue = (g - b) / chroma
	case g:
		hue = 2 + (b-r)/chroma
	default:
		hue = 4 + (r-g)/chroma
	}
	if hue < 0 {
		hue += 6
	}
	return hue / 6, chroma / value, value
}

// share is a bin with its interpolation weight.
type share struct {
	cell int
	part float64
}

// nearestBins returns the two nearest bins of a position, in units of bins, with their weights.
func nearestBins(at float64) [2]share {
	first := math.Floor(at)
	return [2]share{{int(first), 1 - (at - first)}, {int(first) + 1, at - first}}
}

const (
	hogCell  = 4                     // side of a cell in pixels
	hogCells = defaultSide / hogCell // number of cells along each side
	// hogFlat regularises the normalisation, so that noise in flat cells is suppressed: with this mean gradient, in
	// grey values from 0 to 1 per pixel, the values of a cell are half of those at high contrast.
	hogFlat = 0.01
)

// HOG computes histograms of oriented gradients of the image reduced to 32×32 grey values: 8×8 cells of 8 signed
// orientations (Dalal and Triggs 2005, but with each cell normalised by itself). Gradients are interpolated linearly
// between cells and orientations. A feature is the square root of its fraction of the cell's sum, ordered by row and
// column of the cell, then by orientation, counter-clockwise from the right. It suits objects that fill the image.
type HOG struct{}

// Label implements [Extractor].
func (HOG) Label() string { return "histograms of oriented gradients of 32×32 pixels" }

// Rows implements [RowExtractor]. A uniform image has no gradients and is unusable.
func (HOG) Rows(context.Context, *datasets.Set) (*Rows, error) {
	return &Rows{Height: defaultSide, Width: defaultSide, Channels: 1, Columns: hogCells * hogCells * orientations,
		Fill: func(row []float64, img *Canvas) error { hog(row, img.Gray()); return nil }}, nil
}

// hog writes the histograms of the image, 32×32 pixels, to out, which must be zero.
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
			for _, r := range nearestBins(place(y)) {
				for _, c := range nearestBins(place(x)) {
					if min(r.cell, c.cell) < 0 || max(r.cell, c.cell) >= hogCells {
						continue // weights of cells outside the image are dropped
					}
					cell := out[(r.cell*hogCells+c.cell)*orientations:]
					cell[g.axis] += r.part * c.part * float64(g.axisPart)
					cell[g.diagonal] += r.part * c.part * float64(g.diagonalPart)
				}
			}
		}
		above, row, below = row, below, padded(y+2)
	}
	// Weights sum to hogCell² in a cell, and gradients are over two pixels.
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
