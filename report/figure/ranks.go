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

	"github.com/seed4492f2cd/partwise/internal/plaintext"
)

// Ranks draws a critical-difference diagram (Demšar 2006): the average ranks of methods on a line, the
// best to the left, and a bar over each group of methods that do not differ.
func Ranks(methods []string, ranks []float64, groups [][]int) (*Figure, error) {
	if len(methods) < 2 {
		return nil, fmt.Errorf("ranks: %w", ErrNoData)
	}
	if len(methods) != len(ranks) {
		return nil, fmt.Errorf("ranks: %d methods and %d ranks", len(methods), len(ranks))
	}
	d := &rankDiagram{ranks: ranks, groups: groups, order: orderBy(ranks)}
	d.style = text.Style{Color: color.Black, Font: sans(10), Handler: plot.DefaultTextHandler, YAlign: text.YCenter}
	for i, m := range methods {
		name := shorten(plaintext.Line(m), func(s string) bool { return d.style.Width(s) <= rankNames })
		d.labels = append(d.labels, fmt.Sprintf("%s (%.2f)", name, ranks[i]))
		d.widest = max(d.widest, d.style.Width(d.labels[i]))
	}
	return &Figure{d}, nil
}

const (
	rankAxis  = 260 // points, the length of the axis
	rankNames = 150 // the widest name
	rankTop   = 22  // above the axis
	rankBar   = 7   // from one bar to the next
	rankLine  = 15  // from one name to the next
)

// rankDiagram is the drawing.
type rankDiagram struct {
	labels []string
	ranks  []float64
	order  []int // the best first
	groups [][]int
	style  text.Style
	widest vg.Length
}

// half is the number of names on the left.
func (d *rankDiagram) half() int { return (len(d.order) + 1) / 2 }

func (d *rankDiagram) size() (w, h vg.Length) {
	return rankAxis + 2*(d.widest+12), vg.Length(rankTop + rankBar*(len(d.groups)+1) + rankLine*d.half())
}

func (d *rankDiagram) draw(_ context.Context, to draw.Canvas) error {
	left, top := to.Min.X+d.widest+12, to.Max.Y-rankTop
	n := len(d.order)
	x := func(rank float64) vg.Length { return left + vg.Length(rank-1)/vg.Length(n-1)*rankAxis }
	line := draw.LineStyle{Color: color.Black, Width: 0.8}
	to.StrokeLine2(line, x(1), top, x(float64(n)), top)
	numbers := d.style
	numbers.XAlign = text.XCenter
	every := int(math.Ceil(float64(n) / 12))
	for r := 1; r <= n; r += every {
		to.StrokeLine2(line, x(float64(r)), top, x(float64(r)), top+4)
		to.FillText(numbers, vg.Point{X: x(float64(r)), Y: top + 12}, strconv.Itoa(r))
	}
	bar := draw.LineStyle{Color: Palette[0], Width: 3}
	for i, g := range d.groups {
		y := top - vg.Length(rankBar*(i+1))
		first, last := d.ranks[g[0]], d.ranks[g[len(g)-1]]
		to.StrokeLine2(bar, x(first)-3, y, x(last)+3, y)
	}
	names := top - vg.Length(rankBar*(len(d.groups)+1))
	for place, i := range d.order {
		row, side, style := place, x(1)-6, d.style
		style.XAlign = text.XRight
		gap := vg.Length(-4)
		if place >= d.half() {
			row, side, gap = n-1-place, x(float64(n))+6, 4
			style.XAlign = text.XLeft
		}
		y := names - vg.Length(rankLine)*(vg.Length(row)+0.5)
		to.StrokeLine2(line, x(d.ranks[i]), top, x(d.ranks[i]), y)
		to.StrokeLine2(line, x(d.ranks[i]), y, side, y)
		to.FillText(style, vg.Point{X: side + gap, Y: y}, d.labels[i])
	}
	return nil
}
