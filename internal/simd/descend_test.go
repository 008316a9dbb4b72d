package simd

import (
	"math"
	"math/rand/v2"
	"testing"
)

func random32(src *rand.Rand, n int) []float32 {
	out := make([]float32, n)
	for i := range out {
		if src.IntN(5) > 0 {
			out[i] = src.Float32()
		}
	}
	return out
}

// TestDescend compares the steps with double precision, also for columns without values and for any number of
// segments.
func TestDescend(t *testing.T) {
	for seed := range uint64(400) {
		src := rand.New(rand.NewPCG(seed, 2))
		n, k := Lanes32*(1+src.IntN(20)), 1+src.IntN(8)
		if seed%10 == 0 {
			n = segment*(1+src.IntN(2)) + Lanes32*src.IntN(3)
		}
		stride := n + src.IntN(3)
		x, u, y := random32(src, n), random32(src, k*stride), make([]float32, n+1)
		if seed%20 == 1 {
			clear(x)
		}
		z := make([]float64, k)
		for r := range z {
			z[r] = 20 * src.Float64() * float64(n) / float64(k) // slopes are of either sign
			for j := range n {
				y[j] += float32(z[r]) * u[r*stride+j]
			}
		}
		y[n] = 7 // one number more than is written
		const floor = 1e-3
		want, exact := append([]float64(nil), z...), make([]float64, n)
		for j := range exact {
			exact[j] = float64(y[j])
		}
		for r, old := range want {
			var a, h float64
			for j, v := range exact {
				b := float64(u[r*stride+j]) / max(v, least32)
				a += float64(x[j]) * b
				h += float64(x[j]) * b * b
			}
			if want[r] = max(floor, old/10); h > 0 {
				want[r] = max(want[r], old+(a-1)*a/h)
			}
			for j := range exact {
				exact[j] += (want[r] - old) * float64(u[r*stride+j])
			}
		}
		Descend(z, y[:n], x, u, stride, floor)
		for r := range z {
			if !(math.Abs(z[r]-want[r]) < 1e-3*want[r]) {
				t.Fatalf("seed %d, %d values: entry %d of %d is %v, want %v", seed, n, r, k, z[r], want[r])
			}
		}
		if y[n] != 7 {
			t.Fatalf("seed %d: more than %d values are written", seed, n)
		}
	}
}

func TestGather(t *testing.T) {
	for seed := range uint64(300) {
		src := rand.New(rand.NewPCG(seed, 3))
		n, w, count := 1+src.IntN(20), Width(src.IntN(40)), Lanes32*src.IntN(6)
		rows, z, at := random32(src, n*w), random32(src, w), make([]int, count)
		for p := range at {
			at[p] = src.IntN(n)
		}
		stride := count + src.IntN(3)
		u, y := make([]float32, w*stride), random32(src, count+1)
		last := y[count]
		Gather(u, stride, y, z, rows, at)
		for p, i := range at {
			var want float64
			for r := range w {
				v := rows[i*w+r]
				if want += float64(z[r]) * float64(v); u[r*stride+p] != v {
					t.Fatalf("seed %d: entry %d of row %d is %v, want %v", seed, r, p, u[r*stride+p], v)
				}
			}
			if math.Abs(float64(y[p])-want) > 1e-5*want {
				t.Fatalf("seed %d: product %d is %v, want %v", seed, p, y[p], want)
			}
		}
		for r := range w {
			for p := count; p < stride; p++ {
				if u[r*stride+p] != 0 {
					t.Fatalf("seed %d: more than %d values are written", seed, count)
				}
			}
		}
		if y[count] != last {
			t.Fatalf("seed %d: more than %d products are written", seed, count)
		}
	}
}

func BenchmarkDescend(b *testing.B) {
	const n, k = 1024, 20
	src := rand.New(rand.NewPCG(1, 1))
	x, u, y := random32(src, n), random32(src, k*n), random32(src, n)
	z := make([]float64, k)
	for b.Loop() {
		for j := range y {
			y[j] = n
		}
		for r := range z {
			z[r] = n
		}
		Descend(z, y, x, u, n, 1e-3)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n/k, "ns/value")
}
