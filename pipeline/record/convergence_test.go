package record

import (
	"math"
	"strings"
	"testing"

	"github.com/seed4492f2cd/partwise/factor"
)

// TestUnconverged: a fit has not converged if its objective still falls by more than 1 % over the last tenth of its
// iterations, or faster than before, unless it met a tolerance or fits the data exactly.
func TestUnconverged(t *testing.T) {
	decay := func(by float64) func(i int) float64 {
		return func(i int) float64 { return math.Exp(-by * float64(i) / 20) }
	}
	for _, c := range []struct {
		name string
		stop factor.Stop
		at   func(i int) float64
		want string
	}{
		{"falls by 3 % a tenth", factor.StopIterations, decay(0.03), "still decreased by 3.1 % over the last tenth of the iterations; increase"},
		{"falls by 0.5 % a tenth", factor.StopIterations, func(i int) float64 { return 1 + 9/float64(i) }, ""},
		{"on a plateau", factor.StopIterations, func(i int) float64 { return 1 - 1e-5*math.Exp(float64(i)/50) }, "still decreased by 0.015 % over the last tenth of the iterations, and the decrease is accelerating"},
		{"ended by a tolerance", factor.StopTolerance, decay(0.03), ""},
		{"an exact fit", factor.StopIterations, decay(6), ""},
		{"zero", factor.StopIterations, func(int) float64 { return 0 }, ""},
		{"rises", factor.StopIterations, func(i int) float64 { return float64(i) }, ""},
		{"below zero", factor.StopIterations, func(i int) float64 { return -1 - float64(i)/200 }, "the objective still decreased by 5 %"},
	} {
		objective := []float64{1e6}
		for i := 1; i <= 200; i++ {
			objective = append(objective, c.at(i))
		}
		res := &factor.Result{Stop: c.stop, Objective: objective}
		if got := UnconvergedFit("nmf", res); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	for _, objective := range [][]float64{nil, {1}, {1, 1}} {
		if got := UnconvergedFit("pca", &factor.Result{Stop: factor.StopIterations, Objective: objective}); got != "" {
			t.Errorf("%v: %q", objective, got)
		}
	}
}
