package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestLoops(t *testing.T) { checkLoops(t) }

// TestLoopsAllocate checks that loops allocate nothing, also if the number of rows is not a multiple of four.
func TestLoopsAllocate(t *testing.T) {
	for _, k := range []int{Width(3), Width(33), Width(50)} {
		a, rows, weights, y, at := make([]float64, k), make([]float64, 7*k), make([]float64, 7), make([]float64, 7), []int{0, 1, 2, 3, 4, 5, 6}
		if n := testing.AllocsPerRun(10, func() {
			AddRows(a, weights, rows, at)
			Dots(y, a, rows, at)
			Ratios(a, a, rows, at, weights, y, 1)
		}); n != 0 {
			t.Errorf("rows of %d numbers: %v allocations", k, n)
		}
	}
}

// checkLoops compares the loops with simple ones, for rows of every length, any number of values including none, and
// repeated rows.
func checkLoops(t *testing.T) {
	t.Helper()
	for seed := range uint64(3000) {
		src := rand.New(rand.NewPCG(seed, 1))
		random := func(n int) []float64 {
			out := make([]float64, n)
			for i := range out {
				if src.IntN(5) > 0 {
					out[i] = src.NormFloat64()
				}
			}
			return out
		}
		k, n, count := src.IntN(45), 1+src.IntN(30), src.IntN(30)
		w := Width(k)
		if w < k || w >= k+4 || w%4 != 0 {
			t.Fatalf("a width of %d for %d numbers", w, k)
		}
		a, rows, weights := random(w), random(n*w), random(count)
		at := make([]int, count)
		for p := range at {
			at[p] = src.IntN(n)
		}

		// One number more than the loop may write.
		got, want := random(count+1), make([]float64, count+1)
		want[count] = got[count]
		for p, i := range at {
			for c := range a {
				want[p] += a[c] * rows[i*w+c]
			}
		}
		Dots(got, a, rows, at)
		near(t, "dots", seed, got, want, 1e-14)

		for _, w := range []int{w, k} { // with and without padding
			sum := random(w + 1)
			want := append([]float64(nil), sum...)
			for p, i := range at {
				for c := range w {
					want[c] += weights[p] * rows[i*w+c]
				}
			}
			AddRows(sum[:w], weights, rows, at)
			near(t, "rows", seed, sum, want, 1e-14)
		}

		const floor = 1e-3
		x, y := random(count), random(count+1)
		want = append([]float64(nil), y...)
		var total float64
		for p := range x {
			x[p] = math.Abs(x[p]) * math.Pow(10, float64(src.IntN(40)-20))
			want[p] = x[p] / max(y[p], floor)
			if x[p] > 0 {
				total += x[p] * math.Log(want[p])
			}
		}
		again := append([]float64(nil), y...)

		// The fused loop of three, with products above the floor.
		for c := range a {
			a[c] = math.Abs(a[c])
		}
		for c := range rows {
			rows[c] = math.Abs(rows[c])
		}
		added, separately := random(w), make([]float64, w)
		copy(separately, added)
		r, each := random(count), make([]float64, count)
		Ratios(added, a, rows, at, x, r, floor)
		Dots(each, a, rows, at)
		Divide(each, x, floor)
		AddRows(separately, each, rows, at)
		near(t, "ratios in one", seed, r, each, 0)
		near(t, "rows in one", seed, added, separately, 0)
		Divide(y[:count], x, floor)
		near(t, "ratios", seed, y, want, 0)
		gotTotal := DivideSum(again[:count], x, floor)
		near(t, "ratios summed", seed, again, want, 0)
		near(t, "sum", seed, []float64{gotTotal}, []float64{total}, 1e-13)
		near(t, "sum of logarithms", seed, []float64{LogSum(again[:count], x)}, []float64{gotTotal}, 0)
	}
}

// TestStep: the vectorised step equals the scalar one, with 0 for values below the floor.
func TestStep(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 4))
	some := []float64{0, 1e-170, 1e-160, 1e-155, 1e-310, 1, 2.5, 1e150, 1e300, math.Inf(1), math.NaN(), -1, math.Copysign(0, -1)}
	for n := range 70 {
		var parts [3][]float64
		for i := range parts {
			parts[i] = make([]float64, n)
			for j := range parts[i] {
				parts[i][j] = r.Float64()
				if r.IntN(3) == 0 {
					parts[i][j] = some[r.IntN(len(some))]
				}
			}
		}
		z, x, y := parts[0], parts[1], parts[2]
		want := make([]float64, n)
		for j, v := range z {
			if to := v * (x[j] / atLeast(y[j], 1e-300)); v > 0 && !(to < 1e-150) {
				want[j] = to
			}
		}
		Step(z, x, y, 1e-300, 1e-150)
		for j := range want {
			if math.IsNaN(want[j]) != math.IsNaN(z[j]) || !math.IsNaN(want[j]) && math.Float64bits(want[j]) != math.Float64bits(z[j]) {
				t.Fatalf("%d of %d is %v, want %v", j, n, z[j], want[j])
			}
		}
	}
}

