package figure

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/pipeline/grouping"
	"github.com/seed4492f2cd/partwise/pipeline/record"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
	"github.com/seed4492f2cd/partwise/report/table"
)

// Curves draws the means of a table against the number of classes or the rank, in a pale band of one standard error to
// each side. A single row is drawn as dots with bars of one standard deviation. A ring marks each method's best rank,
// unless all ranks are equally good. Without any mean the error is ErrNoData.
func Curves(t *table.Table, looks Looks) (_ *Figure, err error) {
	defer guard.Catch(&err)
	switch len(t.Rows) {
	case 0:
		return nil, fmt.Errorf("curves of %s: %w", t.Score.Name, ErrNoData)
	case 1:
		return dots(t, looks), nil
	}
	across := "Number of classes"
	if t.Ranks {
		across = "Number of basis vectors"
	}
	f := newChart(across, table.AxisLabel(t.Score, ""))
	f.wholeX(lists.Map(t.Rows, func(row table.Row) int { return row.Number }))
	var lines []line
	for i, method := range t.Methods {
		l := line{number: looks[method], name: method, marked: len(t.Rows) <= mostMarkers}
		for _, row := range t.Rows {
			if c := row.Cells[i]; c.N > 0 {
				l.points = append(l.points, plotter.XY{X: float64(row.Number), Y: c.Mean})
				l.errors = append(l.errors, c.SD/math.Sqrt(float64(c.N)))
			}
		}
		_, _, lowest, highest := plotter.XYRange(l.points)
		if row, best := t.Level(i); t.Ranks && (t.Score.Better(lowest, highest) || t.Score.Better(highest, lowest)) && len(l.points) > 0 {
			l.ring = &plotter.XY{X: float64(row), Y: best.Mean}
		}
		lines = append(lines, l)
	}
	f.addLines(lines...)
	roundTicks(&f.plot.Y, t.Score.Unit == eval.UnitPercent)
	return f.figure(true), nil
}

// dots draws the only row of a table, with the first method at the top. It calls guard.Fail.
func dots(t *table.Table, looks Looks) *Figure {
	row := t.Rows[0]
	f := newChart(table.AxisLabel(t.Score, " with "+t.Describe(row)), "")
	f.grid.Vertical.Color = gridGrey
	names := lists.Map(t.Methods, shownName)
	f.width += widestOf(names, f.plot.Y.Tick.Label)
	var ticks plot.ConstantTicks
	for i, method := range t.Methods {
		y := float64(len(t.Methods) - 1 - i)
		ticks = append(ticks, plot.Tick{Value: y, Label: names[i]})
		c := row.Cells[i]
		if c.N == 0 {
			continue
		}
		number, at := looks[method], plotter.XYs{{X: c.Mean, Y: y}}
		if c.HasSD {
			bar, err := plotter.NewXErrorBars(struct {
				plotter.XYs
				plotter.XErrors
			}{at, plotter.XErrors{{Low: c.SD, High: c.SD}}})
			guard.Check(guard.Wrap(err, "deviation of %s", method))
			bar.LineStyle = lineOf(number)
			bar.LineStyle.Dashes = nil
			f.plot.Add(bar)
		}
		dot := &plotter.Scatter{XYs: at, GlyphStyle: markerOf(number)}
		dot.GlyphStyle.Shape = draw.CircleGlyph{}
		f.plot.Add(dot)
	}
	roundTicks(&f.plot.X, t.Score.Unit == eval.UnitPercent)
	f.plot.Y.Tick.Marker = ticks
	f.plot.Y.Min, f.plot.Y.Max = -0.5, float64(len(t.Methods))-0.5
	f.plot.Y.Tick.Length = 0
	f.height = vg.Points(50) + vg.Points(18)*vg.Length(len(t.Methods))
	return f.figure(false)
}

type criterion struct {
	name           string
	values, errors []float64
}

