package eval

import (
	"math"

	"github.com/seed4492f2cd/partwise/internal/elementary"
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
	mean, sd = elementary.MeanStdDev(x)
	if !math.IsInf(mean, 0) && !math.IsInf(sd, 0) && !math.IsNaN(sd) {
		return mean, sd
	}
	// A sum has overflowed: scale by a power of 2.
	const scale = 0x1p-600
	small := make([]float64, len(x))
	for i, v := range x {
		small[i] = v * scale
	}
	mean, sd = elementary.MeanStdDev(small)
	return mean / scale, min(sd/scale, math.MaxFloat64)
}
