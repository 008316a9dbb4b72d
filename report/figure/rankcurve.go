package figure

import (
	"slices"

	"gonum.org/v1/plot/plotter"

	"github.com/seed4492f2cd/partwise/factor"
)

// RankCurve draws misfits of what is held out, of the largest, and stability against the rank, with
// rings at the chosen one.
func RankCurve(c *factor.RankCurve, chosen int) (*Figure, error) {
	if len(c.Rank) == 0 {
		return nil, ErrNoData
	}
	f := newChart("Number of basis vectors", "Misfit of the largest, stability")
	f.plot.X.Tick.Marker = wholeTicks(c.Rank)
	largest := slices.Max(c.Misfit)
	if largest == 0 {
		largest = 1
	}
	var below, above plotter.XYs
	misfits := make([]float64, len(c.Rank))
	for i, misfit := range c.Misfit {
		misfits[i] = misfit / largest
		e := c.Deviation[i] / largest
		below = append(below, plotter.XY{X: float64(c.Rank[i]), Y: misfits[i] - e})
		above = append(above, plotter.XY{X: float64(c.Rank[i]), Y: misfits[i] + e})
	}
	if err := f.addBand(0, below, above); err != nil {
		return nil, err
	}
	at := slices.Index(c.Rank, chosen)
	for i, line := range []struct {
		name   string
		values []float64
	}{{"misfit", misfits}, {"stability", c.Stability}} {
		points := make(plotter.XYs, len(c.Rank))
		for j, k := range c.Rank {
			points[j] = plotter.XY{X: float64(k), Y: line.values[j]}
		}
		if err := f.addLine(i, line.name, points, len(points) <= mostMarkers); err != nil {
			return nil, err
		}
		if at >= 0 {
			f.addRing(i, float64(chosen), line.values[at])
		}
	}
	f.plot.Y.Min, f.plot.Y.Max = 0, 1
	f.addLegend()
	return &Figure{f}, nil
}
