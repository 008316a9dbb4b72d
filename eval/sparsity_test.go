package eval

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func TestSparsity(t *testing.T) {
	got, err := Sparsity(mat.NewDense(4, 5, []float64{
		0, 2, 1, 0, 1e300,
		0, 2, 1, 0, -1e300,
		7, -2, 0, 0, 1e300,
		0, 2, 0, 0, 1e300,
	}))
	if err != nil {
		t.Fatal(err)
	}
	// (2 − 2/√2)/(2 − 1) for the third.
	for r, want := range []float64{1, 0, 2 - math.Sqrt2, 0, 0} {
		if !near(got[r], want, 1e-12) {
			t.Errorf("column %d: got %v, want %v", r, got[r], want)
		}
	}
	if got, err := Sparsity(mat.NewDense(1, 2, []float64{3, 0})); err != nil || got[0] != 0 || got[1] != 0 {
		t.Errorf("a single row: %v, %v", got, err)
	}
	if _, err := Sparsity(mat.NewDense(2, 1, []float64{1, math.NaN()})); err == nil || !strings.Contains(err.Error(), "row 2, column 1") {
		t.Errorf("got error %v, want one that names the value", err)
	}
}
