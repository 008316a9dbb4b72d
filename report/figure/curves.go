package figure

import (
	"fmt"
	"math"

	"github.com/seed4492f2cd/partwise/report/table"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/seed4492f2cd/partwise/eval"
)

// Curves draws the table's means against the number of classes or the rank, a
// line for each method, in a pale band of one standard error of the mean to each side where there
// are several repeats. A table with
// one row is drawn as dots with a bar of one standard deviation to each side,
// a line of the figure for each method. Where the rows are ranks a ring marks each
// method's best, unless all are the same. Without any mean the error is ErrNoData.
func Curves(t *table.Table, looks Looks) (*Figure, error) {
	switch len(t.Rows) {
	case 0:
		return nil, fmt.Errorf("curves of %s: %w", t.Score.Name, ErrNoData)
	case 1:
		return dots(t, looks)
	}
	across := "Number of classes"
	if t.Ranks {
		across = "Number of basis vectors"
	}
	f := newChart(across, t.Score.Label()+t.Score.Suffix(", "))
	numbers := make([]int, len(t.Rows))
	for i, row := range t.Rows {
		numbers[i] = row.Number
	}
	f.plot.X.Tick.Marker = wholeTicks(numbers)
	for i, method := range t.Methods { // below all lines
		var below, above plotter.XYs
		for _, row := range t.Rows {
			if c := row.Cells[i]; c.N > 0 {
				e := c.SD / math.Sqrt(float64(c.N))
				below = append(below, plotter.XY{X: float64(row.Number), Y: c.Mean - e})
				above = append(above, plotter.XY{X: float64(row.Number), Y: c.Mean + e})
			}
		}
		if err := f.addBand(looks.of(method, i), below, above); err != nil {
			return nil, fmt.Errorf("band of %s: %w", method, err)
		}
	}
	for i, method := range t.Methods {
		var points plotter.XYs
		for _, row := range t.Rows {
			if c := row.Cells[i]; c.N > 0 {
				points = append(points, plotter.XY{X: float64(row.Number), Y: c.Mean})
			}
		}
		if len(points) == 0 {
			continue
		}
		if err := f.addLine(looks.of(method, i), method, points, len(t.Rows) <= mostMarkers); err != nil {
			return nil, err
		}
		if row, best := t.Level(i); t.Ranks && !flat(t.Score, points) {
			f.addRing(looks.of(method, i), float64(row), best.Mean)
		}
	}
	inUnitOf(t.Score, &f.plot.Y)
	f.addLegend()
	return &Figure{f}, nil
}

// mostMarkers is the largest number of points that are marked on a line.
const mostMarkers = 20

// flat tells whether no point is better than another.
func flat(s eval.Score, points plotter.XYs) bool {
	_, _, lowest, highest := plotter.XYRange(points)
	return !s.Better(lowest, highest) && !s.Better(highest, lowest)
}

// dots draws the only row of a table, the first method at the top.
func dots(t *table.Table, looks Looks) (*Figure, error) {
	row := t.Rows[0]
	f := newChart(t.Score.Label()+" with "+t.Describe(row)+t.Score.Suffix(", "), "")
	f.grid.Vertical.Color = gridGrey
	var names plot.ConstantTicks
	var longest vg.Length
	for i, method := range t.Methods {
		y := float64(len(t.Methods) - 1 - i)
		names = append(names, plot.Tick{Value: y, Label: shownName(method)})
		longest = max(longest, f.plot.Y.Tick.Label.Width(shownName(method)))
		c := row.Cells[i]
		if c.N == 0 {
			continue
		}
		at := plotter.XYs{{X: c.Mean, Y: y}}
		bar, err := plotter.NewXErrorBars(struct {
			plotter.XYs
			plotter.XErrors
		}{at, plotter.XErrors{{Low: c.SD, High: c.SD}}})
		if err != nil {
			return nil, fmt.Errorf("deviation of %s: %w", method, err)
		}
		bar.LineStyle = lineOf(looks.of(method, i))
		bar.LineStyle.Dashes = nil
		dot, err := plotter.NewScatter(at)
		if err != nil {
			return nil, fmt.Errorf("dot of %s: %w", method, err)
		}
		dot.GlyphStyle = markerOf(looks.of(method, i))
		dot.GlyphStyle.Shape = draw.CircleGlyph{}
		if c.HasSD {
			f.plot.Add(bar)
		}
		f.plot.Add(dot)
	}
	inUnitOf(t.Score, &f.plot.X)
	f.plot.Y.Tick.Marker = names
	f.plot.Y.Min, f.plot.Y.Max = -0.5, float64(len(t.Methods))-0.5
	f.plot.Y.Tick.Length = 0
	f.plotWidth += longest
	f.plotHeight = vg.Points(50) + vg.Points(18)*vg.Length(len(t.Methods))
	return &Figure{f}, nil
}
