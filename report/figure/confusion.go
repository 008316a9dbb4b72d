package figure

import (
	"context"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/seed4492f2cd/partwise/internal/plaintext"
)

// Confusion draws a confusion matrix, classes×classes: a row for each true class, a column for each
// class found, and in the cells the share of the row in percent, from white to blue.
func Confusion(counts [][]int, classes []string) (*Figure, error) {
	if len(counts) == 0 {
		return nil, fmt.Errorf("confusion: %w", ErrNoData)
	}
	if len(counts) != len(classes) {
		return nil, fmt.Errorf("confusion: counts of %d classes, names of %d", len(counts), len(classes))
	}
	c := &confusion{classes: slices.Clone(classes)}
	for i, row := range counts {
		if len(row) != len(classes) {
			return nil, fmt.Errorf("confusion: %s has counts of %d classes of %d", classes[i], len(row), len(classes))
		}
		shares := make([]float64, len(row))
		all := 0
		for _, n := range row {
			all += n
		}
		for j, n := range row {
			if n > 0 {
				shares[j] = float64(n) / float64(all)
			}
		}
		c.shares = append(c.shares, shares)
	}
	c.layOut()
	return &Figure{c}, nil
}

// confusion is the drawing.
type confusion struct {
	classes []string
	shares  [][]float64

	cell          vg.Length // side of a cell
	names         text.Style
	every         int       // which names are written
	widest        vg.Length // of the names
	values, title text.Style
}

const (
	// MostConfused is the largest number of classes that a report draws: pictures of more would take
	// gigabytes and show nothing.
	MostConfused = 1000

	confusionSide = 540 // points, about, of many classes
	largestCell   = 21
	smallestCell  = 2
	numberedCell  = 11 // least side of a cell with a number
	widestName    = 100
	nameGap       = 4
	titleHeight   = 18
)

// layOut finds the sizes of cells and letters.
func (c *confusion) layOut() {
	n := len(c.classes)
	c.cell = min(max(vg.Length(confusionSide)/vg.Length(n), smallestCell), largestCell)
	c.names = text.Style{Color: color.Black, Font: sans(min(9, max(c.cell*0.85, 6))), Handler: plot.DefaultTextHandler}
	c.every = int(math.Ceil(float64(c.names.Font.Size / c.cell)))
	for i := range c.classes {
		c.classes[i] = shorten(plaintext.Line(c.classes[i]), func(s string) bool { return c.names.Width(s) <= widestName })
		c.widest = max(c.widest, c.names.Width(c.classes[i]))
	}
	c.values = text.Style{Font: sans(min(9, c.cell*0.5)), Handler: plot.DefaultTextHandler, XAlign: text.XCenter, YAlign: text.YCenter}
	c.title = text.Style{Color: color.Black, Font: sans(10), Handler: plot.DefaultTextHandler, XAlign: text.XCenter, YAlign: text.YCenter}
}

func (c *confusion) size() (w, h vg.Length) {
	side := titleHeight + c.widest + nameGap + c.cell*vg.Length(len(c.classes))
	return side, side
}

func (c *confusion) draw(ctx context.Context, to draw.Canvas) error {
	n := len(c.classes)
	side := c.cell * vg.Length(n)
	left, top := to.Max.X-side, to.Max.Y
	edge := func(i int) (x, y vg.Length) { return left + c.cell*vg.Length(i), top - c.cell*vg.Length(i) }
	for i, row := range c.shares {
		if err := ctx.Err(); err != nil {
			return err
		}
		for j, share := range row {
			if share == 0 {
				continue
			}
			x, _ := edge(j)
			_, y := edge(i)
			square := vg.Rectangle{Min: vg.Point{X: x, Y: y - c.cell}, Max: vg.Point{X: x + c.cell, Y: y}}
			to.SetColor(mix(white, Palette[0].(color.RGBA), share))
			to.Fill(square.Path())
			if c.cell >= numberedCell {
				style := c.values
				style.Color = color.Black
				if share > 0.5 {
					style.Color = color.White
				}
				to.FillText(style, square.Min.Add(square.Max).Scale(0.5), strconv.Itoa(int(math.Round(100*share))))
			}
		}
	}
	grid := draw.LineStyle{Color: gridGrey, Width: min(0.5, c.cell/10)}
	frame := draw.LineStyle{Color: color.Black, Width: 0.6}
	for i := range n + 1 {
		style := grid
		if i == 0 || i == n {
			style = frame
		}
		x, y := edge(i)
		to.StrokeLine2(style, left, y, left+side, y)
		to.StrokeLine2(style, x, top, x, top-side)
	}
	across := c.names
	across.XAlign, across.YAlign = text.XRight, text.YCenter
	down := across
	down.Rotation = math.Pi / 2
	for i := 0; i < n; i += c.every {
		x, y := edge(i)
		to.FillText(across, vg.Point{X: left - nameGap, Y: y - c.cell/2}, c.classes[i])
		to.FillText(down, vg.Point{X: x + c.cell/2, Y: top - side - nameGap}, c.classes[i])
	}
	turned := c.title
	turned.Rotation = math.Pi / 2
	to.FillText(turned, vg.Point{X: to.Min.X + titleHeight/3, Y: top - side/2}, "True class")
	to.FillText(c.title, vg.Point{X: left + side/2, Y: to.Min.Y + titleHeight/3}, "Class found")
	return nil
}
