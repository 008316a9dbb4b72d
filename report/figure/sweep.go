package figure

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"github.com/seed4492f2cd/partwise/pipeline/spec"
	"github.com/seed4492f2cd/partwise/report/table"
)

// SweepCurves draws the score of a table against one setting of its sweeps: the average over numbers
// of classes, or the best rank's. Each combination of a sweep's other settings is a line, with a ring
// at the best of the sweep; other methods are level lines. Without any mean the error is ErrNoData.
func SweepCurves(t *table.Table, sweeps []spec.Sweep, setting string, looks Looks) (*Figure, error) {
	level := ""
	if t.ChoosesRank() {
		level = " at the best rank"
	} else if t.Average != nil {
		level = ", average"
	}
	f := newChart(setting, table.AxisLabel(t.Score, level))
	points := sweepPoints(t, sweeps, setting)
	if len(points) == 0 {
		return nil, fmt.Errorf("%s against %s: %w", t.Score.Name, setting, ErrNoData)
	}
	var values []string
	for _, p := range points {
		if !slices.Contains(values, p.value) {
			values = append(values, p.value)
		}
	}
	place := f.placeValues(values)
	var lines, rings []line
	for len(points) > 0 { // those of one line, which come first, and the rest
		first := points[0]
		l := line{number: looks.count() + len(lines), name: first.line, marked: true}
		at := slices.IndexFunc(rings, func(r line) bool { return r.name == first.sweep })
		if at < 0 { // the first line of a sweep has the look of the sweep
			l.number, at = looks.number(first.sweep, len(lines)), len(rings)
			rings = append(rings, line{name: first.sweep})
		}
		points = slices.DeleteFunc(points, func(p sweepPoint) bool {
			if p.sweep != first.sweep || p.line != first.line {
				return false
			}
			xy := plotter.XY{X: place(p.value), Y: p.score}
			l.points = append(l.points, xy)
			if best := &rings[at]; best.ring == nil || t.Score.Better(xy.Y, best.ring.Y) {
				best.number, best.ring = l.number, &xy
			}
			return true
		})
		slices.SortStableFunc(l.points, func(a, b plotter.XY) int { return cmp.Compare(a.X, b.X) })
		lines = append(lines, l)
	}
	// The axis is that of the values.
	next := len(lines)
	lines = append(lines, rings...)
	if err := f.add(lines...); err != nil {
		return nil, err
	}
	for column, method := range t.Methods {
		_, c := t.Level(column)
		if c.N == 0 || slices.ContainsFunc(sweeps, func(s spec.Sweep) bool { return slices.Contains(s.Methods, method) }) {
			continue
		}
		level := plotter.XYs{{X: f.plot.X.Min, Y: c.Mean}, {X: f.plot.X.Max, Y: c.Mean}}
		if err := f.add(line{number: looks.number(method, next), name: method, points: level}); err != nil {
			return nil, err
		}
		next++
	}
	scoreTicks(t.Score, &f.plot.Y)
	return f.figure(true), nil
}

// sweepPoint is the score with one value of a setting. A line has one combination of a sweep's other settings.
type sweepPoint struct {
	sweep, line, value string
	score              float64
}

// sweepPoints gathers the points of all sweeps that have the setting.
func sweepPoints(t *table.Table, sweeps []spec.Sweep, setting string) (points []sweepPoint) {
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
			points = append(points, sweepPoint{s.Name, name, s.Values[i][at], c.Mean})
		}
	}
	return points
}

const (
	// wideSpan is the quotient of the largest and the smallest value above which an axis is logarithmic.
	wideSpan = 20
	// labelGap is the least distance of two labels, as a share of the axis.
	labelGap = 0.02
)

// placeValues puts the values on the horizontal axis as ticks and returns the place of each. The scale is logarithmic
// if all are positive and span more than wideSpan; texts, and 0 in a wide span, are at equal distances.
func (f *chart) placeValues(values []string) (place func(value string) float64) {
	numbers := map[string]float64{}
	evenly := false
	var positive []float64
	for _, v := range values {
		x, err := strconv.ParseFloat(v, 64)
		evenly = evenly || err != nil
		if numbers[v] = x; x > 0 {
			positive = append(positive, x)
		}
	}
	wide := len(positive) > 0 && slices.Max(positive) > wideSpan*slices.Min(positive)
	byNumber := func(a, b string) int { return cmp.Compare(numbers[a], numbers[b]) }
	if !evenly {
		values = slices.SortedStableFunc(slices.Values(values), byNumber)
	}
	axis := &f.plot.X
	switch {
	case evenly || wide && len(positive) < len(values):
		for i, v := range values {
			numbers[v] = float64(i)
		}
	case wide:
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
			half := float64(axis.Tick.Label.Width(shownName(v))/f.width) / 2
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
