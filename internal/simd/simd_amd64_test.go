package simd

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestLoopsWithoutAssembly: as on a processor that has no AVX2.
func TestLoopsWithoutAssembly(t *testing.T) {
	defer func(f, w bool) { fast, wide = f, w }(fast, wide)
	fast, wide = false, false
	checkLoops(t)
	checkSweep(t)
	checkBounds(t)
	checkNearest(t)
	checkCentres(t)
	checkAddBoth(t)
	TestPoles(t)
	TestDivideSumEdges(t)
	TestDescend(t)
	TestGather(t)
	checkDepthwise(t)
	checkSingle(t)
	TestLogarithm32(t)
}

// TestSweepWidth: registers of any width give the same bytes.
func TestSweepWidth(t *testing.T) {
	testSweepWidth(t, SweepColumns, Active, Sweep)
	testSweepWidth(t, SweepColumns32, Active32, Sweep32)
}

func testSweepWidth[T float32 | float64](t *testing.T, columns int, moves T, sweep func(v, b, h, inverse, active, step []T)) {
	if !wide {
		t.Skip("this processor has no AVX-512")
	}
	defer func() { wide = true }()
	for _, k := range []int{1, 2, 7, 40} {
		src := rand.New(rand.NewPCG(1, uint64(k)))
		draw := func(n int) []T { return numbers(n, func() T { return T(src.NormFloat64()) }) }
		v, b, h, inverse, active := draw(k*columns), draw(k*columns), draw(k*k), draw(k), draw(columns)
		for c := range active {
			if active[c] = moves; c%3 == 0 {
				active[c] = 0
			}
		}
		var got [2][]T
		for i := range got {
			wide = i == 0
			moved, step := slices.Clone(v), make([]T, columns)
			sweep(moved, b, h, inverse, active, step)
			got[i] = append(moved, step...)
		}
		if !slices.Equal(got[0], got[1]) || slices.Equal(got[0][:len(v)], v) {
			t.Errorf("k = %d: other numbers, or nothing moved", k)
		}
	}
}

// TestDivideSumWidth: registers of any width give the same bytes.
func TestDivideSumWidth(t *testing.T) {
	if !wide {
		t.Skip("this processor has no AVX-512")
	}
	defer func() { wide = true }()
	for n := 1; n < 100; n++ {
		src := rand.New(rand.NewPCG(1, uint64(n)))
		x, y := numbers(n, func() float64 { return max(src.NormFloat64(), 0) * math.Pow(10, 40*src.NormFloat64()) }), numbers(n, src.NormFloat64)
		var got [2][]float64
		for i := range got {
			wide = i == 0
			ratios := slices.Clone(y)
			got[i] = append(ratios, DivideSum(ratios, x, 1e-3))
		}
		if !slices.Equal(got[0], got[1]) || math.IsNaN(got[0][n]) {
			t.Errorf("%d values: the sum is %v, and %v in narrow registers", n, got[0][n], got[1][n])
		}
	}
}

// TestAddBothWidth: registers of any width give the same bytes.
func TestAddBothWidth(t *testing.T) {
	if !wide {
		t.Skip("this processor has no AVX-512")
	}
	defer func() { wide = true }()
	for n := StripRows; n < 200; n += StripRows {
		d := drawRows(rand.New(rand.NewPCG(1, uint64(n))), n)
		var got [2][]float64
		for i := range got {
			wide = i == 0
			y := slices.Clone(d.y)
			AddBoth(y[:n], d.x, d.a, d.stride, &d.weights, &d.products)
			got[i] = append(y, d.products[:]...)
		}
		if !slices.Equal(got[0], got[1]) {
			t.Errorf("%d columns: other bytes", n)
		}
	}
}

// TestRowsWidth: registers of any width give the same bytes, of rows of every length.
func TestRowsWidth(t *testing.T) {
	if !wide {
		t.Skip("this processor has no AVX-512")
	}
	defer func() { wide = true }()
	for seed := range uint64(2000) {
		src := rand.New(rand.NewPCG(seed, 9))
		k, n, count := 1+src.IntN(60), 1+src.IntN(30), src.IntN(40)
		at, x := make([]int, count), numbers(count, src.Float64)
		for p := range at {
			at[p] = src.IntN(n)
		}
		given := numbers((n+2)*k, src.Float64)
		var got [2][]float64
		for i := range got {
			wide = i == 0
			w := Width(k)
			row := func(j int) []float64 { return append(slices.Clone(given[j*k:][:k]), make([]float64, w-k)...) }
			var rows []float64
			for j := range n {
				rows = append(rows, row(j)...)
			}
			a, sum, ratios, dots := row(n), row(n+1), make([]float64, count), make([]float64, count)
			Ratios(sum, a, rows, at, x, ratios, 1e-3)
			Dots(dots, a, rows, at)
			AddRows(sum, x, rows, at)
			got[i] = slices.Concat(sum[:k], ratios, dots, []float64{LogSum(ratios, x)})
		}
		if !slices.Equal(got[0], got[1]) {
			t.Fatalf("seed %d: k = %d, %d values of %d rows: other bytes", seed, k, count, n)
		}
	}
}
