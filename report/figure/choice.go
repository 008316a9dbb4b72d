package figure

import (
	"slices"

	"gonum.org/v1/plot/plotter"

	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/pipeline"
)

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
func CountCurve(c *pipeline.CountCurve) (*Figure, error) {
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
