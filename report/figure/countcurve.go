package figure

import (
	"gonum.org/v1/plot/plotter"

	"github.com/seed4492f2cd/partwise/pipeline"
)

// CountCurve draws gaps, of the largest, silhouettes and stability against the number of groups, with
// rings at the number that c.Best chooses.
func CountCurve(c *pipeline.CountCurve) (*Figure, error) {
	f := newChart("Number of groups", "Gap of the largest, silhouette, stability")
	f.plot.X.Tick.Marker = wholeTicks(c.K)
	best := c.Best()
	gaps := make([]float64, len(c.Gap))
	for at, gap := range c.Gap {
		if c.Gap[best] > 0 {
			gaps[at] = gap / c.Gap[best]
		}
	}
	for i, line := range []struct {
		name   string
		values []float64
	}{{"gap", gaps}, {"silhouette", c.Silhouette}, {"stability", c.Stability}} {
		points := make(plotter.XYs, len(c.K))
		for at, k := range c.K {
			points[at] = plotter.XY{X: float64(k), Y: line.values[at]}
		}
		if err := f.addLine(i, line.name, points, len(points) <= mostMarkers); err != nil {
			return nil, err
		}
		f.addRing(i, float64(c.K[best]), line.values[best])
	}
	f.plot.Y.Min, f.plot.Y.Max = min(f.plot.Y.Min, 0), max(f.plot.Y.Max, 1)
	f.addLegend()
	return &Figure{f}, nil
}
