package figure

import (
	"context"
	"fmt"
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const (
	// MostConfused is the largest number of classes that a report draws. Larger pictures would take gigabytes and be
	// unreadable.
	MostConfused = 1000

	confusionSide = 540 // the approximate side in points for many classes
	largestCell   = 21
	smallestCell  = 2
	numberedCell  = 11 // the smallest side of a cell with a number
	widestName    = 100
	nameGap       = 4
	titleHeight   = 18
)

// Confusion draws a confusion matrix, classes×classes, with a row for each true class and a column for each predicted
// class. Cells show the share of the row in percent, from white to blue.
func Confusion(counts [][]int, classes []string) (*Figure, error) {
	n := len(counts)
	if n == 0 {
		return nil, fmt.Errorf("confusion: %w", ErrNoData)
	}
	if n != len(classes) {
		return nil, fmt.Errorf("confusion: counts of %d classes, but %d names", n, len(classes))
	}
	cell := min(max(vg.Length(confusionSide)/vg.Length(n), smallestCell), largestCell)
	side := cell * vg.Length(n)
	names := textStyle(min(9, max(cell*0.85, 6)))
	shown := make([]string, n)
	var widest vg.Length // the widest name
	for i, row := range counts {
		if len(row) != n {
			return nil, fmt.Errorf("confusion: %s has %d counts; expected %d", classes[i], len(row), n)
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
		to.FillText(title, vg.Point{X: left + side/2, Y: to.Min.Y + titleHeight/3}, "Predicted class")
		return nil
	}
	return f, nil
}

const (
	rankAxis  = 260 // the length of the axis in points
	rankNames = 150 // the widest name
	rankTop   = 22  // above the axis
	rankBar   = 7   // between two bars
	rankLine  = 15  // between two names
)

func textStyle(size vg.Length) text.Style {
	return text.Style{Color: color.Black, Font: sans(size), Handler: plot.DefaultTextHandler, YAlign: text.YCenter}
}

// Ranks draws a critical-difference diagram (Demšar 2006): the average ranks of methods on a line, the best on the
// left, and a bar over each group of methods without significant differences.
func Ranks(methods []string, ranks []float64, groups [][]int) (*Figure, error) {
	n := len(methods)
	if n < 2 {
		return nil, fmt.Errorf("ranks: %w", ErrNoData)
	}
	if n != len(ranks) {
		return nil, fmt.Errorf("ranks: %d methods, but %d ranks", n, len(ranks))
	}
	style := textStyle(10)
	labels := make([]string, n)
	var widest vg.Length
	for i, m := range methods {
		labels[i] = fmt.Sprintf("%s (%.2f)", fitName(m, style.Width, rankNames), ranks[i])
		widest = max(widest, style.Width(labels[i]))
	}
	half := (n + 1) / 2 // the number of names on the left
	f := &Figure{w: rankAxis + 2*(widest+12), h: vg.Length(rankTop + rankBar*(len(groups)+1) + rankLine*half)}
	f.draw = func(_ context.Context, to draw.Canvas) error {
		left, top := to.Min.X+widest+12, to.Max.Y-rankTop
		x := func(rank float64) vg.Length { return left + vg.Length(rank-1)/vg.Length(n-1)*rankAxis }
		line := draw.LineStyle{Color: color.Black, Width: 0.8}
		to.StrokeLine2(line, x(1), top, x(float64(n)), top)
		numbers := style
		numbers.XAlign = text.XCenter
		for r := 1; r <= n; r += int(math.Ceil(float64(n) / 12)) {
			to.StrokeLine2(line, x(float64(r)), top, x(float64(r)), top+4)
			to.FillText(numbers, vg.Point{X: x(float64(r)), Y: top + 12}, strconv.Itoa(r))
		}
		for i, g := range groups {
			y := top - vg.Length(rankBar*(i+1))
			to.StrokeLine2(draw.LineStyle{Color: Palette[0], Width: 3}, x(ranks[g[0]])-3, y, x(ranks[g[len(g)-1]])+3, y)
		}
		names := top - vg.Length(rankBar*(len(groups)+1))
		for place, i := range orderBy(ranks) {
			row, side, gap, style := place, x(1)-6, vg.Length(-4), style
			style.XAlign = text.XRight
			if place >= half {
				row, side, gap = n-1-place, x(float64(n))+6, 4
				style.XAlign = text.XLeft
			}
			y := names - vg.Length(rankLine)*(vg.Length(row)+0.5)
			to.StrokeLine2(line, x(ranks[i]), top, x(ranks[i]), y)
			to.StrokeLine2(line, x(ranks[i]), y, side, y)
			to.FillText(style, vg.Point{X: side + gap, Y: y}, labels[i])
		}
		return nil
	}
	return f, nil
}
