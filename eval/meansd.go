package eval

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// MeanSD returns the mean of x and its sample standard deviation, with n − 1 below the root. The deviation of
// a single value is 0, and so are both of none. Results that overflow are the largest number.
func MeanSD(x []float64) (mean, sd float64) {
	switch len(x) {
	case 0:
		return 0, 0
	case 1:
		return x[0], 0
	}
	mean, sd = stat.MeanStdDev(x, nil)
	if !math.IsInf(mean, 0) && !math.IsInf(sd, 0) && !math.IsNaN(sd) {
		return mean, sd
	}
	// A sum has overflowed: scale by a power of 2.
	const scale = 0x1p-600
	small := slices.Clone(x)
	floats.Scale(scale, small)
	mean, sd = stat.MeanStdDev(small, nil)
	return mean / scale, min(sd/scale, math.MaxFloat64)
}
