package pipeline

import (
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// TestClusterersOfTinyAndHugeValues: nothing groups samples by distances or inner products
// of which nothing is left.
func TestClusterersOfTinyAndHugeValues(t *testing.T) {
	known := cluster.Known{Labels: []int{0, 0, 1, 1}}
	for _, scale := range []float64{1e-280, 1e200} {
		x := mat.NewDense(4, 1, []float64{1 * scale, 2 * scale, 8 * scale, 9 * scale})
		var entries []sparse.Entry
		for i := range 4 {
			entries = append(entries, sparse.Entry{Row: i, Value: x.At(i, 0)})
		}
		for _, name := range Clusterers() {
			for _, x := range []mat.Matrix{x, sparse.FromEntries(4, 1, entries)} {
				_, err := Cluster{By: name}.groups(t.Context(), x, 2, known, 1)
				if err == nil || !strings.Contains(err.Error(), "values") || strings.Contains(err.Error(), "\n") {
					t.Errorf("%s, values about %v: %v", name, scale, err)
				}
			}
		}
	}
}
