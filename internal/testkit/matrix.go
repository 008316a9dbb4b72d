package testkit

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Rows returns the matrix of the rows.
func Rows(x [][]float64) *mat.Dense {
	out := mat.NewDense(len(x), len(x[0]), nil)
	for i, row := range x {
		out.SetRow(i, row)
	}
	return out
}

// Near ends the test if a value of got differs from that of want by more than the
// tolerance, which is a share of the value where that is above 1.
func Near(t *testing.T, what string, got, want mat.Matrix, tolerance float64) {
	t.Helper()
	r, c := got.Dims()
	if wr, wc := want.Dims(); r != wr || c != wc {
		t.Fatalf("%s: is %d×%d, want %d×%d", what, r, c, wr, wc)
	}
	for i := range r {
		for j := range c {
			g, w := got.At(i, j), want.At(i, j)
			if !(math.Abs(g-w) <= tolerance*max(1, math.Abs(w))) {
				t.Fatalf("%s: at %d,%d is %v, want %v", what, i, j, g, w)
			}
		}
	}
}
