package factor

import (
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func TestNearest(t *testing.T) {
	x := mat.NewDense(5, 1, []float64{1, 2, 4, 4, 11})
	rows, distances, err := Nearest(t.Context(), x, 2)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]int{{1, 2}, {0, 2}, {3, 1}, {2, 1}, {2, 3}} {
		if !slices.Equal(rows[i], want) {
			t.Errorf("row %d: nearest %v, want %v", i, rows[i], want)
		}
	}
	if !slices.Equal(distances[4], []float64{7, 7}) || !slices.Equal(distances[2], []float64{0, 2}) {
		t.Errorf("distances %v", distances)
	}
	if rows, _, err := Nearest(t.Context(), mat.NewDense(1, 1, []float64{2}), 3); err != nil || len(rows[0]) > 0 {
		t.Errorf("of one row: %v, %v", rows, err)
	}
	if _, _, err := Nearest(t.Context(), x, 0); err == nil {
		t.Error("no neighbours: no error")
	}
}
