package factor

import (
	"math"
	"reflect"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/rng"
)

// TestScreenedNeighbours: screening finds the neighbours that comparing all pairs finds,
// the same bytes on any number of cores, where there are copies, samples equally near,
// many such, samples of very different lengths, and several blocks.
func TestScreenedNeighbours(t *testing.T) {
	random := rng.New(1, "screened neighbours")
	for name, value := range map[string]func(i, f int) float64{
		"random":   func(int, int) float64 { return random.Float64() },
		"integers": func(int, int) float64 { return float64(random.IntN(4)) },
		"bits":     func(_, f int) float64 { return float64(max(random.IntN(2), 1-f)) }, // hundreds equally near
		"copies":   func(i, f int) float64 { return float64((i%300+1)*(f*f+3)%101 + 1) },
		"near":     func(i, f int) float64 { return 1 + 1e-6*random.Float64() },
		"short":    func(i, f int) float64 { return math.Pow(10, -float64(i%7)*5) * random.Float64() },
		"huge":     func(i, f int) float64 { return 1e55 * random.NormFloat64() },
	} {
		const n, m = 2*mostInBlock + 77, 12
		x := mat.NewDense(n, m, nil)
		x.Apply(func(i, f int, _ float64) float64 { return value(i, f) }, x)
		for _, h := range []neighbours{{p: 5}, {p: 3, cosine: true}, {p: 4, mean: true}} {
			var want, first neighbours
			want, h.n, h.x = h, n, denseData{x}
			want.n, want.x = h.n, h.x
			if err := want.find(t.Context(), math.MaxInt); err != nil {
				t.Fatal(err)
			}
			for _, cores := range []int{1, 3} {
				got := h
				restore := parallel.SetCores(cores)
				if err := got.find(t.Context(), 1); err != nil {
					t.Fatal(err)
				}
				restore()
				if cores == 1 {
					first = got
				}
				if !reflect.DeepEqual(got, first) {
					t.Errorf("%s, %d neighbours: %d cores find others than one", name, h.p, cores)
				}
			}
			differ := 0
			for i, list := range want.nearest {
				for q, w := range list {
					g := first.nearest[i][q]
					size := want.square[i] + want.square[w.j]
					if h.cosine {
						size = 1
					}
					if math.Abs(g.d-w.d) > 1e-13*size {
						t.Fatalf("%s, %d neighbours: number %d of sample %d is %v, want %v", name, h.p, q, i, g, w)
					}
					if g.j != w.j {
						differ++
					}
				}
			}
			// Where rounding makes a difference between what is equally near, rows differ. The
			// distances of near samples are their rounding.
			if differ > 0 && name != "near" && !(h.cosine && name != "random") {
				t.Errorf("%s, %d neighbours: %d of other rows", name, h.p, differ)
			}
			if h.mean && name != "near" && math.Abs(first.meanDistance-want.meanDistance) > 1e-9*want.meanDistance {
				t.Errorf("%s: the mean distance is %v, want %v", name, first.meanDistance, want.meanDistance)
			}
		}
	}
}
