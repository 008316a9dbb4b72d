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
	rankAxis  = 260 // points, the length of the axis
	rankNames = 150 // the widest name
	rankTop   = 22  // above the axis
	rankBar   = 7   // from one bar to the next
	rankLine  = 15  // from one name to the next
)

// textStyle is the style of words in a drawing.
func textStyle(size vg.Length) text.Style {
	return text.Style{Color: color.Black, Font: sans(size), Handler: plot.DefaultTextHandler, YAlign: text.YCenter}
}

// Ranks draws a critical-difference diagram (Demšar 2006): the average ranks of methods on a line, the
// best to the left, and a bar over each group of methods that do not differ.
func Ranks(methods []string, ranks []float64, groups [][]int) (*Figure, error) {
	n := len(methods)
	if n < 2 {
		return nil, fmt.Errorf("ranks: %w", ErrNoData)
	}
	if n != len(ranks) {
		return nil, fmt.Errorf("ranks: %d methods and %d ranks", n, len(ranks))
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
