package factor

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/rng"
)

// TestNeighbours: the neighbours are those at the least distances, of integers with copies and
// ties too, and the same bytes on any number of cores.
func TestNeighbours(t *testing.T) {
	const n, m, p = 3*view.GramRows + 7, 12, 5
	random := rng.New(1, "neighbours")
	for name, value := range map[string]func(i, f int) float64{
		"random":   func(int, int) float64 { return random.Float64() },
		"integers": func(int, int) float64 { return float64(random.IntN(4)) },
		"copies":   func(i, f int) float64 { return float64((i%30+1)*(f*f+3)%101 + 1) },
	} {
		x := mat.NewDense(n, m, nil)
		x.Apply(func(i, f int, _ float64) float64 { return value(i, f) }, x)
		var first neighbours
		for _, cores := range []int{1, 3} {
			got := neighbours{x: view.Dense{X: x}, n: n, p: p, mean: true}
			restore := parallel.SetCores(cores)
			if err := got.find(t.Context()); err != nil {
				t.Fatal(err)
			}
			restore()
			if cores == 1 {
				first = got
			} else if !reflect.DeepEqual(got.nearest, first.nearest) || got.meanDistance != first.meanDistance {
				t.Errorf("%s: %d cores find others than one", name, cores)
			}
		}
		var mean float64
		for i := range n {
			var all []neighbour
			for j := range n {
				if j == i {
					continue
				}
				var d float64
				for f := range m {
					d += (x.At(i, f) - x.At(j, f)) * (x.At(i, f) - x.At(j, f))
				}
				all = append(all, neighbour{j, d})
				mean += math.Sqrt(d) / n / n
			}
			slices.SortFunc(all, nearer)
			for q, got := range first.nearest[i] {
				if want := all[q]; math.Abs(got.d-want.d) > 1e-12*first.square[i] || name != "random" && got.j != want.j {
					t.Fatalf("%s: neighbour %d of sample %d is %v, want %v", name, q, i, got, want)
				}
			}
		}
		if math.Abs(first.meanDistance-mean) > 1e-9*mean {
			t.Errorf("%s: the mean distance is %v, want %v", name, first.meanDistance, mean)
		}
	}
}
