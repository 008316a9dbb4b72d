package figure

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/report/table"
)

// Curves draws the table's means against the number of classes or the rank, a line for each method,
// in a pale band of one standard error to each side. A table with one row is drawn as dots with bars
// of one standard deviation. If the rows are ranks, a ring marks each method's best, unless all are
// as good. Without any mean the error is ErrNoData.
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
	f := newChart(across, table.AxisLabel(t.Score, ""))
	numbers := make([]int, len(t.Rows))
	for i, row := range t.Rows {
		numbers[i] = row.Number
	}
	f.plot.X.Tick.Marker = wholeTicks(numbers)
	var lines []line
	for i, method := range t.Methods {
		l := line{number: looks.number(method, i), name: method, points: means(t, i, 0), below: means(t, i, -1), above: means(t, i, 1), marked: len(t.Rows) <= mostMarkers}
		if row, best := t.Level(i); t.Ranks && len(l.points) > 0 && !flat(t.Score, l.points) {
			l.ring = &plotter.XY{X: float64(row), Y: best.Mean}
		}
		lines = append(lines, l)
	}
	if err := f.add(lines...); err != nil {
		return nil, err
	}
	scoreTicks(t.Score, &f.plot.Y)
	return f.figure(true), nil
}

// means returns the means of a column, moved by so many standard errors.
func means(t *table.Table, column int, errors float64) (points plotter.XYs) {
	for _, row := range t.Rows {
		if c := row.Cells[column]; c.N > 0 {
			points = append(points, plotter.XY{X: float64(row.Number), Y: c.Mean + errors*c.SD/math.Sqrt(float64(c.N))})
		}
	}
	return points
}

// flat reports whether no point is better than another.
func flat(s eval.Score, points plotter.XYs) bool {
	_, _, lowest, highest := plotter.XYRange(points)
	return !s.Better(lowest, highest) && !s.Better(highest, lowest)
}

// dots draws the only row of a table, the first method at the top.
func dots(t *table.Table, looks Looks) (*Figure, error) {
	row := t.Rows[0]
	f := newChart(table.AxisLabel(t.Score, " with "+t.Describe(row)), "")
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
		number, at := looks.number(method, i), plotter.XYs{{X: c.Mean, Y: y}}
		if c.HasSD {
			bar, err := plotter.NewXErrorBars(struct {
				plotter.XYs
				plotter.XErrors
			}{at, plotter.XErrors{{Low: c.SD, High: c.SD}}})
			if err != nil {
				return nil, fmt.Errorf("deviation of %s: %w", method, err)
			}
			bar.LineStyle = lineOf(number)
			bar.LineStyle.Dashes = nil
			f.plot.Add(bar)
		}
		dot := &plotter.Scatter{XYs: at, GlyphStyle: markerOf(number)}
		dot.GlyphStyle.Shape = draw.CircleGlyph{}
		f.plot.Add(dot)
	}
	scoreTicks(t.Score, &f.plot.X)
	f.plot.Y.Tick.Marker = names
	f.plot.Y.Min, f.plot.Y.Max = -0.5, float64(len(t.Methods))-0.5
	f.plot.Y.Tick.Length = 0
	f.width += longest
	f.height = vg.Points(50) + vg.Points(18)*vg.Length(len(t.Methods))
	return f.figure(false), nil
}
