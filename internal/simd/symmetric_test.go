package simd

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestAddBoth: both products are those of plain loops, and nothing beside y is written.
func TestAddBoth(t *testing.T) { checkAddBoth(t) }

func checkAddBoth(t *testing.T) {
	t.Helper()
	src := rand.New(rand.NewPCG(1, 5))
	numbers := func(n int) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = src.Float64() - 0.5
		}
		return out
	}
	for n := range 40 {
		stride := n + src.IntN(5)
		a, x, y := numbers(3*stride+n), numbers(n), numbers(n+1)
		weights, sums := [4]float64(numbers(4)), [4]float64(numbers(4))
		wantY, wantSums := append([]float64(nil), y...), sums
		for r, w := range weights {
			for c, v := range a[r*stride:][:n] {
				wantY[c] += w * v
				wantSums[r] += v * x[c]
			}
		}
		AddBoth(y[:n], x, a, stride, &weights, &sums)
		for c, want := range wantY {
			if math.Abs(y[c]-want) > 1e-14 {
				t.Fatalf("%d columns: y[%d] is %v, want %v", n, c, y[c], want)
			}
		}
		for r, want := range wantSums {
			if math.Abs(sums[r]-want) > 1e-13 {
				t.Fatalf("%d columns: sum %d is %v, want %v", n, r, sums[r], want)
			}
		}
	}
}
