package figure

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/report/table"
)

// SweepCurves draws the score of a table against one setting of its sweeps: the average over numbers
// of classes, or the best rank's. Each combination of a sweep's other settings is a line, with a ring
// at the best of the sweep; other methods are level lines. Without any mean the error is ErrNoData.
func SweepCurves(t *table.Table, sweeps []pipeline.Sweep, setting string, looks Looks) (*Figure, error) {
	level := ""
	if t.ChoosesRank() {
		level = " at the best rank"
	} else if t.Average != nil {
		level = ", average"
	}
	f := newChart(setting, table.AxisLabel(t.Score, level))
	lines, values := sweepLines(t, sweeps, setting)
	if len(lines) == 0 {
		return nil, fmt.Errorf("%s against %s: %w", t.Score.Name, setting, ErrNoData)
	}
	place := f.placeValues(values)
	numbers := numberLines(lines, looks)
	for i, line := range lines {
		var points plotter.XYs
		for _, p := range line.points {
			points = append(points, plotter.XY{X: place(p.value), Y: p.score})
		}
		slices.SortStableFunc(points, func(a, b plotter.XY) int { return cmp.Compare(a.X, b.X) })
		if err := f.addLine(numbers[i], line.name, points, true); err != nil {
			return nil, err
		}
	}
	for _, s := range sweeps {
		if line, p := bestOf(t.Score, lines, s.Name); line >= 0 {
			f.addRing(numbers[line], place(p.value), p.score)
		}
	}
	next := len(lines)
	for column, method := range t.Methods {
		_, c := t.Level(column)
		if c.N == 0 || slices.ContainsFunc(sweeps, func(s pipeline.Sweep) bool { return slices.Contains(s.Methods, method) }) {
			continue
		}
		level := plotter.XYs{{X: f.plot.X.Min, Y: c.Mean}, {X: f.plot.X.Max, Y: c.Mean}}
		if err := f.addLine(looks.number(method, next), method, level, false); err != nil {
			return nil, err
		}
		next++
	}
	scoreTicks(t.Score, &f.plot.Y)
	f.addLegend()
	return &Figure{f}, nil
}

// numberLines numbers lines for their looks: the first of a sweep has the sweep's number, and the
// others follow all methods.
func numberLines(lines []sweepLine, looks Looks) []int {
	numbers := make([]int, len(lines))
	for i, line := range lines {
		numbers[i] = looks.count() + i
		if slices.IndexFunc(lines, func(l sweepLine) bool { return l.sweep == line.sweep }) == i {
			numbers[i] = looks.number(line.sweep, i)
		}
	}
	return numbers
}

// sweepLine holds the scores of one combination of a sweep's other settings.
type sweepLine struct {
	sweep, name string
	points      []sweepPoint
}

type sweepPoint struct {
	value string
	score float64
}

// sweepLines gathers the lines of all sweeps that have the setting, and its values, each once.
func sweepLines(t *table.Table, sweeps []pipeline.Sweep, setting string) (lines []sweepLine, values []string) {
	for _, s := range sweeps {
		at := slices.Index(s.Settings, setting)
		if at < 0 {
			continue
		}
		for i, method := range s.Methods {
			column := slices.Index(t.Methods, method)
			if column < 0 {
				continue
			}
			_, c := t.Level(column)
			if c.N == 0 {
				continue
			}
			name := s.Name
			for other, v := range s.Values[i] {
				if other != at {
					name += " " + s.Settings[other] + "=" + v
				}
			}
			value := s.Values[i][at]
			if !slices.Contains(values, value) {
				values = append(values, value)
			}
			line := slices.IndexFunc(lines, func(l sweepLine) bool { return l.sweep == s.Name && l.name == name })
			if line < 0 {
				line = len(lines)
				lines = append(lines, sweepLine{sweep: s.Name, name: name})
			}
			lines[line].points = append(lines[line].points, sweepPoint{value, c.Mean})
		}
	}
	return lines, values
}

// bestOf returns the best point of a sweep's lines and its line, −1 if there is none.
func bestOf(score eval.Score, lines []sweepLine, sweep string) (line int, best sweepPoint) {
	line = -1
	for i, l := range lines {
		for _, p := range l.points {
			if l.sweep == sweep && (line < 0 || score.Better(p.score, best.score)) {
				line, best = i, p
			}
		}
	}
	return line, best
}

const (
	// wideSpan is the quotient of the largest and the smallest value above which an axis is logarithmic.
	wideSpan = 20
	// labelGap is the least distance of two labels, as a share of the axis.
	labelGap = 0.02
)

// placeValues gives the horizontal axis the values as ticks and returns the place of each: on a
// logarithmic scale if they are positive and span more than wideSpan, at equal distances if they are
// not numbers or span that much and include 0.
func (f *chart) placeValues(values []string) (place func(value string) float64) {
	numbers := map[string]float64{}
	var positive []float64
	for _, v := range values {
		x, err := strconv.ParseFloat(v, 64)
		if err != nil {
			return f.placeEvenly(values)
		}
		if numbers[v] = x; x > 0 {
			positive = append(positive, x)
		}
	}
	wide := len(positive) > 0 && slices.Max(positive) > wideSpan*slices.Min(positive)
	values = slices.SortedFunc(slices.Values(values), func(a, b string) int { return cmp.Compare(numbers[a], numbers[b]) })
	if wide && len(positive) < len(values) {
		return f.placeEvenly(values)
	}
	axis := &f.plot.X
	if wide {
		axis.Scale = plot.LogScale{}
	}
	axis.Min, axis.Max = numbers[values[0]], numbers[values[len(values)-1]]
	axis.Tick.Marker = plot.TickerFunc(func(lo, hi float64) []plot.Tick {
		var ticks []plot.Tick
		end := 0.0 // of the last label, as a share of the axis
		for i, v := range values {
			if i > 0 && numbers[v] == numbers[values[i-1]] {
				continue
			}
			tick := plot.Tick{Value: numbers[v]}
			share := axis.Scale.Normalize(lo, hi, numbers[v])
			half := float64(axis.Tick.Label.Width(shownName(v))/f.plotWidth) / 2
			if share-half > end || i == 0 {
				tick.Label = shownName(v)
				end = share + half + labelGap
			}
			ticks = append(ticks, tick)
		}
		return ticks
	})
	return func(value string) float64 { return numbers[value] }
}

// placeEvenly places values at 0, 1, 2 …
func (f *chart) placeEvenly(values []string) (place func(value string) float64) {
	var ticks plot.ConstantTicks
	for i, v := range values {
		ticks = append(ticks, plot.Tick{Value: float64(i), Label: shownName(v)})
	}
	f.plot.X.Tick.Marker = ticks
	f.plot.X.Min, f.plot.X.Max = 0, float64(len(values)-1)
	return func(value string) float64 { return float64(slices.Index(values, value)) }
}
