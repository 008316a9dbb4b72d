package eval

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func TestBasisPurity(t *testing.T) {
	v := mat.NewDense(5, 4, []float64{
		1, 0, 2, 0,
		1, 0, 0, 0,
		0, 3, -2, 0,
		0, 1, 0, 0,
		9, 9, 9, 9,
	})
	per, overall, err := BasisPurity(v, []int{0, 0, 1, 2, -1})
	if err != nil {
		t.Fatal(err)
	}
	// Masses 2, 4, 4 and 0.
	for r, want := range []float64{1, 0.75, 0.5, 0} {
		if !near(per[r], want, 1e-12) {
			t.Errorf("basis %d: got %v, want %v", r, per[r], want)
		}
	}
	if !near(overall, 0.7, 1e-12) {
		t.Errorf("overall %v, want 0.7", overall)
	}
	var huge mat.Dense
	huge.Scale(1e307, v)
	if _, got, err := BasisPurity(&huge, []int{0, 0, 1, 2, -1}); err != nil || !near(got, 0.7, 1e-12) {
		t.Errorf("overall %v, %v for huge values, want 0.7", got, err)
	}
	for _, test := range []struct {
		labels []int
		value  float64
		want   string
	}{
		{[]int{0}, 1, "1 labels for 5 samples"},
		{[]int{0, 0, 1, 2, -1}, math.Inf(1), "row 3, column 2: value +Inf"},
	} {
		bad := mat.DenseCopyOf(v)
		bad.Set(2, 1, test.value)
		if _, _, err := BasisPurity(bad, test.labels); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("got error %v, want one with %q", err, test.want)
		}
	}
	if per, overall, err := BasisPurity(mat.NewDense(2, 2, nil), []int{0, 1}); err != nil || overall != 0 || per[0] != 0 {
		t.Errorf("no mass: %v, %v, %v", per, overall, err)
	}
}
