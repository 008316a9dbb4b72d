package eval

import "gonum.org/v1/gonum/stat"

// MeanSD returns the mean of x and its standard deviation as a sample's, with
// n − 1 below the root. The deviation of a single value is 0, and so are both
// of none.
func MeanSD(x []float64) (mean, sd float64) {
	switch len(x) {
	case 0:
		return 0, 0
	case 1:
		return x[0], 0
	}
	return stat.MeanStdDev(x, nil)
}
