package simd

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestBounds(t *testing.T) { checkBounds(t) }

// checkBounds compares the loops over centres with plain ones, of any number of them.
func checkBounds(t *testing.T) {
	t.Helper()
	src := rand.New(rand.NewPCG(5, 1))
	for trial := range 2000 {
		n := src.IntN(40)
		lower, dst := make([]float32, n), make([]float32, n+1)
		went, x := make([]float64, n), make([]float64, n)
		for j := range x {
			lower[j], went[j], x[j] = src.Float32(), src.Float64(), src.Float64()
			if src.IntN(4) == 0 {
				lower[j], x[j] = float32(math.Inf(1)), math.Inf(1)
			}
			if src.IntN(4) == 0 && j > 0 {
				x[j] = x[src.IntN(j)]
			}
		}

		want := math.Inf(1)
		for j, v := range lower {
			want = min(want, float64(v)-went[j])
		}
		if got := LeastGap(lower, went); got != want {
			t.Fatalf("trial %d, %d numbers: the least gap is %v, want %v", trial, n, got, want)
		}

		first, by := src.Float64()/2, src.Float64()-0.3
		if trial%2 == 0 {
			by = math.Abs(by)
		}
		dst[n], want = 7, math.Inf(1)
		got := Roots(dst[:n], x, went, first, by)
		for j, v := range x {
			root := math.Sqrt(max(first+by*v, 0))
			want = min(want, root)
			if sum := root + went[j]; float64(dst[j]) != sum && !(math.Abs(float64(dst[j])-sum) <= 0x3p-24*sum) {
				t.Fatalf("trial %d, %d numbers: root %d is %v, want %v", trial, n, j, dst[j], sum)
			}
		}
		if dst[n] != 7 || got != want && !(math.Abs(got-want) <= 0x3p-24*want) {
			t.Fatalf("trial %d, %d numbers: the least root is %v, want %v", trial, n, got, want)
		}

		wantAt, least, second := 0, math.Inf(1), math.Inf(1)
		for j, v := range x {
			if v < least {
				wantAt, least = j, v
			}
		}
		for j, v := range x {
			if j != wantAt {
				second = min(second, v)
			}
		}
		if at, a, b := LeastTwo(x); at != wantAt || a != least || b != second {
			t.Fatalf("trial %d: the least two of %v are %v at %d and %v, want %v at %d and %v", trial, x, a, at, b, least, wantAt, second)
		}
	}
}
