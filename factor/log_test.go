package factor

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestLogarithm(t *testing.T) {
	src := rand.New(rand.NewPCG(1, 2))
	check := func(x float64) {
		got, want := logarithm(x), math.Log(x)
		if !(math.Abs(got-want) <= 4e-16+3e-16*math.Abs(want)) {
			t.Fatalf("logarithm(%v) = %v, want %v", x, got, want)
		}
	}
	for range 200_000 {
		check(math.Exp(1400*src.Float64() - 700))
		check(1 + 1e-3*src.NormFloat64())
	}
	for _, x := range []float64{1, 2, 0.5, math.MaxFloat64, math.SmallestNonzeroFloat64, 0x1p-1022, math.Nextafter(1, 0), math.Nextafter(1, 2)} {
		check(x)
	}
	if !math.IsInf(logarithm(0), -1) || !math.IsNaN(logarithm(-1)) {
		t.Error("of 0 and of less it is not what math.Log says")
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
