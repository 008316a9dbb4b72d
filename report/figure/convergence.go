package figure

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/seed4492f2cd/partwise/pipeline/record"
	"github.com/seed4492f2cd/partwise/report/table"
)

// Convergence draws, for each method, the remaining decrease of the objective, from 100 % after iteration 1 (the first
// step mostly corrects the scale of the initial factors). Objectives of different methods are different functions; only
// their speed of convergence is comparable. Lines are means over the trials with the largest number of classes, or
// rank, that has curves. A stopped trial stays at its last value. If no curve falls, the error is ErrNoData.
func Convergence(ctx context.Context, records []record.Record, methods []string, looks Looks) (*Figure, error) {
	trials := curvesOf(records, methods, remainingDecrease)
	if len(trials) == 0 {
		return nil, fmt.Errorf("convergence: %w", ErrNoData)
	}
	f := iterationChart("Remaining decrease, %")
	for i, method := range methods {
		if err := f.addMean(ctx, looks.number(method, i), method, trials[method], terms[0]); err != nil {
			return nil, err
		}
	}
	roundTicks(&f.plot.Y, true)
	return f.figure(true), nil
}

// Terms draws the objective of a method with a penalty, its fit and its penalty in three plots, because they may differ
// by orders of magnitude. It uses the same trials as Convergence. If no curve has a penalty, the error is ErrNoData.
func Terms(ctx context.Context, records []record.Record, method string, looks Looks) (*Figure, error) {
	trials := curvesOf(records, []string{method}, withPenalty)[method]
	if trials == nil {
		return nil, fmt.Errorf("terms of %s: %w", method, ErrNoData)
	}
	charts := make([]*chart, len(terms))
	for i, t := range terms {
		f := iterationChart(t.name)
		if err := f.addMean(ctx, looks.number(method, 0), method, trials, t); err != nil {
			return nil, err
		}
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

// addMean adds the mean curve of a term, if it has points.
func (f *chart) addMean(ctx context.Context, number int, method string, curves [][]record.Point, t term) error {
	mean, err := t.mean(ctx, curves)
	if err != nil {
		return err
	}
	return f.addLines(line{number: number, name: method, points: mean})
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
	var rest []record.Point
	for _, p := range curve {
		if p.Iteration > 0 && !math.IsNaN(p.Objective) && !math.IsInf(p.Objective, 0) {
			rest = append(rest, p)
		}
	}
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

// mean averages the term over the curves at every iteration of any curve.
func (t term) mean(ctx context.Context, curves [][]record.Point) (plotter.XYs, error) {
	var iterations []int
	for _, curve := range curves {
		for _, p := range curve {
			iterations = append(iterations, p.Iteration)
		}
	}
	slices.Sort(iterations)
	var mean plotter.XYs
	for _, i := range slices.Compact(iterations) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		sum := 0.0
		for _, curve := range curves {
			sum += t.valueAt(curve, i)
		}
		mean = append(mean, plotter.XY{X: float64(i), Y: sum / float64(len(curves))})
	}
	return mean, nil
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