// TestDivideSumEdges checks that a subnormal or zero ratio does not make the sum infinite, and that NaN stays NaN.
func TestDivideSumEdges(t *testing.T) {
	for n := 1; n <= 9; n++ {
		x, y := make([]float64, n), make([]float64, n)
		for p := range x {
			x[p], y[p] = math.SmallestNonzeroFloat64, 1e100
		}
		if s := DivideSum(y, x, 1e-150); !(math.Abs(s) < 1e-300) {
			t.Errorf("%d values near 0: the sum is %v", n, s)
		}
		y[n-1] = math.NaN()
		if DivideSum(y, x, 1e-150); !math.IsNaN(y[n-1]) {
			t.Errorf("NaN among %d values became %v", n, y[n-1])
		}
	}
}

// TestSweep compares a sweep with a simple loop over the columns, for any k.
func TestSweep(t *testing.T) {
	const columns, tolerance = SweepColumns, 1e-13
	for seed := range uint64(200) {
		src := rand.New(rand.NewPCG(seed, 2))
		k := src.IntN(42)
		random := func(n int) []float64 {
			out := make([]float64, n)
			for i := range out {
				out[i] = src.Float64()
			}
			return out
		}
		v, b, h := random(k*columns), random(k*columns), random(k*k)
		inverse, active, step := make([]float64, k), make([]float64, columns), random(columns)
		for r := range k {
			if h[r*k+r] += float64(k); src.IntN(5) > 0 {
				inverse[r] = 1 / h[r*k+r]
			}
		}
		for i := range b {
			b[i] *= 10 * float64(k) * (src.Float64() - 0.3)
		}
		wantV, wantStep := slices.Clone(v), slices.Clone(step)
		for c := range columns {
			if src.IntN(3) == 0 {
				continue
			}
			active[c] = Active
			for r := range k {
				sum := -b[r*columns+c]
				for s := range k {
					sum += h[r*k+s] * wantV[s*columns+c]
				}
				before := wantV[r*columns+c]
				after := max(0, before-sum*inverse[r])
				wantV[r*columns+c] = after
				wantStep[c] += h[r*k+r] * (after - before) * (after - before)
			}
		}
		Sweep(v, b, h, inverse, active, step)
		near(t, "swept", seed, v, wantV, tolerance)
		near(t, "steps", seed, step, wantStep, 10*tolerance)
	}
}

// BenchmarkSweep times sweeps: each is a product of k×k with k×SweepColumns numbers.
func BenchmarkSweep(b *testing.B) {
	for _, k := range []int{5, 10, 20, 40, 80} {
		v, lin, h, inverse := make([]float64, k*SweepColumns), make([]float64, k*SweepColumns), make([]float64, k*k), make([]float64, k)
		active, step := make([]float64, SweepColumns), make([]float64, SweepColumns)
		for c := range active {
			active[c] = Active
		}
		b.Run(fmt.Sprint(k), func(b *testing.B) {
			for b.Loop() {
				Sweep(v, lin, h, inverse, active, step)
			}
			b.ReportMetric(2e-9*float64(k*k*SweepColumns)*float64(b.N)/b.Elapsed().Seconds(), "GFLOP/s")
		})
	}
}

func near(t *testing.T, what string, seed uint64, got, want []float64, tolerance float64) {
	t.Helper()
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= tolerance*(100+math.Abs(want[i]))) {
			t.Fatalf("seed %d: %s: %d is %v, want %v", seed, what, i, got[i], want[i])
		}
	}
}

// BenchmarkLoops times the loops on the values of one of 1,300 samples.
func BenchmarkLoops(b *testing.B) {
	src := rand.New(rand.NewPCG(1, 1))
	var at []int
	for j := range 3200 {
		if src.Float64() < .15 {
			at = append(at, j)
		}
	}
	x, y := make([]float64, len(at)), make([]float64, len(at))
	for p := range x {
		x[p] = src.Float64()
	}
	run := func(name string, f func()) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(at)), "ns/value")
		})
	}
	for _, k := range []int{5, 18, 40} {
		a, rows := make([]float64, Width(k)), make([]float64, 3200*Width(k))
		for i := range rows {
			rows[i] = src.Float64()
		}
		run(fmt.Sprintf("dots/%d", k), func() { Dots(y, a, rows, at) })
		run(fmt.Sprintf("add-rows/%d", k), func() { clear(a); AddRows(a, x, rows, at) })
	}
	run("divide", func() { Divide(y, x, 1e-150) })
	run("divide-sum", func() { DivideSum(y, x, 1e-150) })
	even := len(at) &^ 7
	run("divide-sum-even", func() { DivideSum(y[:even], x[:even], 1e-150) })
}
