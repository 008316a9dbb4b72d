package cluster

import (
	"math"
	"reflect"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/parallel"
)

// TestCores: every algorithm, and the nearest points, give the same bytes on any number of
// cores, within one panel and across several.
func TestCores(t *testing.T) {
	for _, size := range [][2]int{{40, 3}, {panelRows + 50, 700}} {
		x, truth := blobs(size[0], size[1], 24, 4, 1)
		x.Apply(func(_, _ int, v float64) float64 { return math.Abs(v) }, x) // for the cuts
		n, _ := x.Dims()
		known := Known{Labels: someLabels(truth, 20, 1)}
		for _, x := range []mat.Matrix{x, toSparse(x)} {
			var first []any
			for _, cores := range []int{1, 2, 3, 7} {
				restore := parallel.SetCores(cores)
				var got []any
				for _, a := range Algorithms() {
					r, err := registered(t, a, map[string]any{"restarts": 3, "refine": true}).Cluster(t.Context(), x, 24, known, 1)
					if err != nil {
						t.Fatalf("%s: %v", a.Name, err)
					}
					got = append(got, r)
				}
				nearest, err := Nearest(t.Context(), DistanceEuclidean, x, x, 5)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, nearest)
				restore()
				if first == nil {
					first = got
				}
				for i := range got {
					if !reflect.DeepEqual(got[i], first[i]) {
						t.Errorf("%d samples, %T, %d cores: answer %d is not that of one core", n, x, cores, i)
					}
				}
			}
		}
	}
}

// BenchmarkRestarts times 20 runs of k-means on one core and on two.
func BenchmarkRestarts(b *testing.B) {
	x, _ := blobs(1440, 1024, 20, 4, 1)
	for _, cores := range []int{1, 2} {
		b.Run(map[int]string{1: "cores=1", 2: "cores=2"}[cores], func(b *testing.B) {
			defer parallel.SetCores(cores)()
			for b.Loop() {
				if _, err := (KMeans{K: 20}).Fit(b.Context(), x); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
