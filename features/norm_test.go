package features

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
)

func TestNorm(t *testing.T) {
	for _, test := range []struct {
		name string
		want []float64 // of (3, 0, -4)
	}{
		{"l2", []float64{0.6, 0, -0.8}},
		{"L1", []float64{3.0 / 7, 0, -4.0 / 7}},
		{"max", []float64{0.75, 0, -1}},
		{"none", []float64{3, 0, -4}},
	} {
		var norm Norm
		if err := norm.UnmarshalText([]byte(test.name)); err != nil || norm.String() != strings.ToLower(test.name) {
			t.Fatalf("%s: %v", test.name, norm)
		}
		got := []float64{3, 0, -4}
		if err := norm.apply(got, nil); err != nil || !floats.EqualApprox(got, test.want, 1e-15) {
			t.Errorf("%v: %v, %v, want %v", norm, got, err, test.want)
		}
		if err := norm.apply([]float64{0, 0}, nil); err == nil || !strings.Contains(err.Error(), "zero") {
			t.Errorf("%v of zeros: error %v", norm, err)
		}
		if err := norm.apply([]float64{1, math.Inf(-1)}, []int{5, 7}); err == nil || !strings.Contains(err.Error(), "column 8: the value is -Inf") {
			t.Errorf("%v of -Inf: error %v", norm, err)
		}
		for _, extreme := range []float64{math.MaxFloat64, 5e-324} {
			values := []float64{extreme, extreme, 0}
			if err := norm.apply(values, nil); err != nil {
				continue
			}
			for _, v := range values {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Errorf("%v of %v: %v", norm, extreme, values)
				}
			}
		}
	}
	var zero Norm
	if zero != NormL2 {
		t.Errorf("the zero value is %v", zero)
	}
	if err := zero.UnmarshalText([]byte("l3")); err == nil || !strings.Contains(err.Error(), `"l3"`) || !strings.Contains(err.Error(), "l2, l1, max, none") {
		t.Errorf("l3: error %v", err)
	}
}