// choiceFigure draws criteria against the candidate numbers, with rings at the index chosen unless it is −1. bound sets
// the limits of the vertical axis.
func choiceFigure(x, y string, numbers []int, chosen int, bound func(*plot.Axis), criteria ...criterion) (_ *Figure, err error) {
	defer guard.Catch(&err)
	f := newChart(x, y)
	f.wholeX(numbers)
	var lines []line
	for i, c := range criteria {
		l := line{number: i, name: c.name, errors: c.errors, marked: len(c.values) <= mostMarkers}
		for i, v := range c.values {
			l.points = append(l.points, plotter.XY{X: float64(numbers[i]), Y: v})
		}
		if chosen >= 0 {
			l.ring = &l.points[chosen]
		}
		lines = append(lines, l)
	}
	f.addLines(lines...)
	bound(&f.plot.Y)
	return f.figure(len(criteria) > 1), nil
}

// CountCurve draws description lengths from 0 to 1, silhouettes and stability against the number of clusters, with rings
// at the chosen number.
func CountCurve(c *grouping.CountCurve) (*Figure, error) {
	lengths := slices.Clone(c.Length)
	floats.AddConst(-slices.Min(c.Length), lengths)
	floats.Scale(1/cmp.Or(slices.Max(lengths), 1), lengths)
	return choiceFigure("Number of groups", "Relative length, silhouette, stability", c.K, c.Best,
		func(y *plot.Axis) { y.Min, y.Max = min(y.Min, 0), max(y.Max, 1) },
		criterion{name: "length", values: lengths}, criterion{name: "silhouette", values: c.Silhouette}, criterion{name: "stability", values: c.Stability})
}

// LengthCurve draws description lengths against the number of clusters, starting at from.
func LengthCurve(from int, lengths []float64) (*Figure, error) {
	if len(lengths) == 0 {
		return nil, ErrNoData
	}
	numbers := matrix.Range(from + len(lengths))[from:]
	return choiceFigure("Number of clusters", "Description length, bits per edge", numbers, -1, func(*plot.Axis) {}, criterion{name: "length", values: lengths})
}

// RankCurve draws misfits of held-out entries, relative to the largest, and stability against the rank, with rings at
// the chosen rank.
func RankCurve(c *factor.RankCurve, chosen int) (*Figure, error) {
	if len(c.Rank) == 0 {
		return nil, ErrNoData
	}
	relative := func(v []float64) []float64 {
		return floats.ScaleTo(make([]float64, len(v)), 1/cmp.Or(slices.Max(c.Misfit), 1), v)
	}
	return choiceFigure("Number of basis vectors", "Misfit ÷ largest misfit, stability", c.Rank, slices.Index(c.Rank, chosen),
		func(y *plot.Axis) { y.Min, y.Max = 0, 1 },
		criterion{"misfit", relative(c.Misfit), relative(c.Deviation)}, criterion{name: "stability", values: c.Stability})
}

