package factor

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestSimplexFarAway: a number added to all values changes nothing, however large
// it is beside the simplex.
func TestSimplexFarAway(t *testing.T) {
	for _, far := range []float64{1e20, -1e20, 1e100, -1e300} {
		y := []float64{far, far, far + math.Abs(far), far - math.Abs(far)/2}
		x := make([]float64, len(y))
		projectSimplex(x, y)
		if x[0] != 0 || x[1] != 0 || x[2] != 1 || x[3] != 0 {
			t.Errorf("%v: got %v", y, x)
		}
		projectSimplex(x, []float64{far, far, far, 2 * -math.Abs(far)})
		for i, want := range []float64{1. / 3, 1. / 3, 1. / 3, 0} {
			if math.Abs(x[i]-want) > 1e-15 {
				t.Errorf("three of %v: got %v", far, x)
			}
		}
	}
}

// TestSimplex: the nearest point of the simplex is y less one number where it
// is positive, and 0 only where y is below that number.
func TestSimplex(t *testing.T) {
	for seed := range uint64(200) {
		src := rand.New(rand.NewPCG(seed, 29))
		y := make([]float64, 1+src.IntN(20))
		scale := math.Pow(10, 6*src.Float64()-3)
		for i := range y {
			y[i] = scale * math.Round(10*src.NormFloat64()) / 10 // equal ones too
		}
		x := make([]float64, len(y))
		projectSimplex(x, y)
		var sum float64
		shift := math.NaN()
		for i := range x {
			if sum += x[i]; x[i] > 0 {
				shift = y[i] - x[i]
			}
		}
		if math.Abs(sum-1) > 1e-12*max(1, scale) {
			t.Fatalf("seed %d: sums to %v", seed, sum)
		}
		for i := range x {
			if x[i] < 0 || x[i] > 0 && math.Abs(y[i]-x[i]-shift) > 1e-12*max(1, scale) || x[i] == 0 && y[i] > shift+1e-12*max(1, scale) {
				t.Fatalf("seed %d: %v of %v is not the nearest", seed, x, y)
			}
		}
	}
}
