package features

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/internal/sparse"
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

// TestPower: the square root of values that add up to 1 has unit length; a value below 0
// has none, and is an error with its column.
func TestPower(t *testing.T) {
	x := mat.NewDense(2, 3, []float64{1, 4, 0, 9, 0, 16})
	set := &datasets.Set{Name: "s", Names: []string{"a", "b"}, Vectors: x}
	m, err := Extract(t.Context(), set, Pixels{}, Options{Power: 0.5})
	if want := mat.NewDense(2, 3, []float64{math.Sqrt(0.2), math.Sqrt(0.8), 0, 0.6, 0, 0.8}); err != nil || !mat.EqualApprox(m.X, want, 1e-15) {
		t.Errorf("%v, error %v, want %v", m, err, want)
	}
	sparsely := *set
	if sparsely.Vectors, err = sparse.New(2, 3, []int{0, 2, 4}, []int{0, 1, 0, 2}, []float64{1, 4, 9, 16}); err != nil {
		t.Fatal(err)
	}
	for _, norm := range []Norm{NormL2, NormNone} {
		dense, err1 := Extract(t.Context(), set, Pixels{}, Options{Power: 0.25, Normalise: norm})
		other, err2 := Extract(t.Context(), &sparsely, Pixels{}, Options{Power: 0.25, Normalise: norm})
		if err1 != nil || err2 != nil || !mat.EqualApprox(dense.X, other.X, 1e-15) {
			t.Errorf("%v: sparse %v, dense %v, errors %v, %v", norm, other, dense, err1, err2)
		}
	}
	if mat.Sum(x) != 30 || mat.Sum(sparsely.Vectors) != 30 {
		t.Error("the set's vectors have changed")
	}
	x.Set(1, 1, -3)
	if _, err := Extract(t.Context(), set, Pixels{}, Options{Power: 0.5}); err == nil || !strings.Contains(err.Error(), "b: column 2: the value is -3") {
		t.Errorf("the root of -3: error %v", err)
	}
	for _, power := range []float64{-1, 1.5, math.NaN()} {
		if _, err := Extract(t.Context(), set, Pixels{}, Options{Power: power}); err == nil || !strings.Contains(err.Error(), "above 0 and up to 1") {
			t.Errorf("a power of %v: error %v", power, err)
		}
	}
}
