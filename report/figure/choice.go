package figure

import (
	"slices"

	"gonum.org/v1/plot/plotter"

	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/pipeline"
)

// choiceChart shows criteria against the numbers that one is chosen from.
type choiceChart struct {
	*chart
	numbers []int
	lines   int
}

func newChoiceChart(x, y string, numbers []int) *choiceChart {
	f := &choiceChart{chart: newChart(x, y), numbers: numbers}
	f.plot.X.Tick.Marker = wholeTicks(numbers)
	return f
}

// points returns the points of a criterion, each moved by a multiple of its error.
func (f *choiceChart) points(values []float64, times float64, errors []float64) plotter.XYs {
	points := make(plotter.XYs, len(values))
	for i, v := range values {
		if times != 0 {
			v += times * errors[i]
		}
		points[i] = plotter.XY{X: float64(f.numbers[i]), Y: v}
	}
	return points
}

// add adds a criterion with a ring at the place chosen, which may be −1.
func (f *choiceChart) add(name string, values []float64, chosen int) error {
	if err := f.addLine(f.lines, name, f.points(values, 0, nil), len(values) <= mostMarkers); err != nil {
		return err
	}
	if chosen >= 0 {
		f.addRing(f.lines, float64(f.numbers[chosen]), values[chosen])
	}
	f.lines++
	return nil
}

// CountCurve draws gaps, as shares of the largest, silhouettes and stability against the number of
// clusters, with rings at the number that c.Best chooses.
func CountCurve(c *pipeline.CountCurve) (*Figure, error) {
	f := newChoiceChart("Number of groups", "Gap of the largest, silhouette, stability", c.K)
	best := c.Best()
	gaps := make([]float64, len(c.Gap))
	if largest := c.Gap[best]; largest > 0 {
		gaps = shares(c.Gap, largest)
	}
	for _, line := range []struct {
		name   string
		values []float64
	}{{"gap", gaps}, {"silhouette", c.Silhouette}, {"stability", c.Stability}} {
		if err := f.add(line.name, line.values, best); err != nil {
			return nil, err
		}
	}
	f.plot.Y.Min, f.plot.Y.Max = min(f.plot.Y.Min, 0), max(f.plot.Y.Max, 1)
	f.addLegend()
	return &Figure{f}, nil
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
	f := newChoiceChart("Number of groups", "Gap of eigenvalues", numbers)
	if err := f.add("gap", gaps, -1); err != nil {
		return nil, err
	}
	f.plot.Y.Min = 0
	return &Figure{f}, nil
}

// RankCurve draws misfits of held-out entries, as shares of the largest, and stability against the
// rank, with rings at the chosen one.
func RankCurve(c *factor.RankCurve, chosen int) (*Figure, error) {
	if len(c.Rank) == 0 {
		return nil, ErrNoData
	}
	f := newChoiceChart("Number of basis vectors", "Misfit of the largest, stability", c.Rank)
	largest := slices.Max(c.Misfit)
	if largest == 0 {
		largest = 1
	}
	misfits, errors := shares(c.Misfit, largest), shares(c.Deviation, largest)
	if err := f.addBand(0, f.points(misfits, -1, errors), f.points(misfits, 1, errors)); err != nil {
		return nil, err
	}
	at := slices.Index(c.Rank, chosen)
	if err := f.add("misfit", misfits, at); err != nil {
		return nil, err
	}
	if err := f.add("stability", c.Stability, at); err != nil {
		return nil, err
	}
	f.plot.Y.Min, f.plot.Y.Max = 0, 1
	f.addLegend()
	return &Figure{f}, nil
}

// shares returns values divided by the largest.
func shares(values []float64, largest float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = v / largest
	}
	return out
}
