package simd

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestNearest(t *testing.T) { checkNearest(t) }

// checkNearest compares the loops over scores with plain ones, of any number of them.
func checkNearest(t *testing.T) {
	t.Helper()
	src := rand.New(rand.NewPCG(7, 1))
	for trial := range 500 {
		n := src.IntN(4 * Lanes)
		x, from := make([]float64, n), make([]float64, n)
		for j := range x {
			x[j], from[j] = float64(src.IntN(20)), src.Float64()
			if src.IntN(4) == 0 {
				x[j] = math.Inf(1)
			}
		}

		var got, want [Lanes]float64
		for l := range want {
			want[l] = math.Inf(1)
		}
		for j, v := range x {
			want[j%Lanes] = min(want[j%Lanes], v)
		}
		if LaneMinima(&got, x); got != want {
			t.Fatalf("trial %d: the least of the lanes of %v are %v, want %v", trial, x, got, want)
		}

		part := x[:min(n, Lanes)]
		for j, limit := 0, float64(src.IntN(20)); j < len(part); j++ {
			if at := Below(part, limit)>>j&1 == 1; at != (part[j] <= limit) {
				t.Fatalf("trial %d: number %d of %v is at most %v: %v", trial, j, part, limit, at)
			}
		}

		differences := make([]float64, n)
		for j := range x {
			differences[j] = from[j] - x[j]
		}
		if SubtractFrom(x, from); !slices.Equal(x, differences) {
			t.Fatalf("trial %d: the differences are %v, want %v", trial, x, differences)
		}
	}
}