// SweepCurves draws a table's score, averaged over its rows or at the best rank, against one setting of its sweeps. It
// has a line for each combination of other settings, with a ring at the best, and level lines for other methods.
// Without data the error is ErrNoData.
func SweepCurves(t *table.Table, sweeps []spec.Sweep, setting string, looks Looks) (_ *Figure, err error) {
	defer guard.Catch(&err)
	level := ""
	if t.ChoosesRank() {
		level = " at the best rank"
	} else if t.Average != nil {
		level = ", average"
	}
	f := newChart(setting, table.AxisLabel(t.Score, level))
	var values []string
	for _, s := range sweeps {
		if at := slices.Index(s.Settings, setting); at >= 0 {
			values = append(values, lists.Map(s.Values, func(v []string) string { return v[at] })...)
		}
	}
	places := f.placeValues(lists.Unique(values))
	var lines, rings []line
	for _, s := range sweeps {
		at, best, own := slices.Index(s.Settings, setting), line{}, len(lines)
		for i, method := range s.Methods {
			_, c := t.Level(slices.Index(t.Methods, method))
			if at < 0 || c.N == 0 {
				continue
			}
			name := s.Name
			for other, v := range s.Values[i] {
				if other != at {
					name += " " + s.Settings[other] + "=" + v
				}
			}
			to := own + slices.IndexFunc(lines[own:], func(l line) bool { return l.name == name })
			if to < own {
				to = len(lines)
				lines = append(lines, line{number: looks.count() + to, name: name, marked: true})
				lines[own].number = looks[s.Name] // the first line of a sweep has the look of the sweep
			}
			xy := plotter.XY{X: places[s.Values[i][at]], Y: c.Mean}
			lines[to].points = append(lines[to].points, xy)
			if best.ring == nil || t.Score.Better(xy.Y, best.ring.Y) {
				best = line{number: lines[to].number, ring: &xy}
			}
		}
		rings = append(rings, best)
	}
	if len(lines) == 0 {
		return nil, fmt.Errorf("%s against %s: %w", t.Score.Name, setting, ErrNoData)
	}
	for _, l := range lines {
		slices.SortStableFunc(l.points, func(a, b plotter.XY) int { return cmp.Compare(a.X, b.X) })
	}
	f.addLines(append(lines, rings...)...)
	for column, method := range t.Methods {
		_, c := t.Level(column)
		if c.N == 0 || slices.ContainsFunc(sweeps, func(s spec.Sweep) bool { return slices.Contains(s.Methods, method) }) {
			continue
		}
		level := plotter.XYs{{X: f.plot.X.Min, Y: c.Mean}, {X: f.plot.X.Max, Y: c.Mean}}
		f.addLines(line{number: looks[method], name: method, points: level})
	}
	roundTicks(&f.plot.Y, t.Score.Unit == eval.UnitPercent)
	return f.figure(true), nil
}

// placeValues puts the values on the horizontal axis as equally spaced ticks, numbers in ascending order, and returns the
// position of each.
func (f *chart) placeValues(values []string) map[string]float64 {
	numbers, places := map[string]float64{}, map[string]float64{}
	for _, v := range values {
		if x, err := strconv.ParseFloat(v, 64); err == nil {
			numbers[v] = x
		}
	}
	if len(numbers) == len(values) {
		slices.SortStableFunc(values, func(a, b string) int { return cmp.Compare(numbers[a], numbers[b]) })
	}
	for i, v := range values {
		places[v] = float64(i)
	}
	f.plot.X.Min, f.plot.X.Max = 0, float64(len(values)-1)
	f.labelX(lists.Map(values, func(v string) float64 { return places[v] }), lists.Map(values, shownName))
	return places
}

// Convergence draws, for each method, the remaining decrease of the objective, from 100 % after iteration 1 (the first
// step mostly corrects the scale of the initial factors). Objectives of different methods are different functions; only
// their speed of convergence is comparable. Lines are means over the trials with the largest number of classes, or
// rank, that has curves. A stopped trial stays at its last value. If no curve falls, the error is ErrNoData.
func Convergence(ctx context.Context, records []record.Record, methods []string, looks Looks) (_ *Figure, err error) {
	defer guard.Catch(&err)
	trials := curvesOf(records, methods, remainingDecrease)
	if len(trials) == 0 {
		return nil, fmt.Errorf("convergence: %w", ErrNoData)
	}
	f := iterationChart("Remaining decrease, %")
	for _, method := range methods {
		f.addLines(line{number: looks[method], name: method, points: terms[0].mean(ctx, trials[method])})
	}
	roundTicks(&f.plot.Y, true)
	return f.figure(true), nil
}

// Terms draws the objective of a method with a penalty, its fit and its penalty in three plots, because they may differ
// by orders of magnitude. It uses the same trials as Convergence. If no curve has a penalty, the error is ErrNoData.
func Terms(ctx context.Context, records []record.Record, method string, looks Looks) (_ *Figure, err error) {
	defer guard.Catch(&err)
	trials := curvesOf(records, []string{method}, withPenalty)[method]
	if trials == nil {
		return nil, fmt.Errorf("terms of %s: %w", method, ErrNoData)
	}
	charts := make([]*chart, len(terms))
	for i, t := range terms {
		f := iterationChart(t.name)
		f.addLines(line{number: looks[method], name: method, points: t.mean(ctx, trials)})
		roundTicks(&f.plot.Y, false)
		charts[i] = f
	}
	const width, height = 2.3 * vg.Inch, 1.9 * vg.Inch // of a plot
	return &Figure{3*width + 2*chartGap, height, func(ctx context.Context, c draw.Canvas) error {
		for i, f := range charts {
			left := vg.Length(i) * (width + chartGap)
			f.plot.Draw(draw.Crop(c, left, left+width-c.Size().X, 0, 0))
		}
		return ctx.Err()
	}}, nil
}

