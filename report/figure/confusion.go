package figure

import (
	"context"
	"fmt"
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

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

// Confusion draws a confusion matrix, classes×classes: a row for each true class, a column for each
// class found, and in the cells the share of the row in percent, from white to blue.
func Confusion(counts [][]int, classes []string) (*Figure, error) {
	n := len(counts)
	if n == 0 {
		return nil, fmt.Errorf("confusion: %w", ErrNoData)
	}
	if n != len(classes) {
		return nil, fmt.Errorf("confusion: counts of %d classes, names of %d", n, len(classes))
	}
	cell := min(max(vg.Length(confusionSide)/vg.Length(n), smallestCell), largestCell)
	side := cell * vg.Length(n)
	names := textStyle(min(9, max(cell*0.85, 6)))
	shown := make([]string, n)
	var widest vg.Length // of the names
	for i, row := range counts {
		if len(row) != n {
			return nil, fmt.Errorf("confusion: %s has counts of %d classes of %d", classes[i], len(row), n)
		}
		shown[i] = fitName(classes[i], names.Width, widestName)
		widest = max(widest, names.Width(shown[i]))
	}
	f := &Figure{w: titleHeight + widest + nameGap + side, h: titleHeight + widest + nameGap + side}
	f.draw = func(ctx context.Context, to draw.Canvas) error {
		left, top := to.Max.X-side, to.Max.Y
		edge := func(i int) (x, y vg.Length) { return left + cell*vg.Length(i), top - cell*vg.Length(i) }
		centred := textStyle(min(9, cell*0.5))
		centred.XAlign = text.XCenter
		for i, row := range counts {
			if err := ctx.Err(); err != nil {
				return err
			}
			all := 0
			for _, n := range row {
				all += n
			}
			for j, n := range row {
				if n <= 0 {
					continue
				}
				share := float64(n) / float64(all)
				x, _ := edge(j)
				_, y := edge(i)
				square := vg.Rectangle{Min: vg.Point{X: x, Y: y - cell}, Max: vg.Point{X: x + cell, Y: y}}
				to.SetColor(mix(white, Palette[0].(color.RGBA), share))
				to.Fill(square.Path())
				if cell >= numberedCell {
					style := centred
					if share > 0.5 {
						style.Color = color.White
					}
					to.FillText(style, square.Min.Add(square.Max).Scale(0.5), strconv.Itoa(int(math.Round(100*share))))
				}
			}
		}
		for i := range n + 1 {
			style := draw.LineStyle{Color: gridGrey, Width: min(0.5, cell/10)}
			if i == 0 || i == n {
				style = draw.LineStyle{Color: color.Black, Width: 0.6}
			}
			x, y := edge(i)
			to.StrokeLine2(style, left, y, left+side, y)
			to.StrokeLine2(style, x, top, x, top-side)
		}
		across := names
		across.XAlign = text.XRight
		down := across
		down.Rotation = math.Pi / 2
		for i := 0; i < n; i += int(math.Ceil(float64(names.Font.Size / cell))) {
			x, y := edge(i)
			to.FillText(across, vg.Point{X: left - nameGap, Y: y - cell/2}, shown[i])
			to.FillText(down, vg.Point{X: x + cell/2, Y: top - side - nameGap}, shown[i])
		}
		title := textStyle(10)
		title.XAlign = text.XCenter
		turned := title
		turned.Rotation = math.Pi / 2
		to.FillText(turned, vg.Point{X: to.Min.X + titleHeight/3, Y: top - side/2}, "True class")
		to.FillText(title, vg.Point{X: left + side/2, Y: to.Min.Y + titleHeight/3}, "Class found")
		return nil
	}
	return f, nil
}
