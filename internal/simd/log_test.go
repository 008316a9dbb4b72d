package simd

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestLogarithm checks the logarithm alone and in DivideSum, which rounds less precisely.
func TestLogarithm(t *testing.T) {
	src := rand.New(rand.NewPCG(1, 2))
	check := func(x float64) {
		want := math.Log(x)
		y := []float64{1, 1, 1, 1}
		sums := DivideSum(y, []float64{x, 0, 0, 0}, 1) / x
		for _, got := range []float64{logarithm(x), sums} {
			if !(math.Abs(got-want) <= 4e-16+5e-16*math.Abs(want)) {
				t.Fatalf("the logarithm of %v is %v, want %v", x, got, want)
			}
		}
	}
	for range 200_000 {
		check(math.Exp(1400*src.Float64() - 700))
		check(1 + 1e-3*src.NormFloat64())
	}
	for _, x := range []float64{1, 2, 0.5, math.MaxFloat64 / 1e3, 0x1p-1022, math.Nextafter(1, 0), math.Nextafter(1, 2)} {
		check(x)
	}
}

func BenchmarkLogarithm(b *testing.B) {
	x := make([]float64, 1024)
	src := rand.New(rand.NewPCG(1, 2))
	for i := range x {
		x[i] = src.Float64() * 3
	}
	var sum float64
	for name, f := range map[string]func(float64) float64{"ours": logarithm, "math": math.Log} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				for _, v := range x {
					sum += f(v)
				}
			}
		})
	}
	_ = sum
}
