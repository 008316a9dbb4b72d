package figure

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/seed4492f2cd/partwise/report/table"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"github.com/seed4492f2cd/partwise/pipeline"
)

// Convergence draws, for each method, how much of the objective's whole
// decrease after the first iteration is still to come: 100 % after iteration
// 1, 0 % at the end. Objectives of different methods are different functions,
// with different floors and, with links, of either sign; what can be compared
// is how fast they are done. The iterations stand on a logarithmic axis. The
// initial factors (iteration 0) are left out, since the first step mostly
// mends their scale.
//
// The lines are means over the trials with the largest number of classes, or rank,
// that has curves; a trial that stopped stays at its last value. Methods without
// iterations are left out. Where no curve falls the error is ErrNoData.
func Convergence(ctx context.Context, records []pipeline.Record, methods []string, looks Looks) (*Figure, error) {
	trials := curvesOf(records, methods, remaining)
	f := newChart("Iteration", "Decrease still to come, %")
	f.plot.X.Scale = plot.LogScale{}
	f.plot.X.Tick.Marker = plot.TickerFunc(decadeTicks)
	empty := true
	for i, method := range methods {
		if trials[method] == nil {
			continue
		}
		empty = false
		mean, err := meanCurve(ctx, trials[method])
		if err != nil {
			return nil, err
		}
		if err := f.addLine(looks.of(method, i), method, mean, false); err != nil {
			return nil, err
		}
	}
	if empty {
		return nil, fmt.Errorf("convergence: %w", ErrNoData)
	}
	inPercent(&f.plot.Y)
	f.addLegend()
	return &Figure{f}, nil
}

// curvesOf returns the curves of each method that there are of the largest number of
// classes, or rank, that has any. of returns what is drawn of a curve, or nil.
func curvesOf(records []pipeline.Record, methods []string, of func([]pipeline.Point) []pipeline.Point) map[string][][]pipeline.Point {
	trials := map[string][][]pipeline.Point{}
	largest := 0
	for _, r := range table.Finished(records, methods) {
		curve := of(r.Curve)
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

// remaining rescales a curve from iteration 1 on so that its first value is 1
// and its last 0. It is nil where the objective does not fall.
func remaining(curve []pipeline.Point) []pipeline.Point {
	var rest []pipeline.Point
	for _, p := range curve {
		if p.Iteration > 0 && isFinite(p.Objective) {
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

func isFinite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// meanCurve averages curves at every iteration that any of them has.
func meanCurve(ctx context.Context, curves [][]pipeline.Point) (plotter.XYs, error) {
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
			sum += valueAt(curve, i)
		}
		mean = append(mean, plotter.XY{X: float64(i), Y: sum / float64(len(curves))})
	}
	return mean, nil
}

// valueAt interpolates a curve between its points; before the first and after
// the last it is constant.
func valueAt(curve []pipeline.Point, iteration int) float64 {
	i, exact := slices.BinarySearchFunc(curve, iteration, func(p pipeline.Point, i int) int { return p.Iteration - i })
	switch {
	case exact || i == 0:
		return curve[i].Objective
	case i == len(curve):
		return curve[i-1].Objective
	}
	a, b := curve[i-1], curve[i]
	share := float64(iteration-a.Iteration) / float64(b.Iteration-a.Iteration)
	return a.Objective + share*(b.Objective-a.Objective)
}

// decadeTicks labels 1, 10, 100 … with small ticks between.
func decadeTicks(lo, hi float64) []plot.Tick {
	var ticks []plot.Tick
	for decade := 1.0; decade <= hi; decade *= 10 {
		ticks = append(ticks, plot.Tick{Value: decade, Label: fmt.Sprintf("%.0f", decade)})
		for i := 2.0; i < 10 && i*decade <= hi; i++ {
			ticks = append(ticks, plot.Tick{Value: i * decade})
		}
	}
	return ticks
}
