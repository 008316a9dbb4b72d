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

	"github.com/seed4492f2cd/partwise/pipeline"
)

// Terms draws the objective of a method with a penalty, and its two terms, the fit
// and the penalty, against the iteration: three plots, each on a scale of its own,
// since the terms may differ by orders of magnitude. Iterations and trials are
// those of Convergence. Where no curve has a penalty the error is ErrNoData.
func Terms(ctx context.Context, records []pipeline.Record, method string, looks Looks) (*Figure, error) {
	trials := curvesOf(records, []string{method}, withPenalty)[method]
	if trials == nil {
		return nil, fmt.Errorf("terms of %s: %w", method, ErrNoData)
	}
	var row chartRow
	for _, term := range terms {
		f := newChart("Iteration", term.name)
		f.plot.X.Scale = plot.LogScale{}
		f.plot.X.Tick.Marker = plot.TickerFunc(decadeTicks)
		f.plotWidth, f.plotHeight = 2.3*vg.Inch, 1.9*vg.Inch
		mean, err := meanTerm(ctx, trials, term.of)
		if err != nil {
			return nil, err
		}
		if err := f.addLine(looks.of(method, 0), method, mean, false); err != nil {
			return nil, err
		}
		inNumbers(&f.plot.Y)
		row = append(row, f)
	}
	return &Figure{row}, nil
}

// terms are what Terms draws, from left to right.
var terms = []struct {
	name string
	of   func(pipeline.Point) float64
}{
	{"Objective", func(p pipeline.Point) float64 { return p.Objective }},
	{"Fit", func(p pipeline.Point) float64 { return p.Objective - p.Penalty }},
	{"Penalty", func(p pipeline.Point) float64 { return p.Penalty }},
}

// meanTerm averages one term over trials.
func meanTerm(ctx context.Context, trials [][]pipeline.Point, of func(pipeline.Point) float64) (plotter.XYs, error) {
	curves := make([][]pipeline.Point, len(trials))
	for i, trial := range trials {
		for _, p := range trial {
			curves[i] = append(curves[i], pipeline.Point{Iteration: p.Iteration, Objective: of(p)})
		}
	}
	return meanCurve(ctx, curves)
}

// withPenalty returns a curve from iteration 1 on, or nil where it has no penalty.
func withPenalty(curve []pipeline.Point) []pipeline.Point {
	if !slices.ContainsFunc(curve, func(p pipeline.Point) bool { return p.Penalty != 0 }) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(curve), func(p pipeline.Point) bool {
		return p.Iteration == 0 || !(math.Abs(p.Objective) < largestDrawn && math.Abs(p.Penalty) < largestDrawn)
	})
}

// largestDrawn bounds what is drawn, so that no sum of it overflows.
const largestDrawn = 1e100

// chartRow is charts side by side.
type chartRow []*chart

const chartGap = 0.15 * vg.Inch

func (r chartRow) size() (w, h vg.Length) {
	for i, f := range r {
		if i > 0 {
			w += chartGap
		}
		width, height := f.size()
		w, h = w+width, max(h, height)
	}
	return w, h
}

func (r chartRow) draw(ctx context.Context, c draw.Canvas) error {
	left := c.Min.X
	for _, f := range r {
		width, _ := f.size()
		part := c
		part.Min.X, part.Max.X = left, left+width
		if err := f.draw(ctx, part); err != nil {
			return err
		}
		left += width + chartGap
	}
	return nil
}
