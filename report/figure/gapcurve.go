package figure

import (
	"gonum.org/v1/plot/plotter"
)

// GapCurve draws gaps of eigenvalues against the number of groups, of from groups and on.
func GapCurve(from int, gaps []float64) (*Figure, error) {
	if len(gaps) == 0 {
		return nil, ErrNoData
	}
	f := newChart("Number of groups", "Gap of eigenvalues")
	numbers, points := make([]int, len(gaps)), make(plotter.XYs, len(gaps))
	for i, gap := range gaps {
		numbers[i], points[i] = from+i, plotter.XY{X: float64(from + i), Y: gap}
	}
	f.plot.X.Tick.Marker = wholeTicks(numbers)
	if err := f.addLine(0, "gap", points, len(points) <= mostMarkers); err != nil {
		return nil, err
	}
	f.plot.Y.Min = 0
	return &Figure{f}, nil
}