type term struct {
	name  string
	value func(record.Point) float64
}

// terms are the objective, first, and its parts.
var terms = []term{
	{"Objective", func(p record.Point) float64 { return p.Objective }},
	{"Fit", func(p record.Point) float64 { return p.Objective - p.Penalty }},
	{"Penalty", func(p record.Point) float64 { return p.Penalty }},
}

func iterationChart(y string) *chart {
	f := newChart("Iteration", y)
	f.plot.X.Scale = plot.LogScale{}
	f.plot.X.Tick.Marker = plot.LogTicks{Prec: -1}
	return f
}

// curvesOf returns the prepared curves of each method at the largest number of classes, or rank, that has curves.
func curvesOf(records []record.Record, methods []string, prepare func([]record.Point) []record.Point) map[string][][]record.Point {
	trials := map[string][][]record.Point{}
	largest := 0
	for _, r := range table.Finished(records, methods) {
		curve := prepare(r.Curve)
		if len(curve) == 0 {
			continue
		}
		if table.RowOf(r) > largest {
			largest = table.RowOf(r)
			clear(trials)
		}
		trials[r.Method] = append(trials[r.Method], curve)
	}
	return trials
}

// remainingDecrease rescales a curve from iteration 1 so that it falls from 1 to 0; nil if the objective does not fall.
func remainingDecrease(curve []record.Point) []record.Point {
	rest := slices.DeleteFunc(slices.Clone(curve), func(p record.Point) bool {
		return p.Iteration == 0 || math.IsNaN(p.Objective) || math.IsInf(p.Objective, 0)
	})
	if len(rest) < 2 {
		return nil
	}
	first, last := rest[0].Objective, rest[len(rest)-1].Objective
	if !(first > last) || math.IsInf(first-last, 0) {
		return nil
	}
	for i := range rest {
		rest[i].Objective = (rest[i].Objective - last) / (first - last)
	}
	return rest
}

// withPenalty returns a curve from iteration 1 without overflowing values; nil if it has no penalty.
func withPenalty(curve []record.Point) []record.Point {
	if !slices.ContainsFunc(curve, func(p record.Point) bool { return p.Penalty != 0 }) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(curve), func(p record.Point) bool {
		return p.Iteration == 0 || !(math.Abs(p.Objective) < 1e100 && math.Abs(p.Penalty) < 1e100)
	})
}

// mean averages the term over the curves at every iteration of any curve. It calls guard.Fail when ctx ends.
func (t term) mean(ctx context.Context, curves [][]record.Point) (mean plotter.XYs) {
	iterations := lists.Map(slices.Concat(curves...), func(p record.Point) int { return p.Iteration })
	slices.Sort(iterations)
	for _, i := range slices.Compact(iterations) {
		guard.Check(ctx.Err())
		sum := 0.0
		for _, curve := range curves {
			sum += t.valueAt(curve, i)
		}
		mean = append(mean, plotter.XY{X: float64(i), Y: sum / float64(len(curves))})
	}
	return mean
}

// valueAt interpolates the term of a curve linearly; outside of the curve's points it is constant.
func (t term) valueAt(curve []record.Point, iteration int) float64 {
	i, exact := slices.BinarySearchFunc(curve, iteration, func(p record.Point, i int) int { return p.Iteration - i })
	switch {
	case exact || i == 0:
		return t.value(curve[i])
	case i == len(curve):
		return t.value(curve[i-1])
	}
	before, after := curve[i-1], curve[i]
	share := float64(iteration-before.Iteration) / float64(after.Iteration-before.Iteration)
	return t.value(before) + share*(t.value(after)-t.value(before))
}
