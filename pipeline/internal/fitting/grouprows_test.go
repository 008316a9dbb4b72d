package fitting

import (
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/internal/sparse"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// TestClusterersOfTinyAndHugeValues checks that values whose distances or inner products underflow or overflow are an
// error.
func TestClusterersOfTinyAndHugeValues(t *testing.T) {
	known := cluster.Known{Labels: []int{0, 0, 1, 1}}
	for _, scale := range []float64{1e-280, 1e200} {
		x := mat.NewDense(4, 1, []float64{1 * scale, 2 * scale, 8 * scale, 9 * scale})
		var entries []sparse.Entry
		for i := range 4 {
			entries = append(entries, sparse.Entry{Row: i, Value: x.At(i, 0)})
		}
		for _, name := range spec.Clusterers() {
			if slices.Contains([]string{"guided-kmeans", "propagated-kmeans", "harmonic", "label-spreading", "logistic", "self-training"}, name) { // by directions, which have no scale
				continue
			}
			for _, x := range []mat.Matrix{x, sparse.FromEntries(4, 1, entries)} {
				_, err := ClusterRows(t.Context(), spec.Cluster{By: name}, x, 2, known, 1)
				if err == nil || !strings.Contains(err.Error(), "values") || strings.Contains(err.Error(), "\n") {
					t.Errorf("%s, values about %v: %v", name, scale, err)
				}
			}
		}
	}
}

// TestClusterRefines has the values 0, 4 and 7. One run of k-means depends on its start; with refinement, all starts
// reach the least objective.
func TestClusterRefines(t *testing.T) {
	x := mat.NewDense(3, 1, []float64{0, 4, 7})
	others := 0
	for seed := range uint64(20) {
		for _, refine := range []bool{false, true} {
			found, err := ClusterRows(t.Context(), spec.Cluster{Restarts: 1, Refine: refine}, x, 2, cluster.Known{}, seed)
			if err != nil {
				t.Fatal(err)
			}
			if least := found[1] == found[2]; refine && !least {
				t.Errorf("seed %d: groups %v", seed, found)
			} else if !least {
				others++
			}
		}
	}
	if others == 0 {
		t.Error("every run ends in the least objective without refine")
	}
}
