package simd

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSingle(t *testing.T) { checkSingle(t) }

// checkSingle: what is in single precision is what double precision has, nearly.
func checkSingle(t *testing.T) {
	t.Helper()
	for n := range 70 {
		src := rand.New(rand.NewPCG(uint64(n), 3))
		wide := numbers(n, func() float64 { return src.NormFloat64() * math.Exp2(float64(src.IntN(140)-100)) })
		most := 0.0
		for _, x := range wide {
			most = max(most, math.Abs(x))
		}
		if got := Largest(wide); got != most {
			t.Fatalf("the largest of %v is %v", wide, got)
		}
		const scale = 0x1p3
		narrow := make([]float32, n+1)
		ToSingle(narrow[:n], wide, scale)
		for i, x := range wide {
			want := float32(x * scale)
			if math.Abs(x*scale) < Least32 {
				want = 0
			}
			if narrow[i] != want {
				t.Fatalf("%v becomes %v, want %v", x*scale, narrow[i], want)
			}
		}
		back := make([]float64, n+1)
		ToDouble(back[:n], narrow[:n], 1/scale)
		for i, x := range narrow[:n] {
			if want := float64(x) / scale; back[i] != want {
				t.Fatalf("%v becomes %v, want %v", x, back[i], want)
			}
		}
		if narrow[n] != 0 || back[n] != 0 {
			t.Fatalf("more than %d numbers are written", n)
		}

		const floor = 1e-3
		x, y := numbers(n, func() float32 { return max(0, float32(src.NormFloat64())) }), numbers(n+1, func() float32 { return float32(src.NormFloat64()) })
		ratios, want, sum := slices.Clone(y), slices.Clone(y), 0.0
		for i, x := range x {
			want[i] = x / max(y[i], floor)
			if x > 0 {
				sum += float64(x) * math.Log(float64(want[i]))
			}
		}
		Divide32(ratios[:n], x, floor)
		if !slices.Equal(ratios, want) {
			t.Fatalf("the ratios are %v, want %v", ratios, want)
		}
		got := DivideSum32(y[:n], x, floor)
		if !slices.Equal(y, want) || !(math.Abs(got-sum) <= 1e-6*(1+math.Abs(sum))) {
			t.Fatalf("the sum is %v of ratios %v, want %v of %v", got, y, sum, want)
		}
	}
}

// TestLogarithm32: alone, and in DivideSum32.
func TestLogarithm32(t *testing.T) {
	src := rand.New(rand.NewPCG(1, 2))
	check := func(x float32) {
		want := math.Log(float64(x))
		y := []float32{1, 1, 1, 1, 1, 1, 1, 1}
		sums := DivideSum32(y, []float32{x, 0, 0, 0, 0, 0, 0, 0}, 1) / float64(x)
		for _, got := range []float64{float64(logarithm32(x)), sums} {
			if !(math.Abs(got-want) <= 2e-7*math.Abs(want)) {
				t.Fatalf("the logarithm of %v is %v, want %v", x, got, want)
			}
		}
	}
	for range 200_000 {
		check(float32(math.Exp(160*src.Float64() - 80)))
		check(float32(1 + 1e-2*src.NormFloat64()))
	}
	for _, x := range []float32{1, 2, 0.5, math.MaxFloat32 / 1e4, 0x1p-126, math.Nextafter32(1, 0), math.Nextafter32(1, 2)} {
		check(x)
	}
}
