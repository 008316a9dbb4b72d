package figure

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/pipeline/grouping"
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
		_, _, lowest, highest := plotter.XYRange(l.points)
		if row, best := t.Level(i); t.Ranks && (t.Score.Better(lowest, highest) || t.Score.Better(highest, lowest)) && len(l.points) > 0 {
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

// criterion is what a number is chosen by, with values for all numbers and optional errors.
type criterion struct {
	name           string
	values, errors []float64
}

// choice draws criteria against the numbers that one is chosen from, with rings at that place unless it is −1.
func choice(x, y string, numbers []int, chosen int, criteria ...criterion) (*chart, error) {
	f := newChart(x, y)
	f.plot.X.Tick.Marker = wholeTicks(numbers)
	var lines []line
	for i, c := range criteria {
		points := func(times float64) plotter.XYs {
			points := make(plotter.XYs, len(c.values))
			for i, v := range c.values {
				if points[i] = (plotter.XY{X: float64(numbers[i]), Y: v}); c.errors != nil {
					points[i].Y += times * c.errors[i]
				}
			}
			return points
		}
		l := line{number: i, name: c.name, points: points(0), below: points(-1), above: points(1), marked: len(c.values) <= mostMarkers}
		if chosen >= 0 {
			l.ring = &l.points[chosen]
		}
		lines = append(lines, l)
	}
	return f, f.add(lines...)
}

// CountCurve draws gaps, as shares of the largest, silhouettes and stability against the number of
// clusters, with rings at the number that c.Best chooses.
func CountCurve(c *grouping.CountCurve) (*Figure, error) {
	best := c.Best()
	gaps := make([]float64, len(c.Gap))
	if largest := c.Gap[best]; largest > 0 {
		gaps = shares(c.Gap, largest)
	}
	f, err := choice("Number of groups", "Gap of the largest, silhouette, stability", c.K, best,
		criterion{name: "gap", values: gaps}, criterion{name: "silhouette", values: c.Silhouette}, criterion{name: "stability", values: c.Stability})
	if err != nil {
		return nil, err
	}
	f.plot.Y.Min, f.plot.Y.Max = min(f.plot.Y.Min, 0), max(f.plot.Y.Max, 1)
	return f.figure(true), nil
}

// GapCurve draws gaps of eigenvalues against the number of clusters, beginning at from.
func GapCurve(from int, gaps []float64) (*Figure, error) {
	if len(gaps) == 0 {
		return nil, ErrNoData
	}
	numbers := make([]int, len(gaps))
	for i := range numbers {
		numbers[i] = from + i
	}
	f, err := choice("Number of groups", "Gap of eigenvalues", numbers, -1, criterion{name: "gap", values: gaps})
	if err != nil {
		return nil, err
	}
	f.plot.Y.Min = 0
	return f.figure(false), nil
}

// RankCurve draws misfits of held-out entries, as shares of the largest, and stability against the
// rank, with rings at the chosen one.
func RankCurve(c *factor.RankCurve, chosen int) (*Figure, error) {
	if len(c.Rank) == 0 {
		return nil, ErrNoData
	}
	largest := slices.Max(c.Misfit)
	if largest == 0 {
		largest = 1
	}
	f, err := choice("Number of basis vectors", "Misfit of the largest, stability", c.Rank, slices.Index(c.Rank, chosen),
		criterion{"misfit", shares(c.Misfit, largest), shares(c.Deviation, largest)}, criterion{name: "stability", values: c.Stability})
	if err != nil {
		return nil, err
	}
	f.plot.Y.Min, f.plot.Y.Max = 0, 1
	return f.figure(true), nil
}

// shares returns values divided by the largest.
func shares(values []float64, largest float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = v / largest
	}
	return out
}
