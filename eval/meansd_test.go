package eval

import (
	"math"
	"testing"
)

func TestMeanSD(t *testing.T) {
	for _, test := range []struct {
		x        []float64
		mean, sd float64
	}{
		{nil, 0, 0},
		{[]float64{3}, 3, 0},
		{[]float64{2, 2, 2}, 2, 0},
		{[]float64{1, 2, 3, 4}, 2.5, math.Sqrt(5. / 3)},
		{[]float64{1e308, 1.5e308, 1.25e308}, 1.25e308, 0.25e308},
		{[]float64{-1e200, 1e200}, 0, math.Sqrt2 * 1e200},
		{[]float64{math.MaxFloat64, -math.MaxFloat64}, 0, math.MaxFloat64},
	} {
		mean, sd := MeanSD(test.x)
		if !near(mean, test.mean, 1e-15) || !near(sd, test.sd, 1e-15) {
			t.Errorf("%v: %v ± %v, want %v ± %v", test.x, mean, sd, test.mean, test.sd)
		}
	}
}
