package simd

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"testing"
)

// levels runs f with each kind of assembly that this processor has, and without any.
func levels(t *testing.T, f func(level string)) {
	t.Helper()
	if !fast {
		t.Skip("this processor has no AVX2")
	}
	defer func(f, w bool) { setLevel(f, w) }(fast, wide)
	if wide {
		f("AVX-512")
	}
	setLevel(true, false)
	f("AVX2")
	setLevel(false, false)
	f("plain")
}

func setLevel(f, w bool) {
	fast, wide = f, w
	tileRows = rowsOfTile()
}

// TestSameBytes checks that every loop gives the same bytes with AVX-512, with AVX2 and in Go.
func TestSameBytes(t *testing.T) {
	digests := map[string]uint64{}
	levels(t, func(level string) {
		for name, kernel := range sameBytes {
			for seed := range uint64(60) {
				sum := fnv.New64a()
				kernel(rand.New(rand.NewPCG(seed, 9)), func(values ...any) {
					for _, v := range values {
						binary.Write(sum, binary.LittleEndian, v)
					}
				})
				key := fmt.Sprint(name, ", problem ", seed)
				if want, ok := digests[key]; ok && want != sum.Sum64() {
					t.Errorf("%s: other bytes by %s", key, level)
				}
				digests[key] = sum.Sum64()
			}
		}
	})
}

// drawn returns n numbers of all magnitudes, including 0 and the smallest.
func drawn[T Number](src *rand.Rand, n int) []T {
	x := make([]T, n)
	for i := range x {
		switch src.IntN(12) {
		case 0:
		case 1:
			x[i] = T(math.Ldexp(src.Float64(), -140))
		default:
			x[i] = T(src.NormFloat64() * math.Pow(10, src.NormFloat64()))
		}
	}
	return x
}

func positive(x []float64) []float64 {
	for i, v := range x {
		x[i] = math.Abs(v)
	}
	return x
}

func places(src *rand.Rand, count, n int) []int {
	at := make([]int, count)
	for p := range at {
		at[p] = src.IntN(n)
	}
	return at
}

func tileBytes[T Number](src *rand.Rand, write func(...any)) {
	depth, rows, columns := 1+src.IntN(70), 1+src.IntN(4), 1+src.IntN(12)
	stride, aRow, bDepth := columns+src.IntN(3), depth+src.IntN(3), MostTileColumns
	a, b, c := drawn[T](src, rows*aRow), drawn[T](src, depth*bDepth), drawn[T](src, rows*stride)
	Tile(src.IntN(2) == 0, c, stride, a, aRow, 1, b, bDepth, depth, rows, columns)
	write(c)
}

var sameBytes = map[string]func(src *rand.Rand, write func(...any)){
	"Tile":   tileBytes[float64],
	"Tile32": tileBytes[float32],
	"Dots and AddRows": func(src *rand.Rand, write func(...any)) {
		w, n, count := Width(src.IntN(45)), 1+src.IntN(30), src.IntN(30)
		a, rows, at, dst := drawn[float64](src, w), drawn[float64](src, n*w), places(src, count, n), make([]float64, count)
		Dots(dst, a, rows, at)
		AddRows(a, dst, rows, at)
		write(dst, a)
	},
	"SymmetricRows": func(src *rand.Rand, write func(...any)) {
		w := Width(1 + src.IntN(45))
		stride := w + src.IntN(3)
		x, y, rows := drawn[float64](src, w), drawn[float64](src, w), drawn[float64](src, 4*stride)
		SymmetricRows(y, x, rows, stride)
		write(y)
	},
	"Divide, Step and LogSum": func(src *rand.Rand, write func(...any)) {
		n := src.IntN(100)
		z, x, y := positive(drawn[float64](src, n)), positive(drawn[float64](src, n)), positive(drawn[float64](src, n))
		Step(z, x, y, 1e-30, 1e-40)
		sum := DivideSum(y, x, 1e-20)
		write(z, y, sum)
	},
	"Sweep": func(src *rand.Rand, write func(...any)) {
		k := src.IntN(12)
		v, b, h := positive(drawn[float64](src, k*SweepColumns)), drawn[float64](src, k*SweepColumns), drawn[float64](src, k*k)
		inverse, active, step := make([]float64, k), make([]float64, SweepColumns), drawn[float64](src, SweepColumns)
		for r := range k {
			h[r*k+r] = 1 + math.Abs(h[r*k+r])
			inverse[r] = 1 / h[r*k+r]
		}
		for c := range active {
			if src.IntN(4) > 0 {
				active[c] = Active
			}
		}
		Sweep(v, b, h, inverse, active, step)
		write(v, step)
	},
	"Gather and Descend": func(src *rand.Rand, write func(...any)) {
		k, count, n := 4*(1+src.IntN(5)), 8*(1+src.IntN(200)), 1+src.IntN(30)
		unit := func(n int) []float32 {
			x := make([]float32, n)
			for i := range x {
				x[i] = src.Float32()
			}
			return x
		}
		stride := count + 8*src.IntN(2)
		u, y, z32, rows := make([]float32, k*stride), make([]float32, 3*count), unit(k), unit(n*k)
		x, z := unit(3*count), make([]float64, 3*k)
		at := places(src, count, n)
		for c := range 3 {
			Gather(u, stride, y[c*count:][:count], z32, rows, at)
			for r, v := range z32 {
				z[c*k+r] = float64(v)
			}
		}
		for c := range 3 {
			Descend(z[c*k:][:k], y[c*count:][:count], x[c*count:][:count], u, stride, 1e-12)
		}
		write(z, y)
	},
	"Windows": func(src *rand.Rand, write func(...any)) {
		windows, taps, depth, columns := 1+src.IntN(20), 1+src.IntN(5), 1+src.IntN(12), 1+src.IntN(24)
		x := drawn[float32](src, 200)
		runs, weights, biases := places(src, windows*taps, 188), drawn[float32](src, taps*depth*columns), drawn[float32](src, columns)
		width := WholeColumns[float32](columns)
		w, bias := make([]float32, taps*depth*width), make([]float32, width)
		copy(bias, biases)
		for d := range taps * depth {
			copy(w[d*width:], weights[d*columns:][:columns])
		}
		at := make([]int32, (windows+tileRows-1)/tileRows*tileRows*taps)
		for r := range windows {
			for t := range taps {
				at[r/tileRows*tileRows*taps+t*tileRows+r%tileRows] = int32(runs[r*taps+t])
			}
		}
		c := make([]float32, windows*columns)
		Windows(c, columns, columns, x, at, windows, taps, depth, w, bias, &[2]float32{0, 6})
		write(c)
	},
	"Depthwise": func(src *rand.Rand, write func(...any)) {
		windows, taps, channels := 1+src.IntN(9), 1+src.IntN(9), 1+src.IntN(150)
		x := drawn[float32](src, 300)
		at := make([]int32, windows*taps)
		for i := range at {
			at[i] = int32(src.IntN(150))
		}
		c := make([]float32, windows*channels)
		Depthwise(c, x, at, taps, drawn[float32](src, taps*channels), drawn[float32](src, channels), &[2]float32{-1, 6})
		write(c)
	},
}

// TestFusedSingle checks that fma32 rounds once, like the sum with many digits.
func TestFusedSingle(t *testing.T) {
	src := rand.New(rand.NewPCG(3, 4))
	for range 2_000_000 {
		x, y := math.Float32frombits(src.Uint32()), math.Float32frombits(src.Uint32())
		z := math.Float32frombits(math.Float32bits(x*y)&^(1<<uint(src.IntN(24))-1) + uint32(src.IntN(3)) - 1)
		if src.IntN(2) == 0 {
			z = math.Float32frombits(src.Uint32())
		}
		got, want := fma32(x, y, z), exactSingle(x, y, z)
		if math.Float32bits(got) != math.Float32bits(want) && !(got != got && want != want) {
			t.Fatalf("%v·%v + %v is %v, want %v", x, y, z, got, want)
		}
	}
}

// exactSingle uses the instruction of the processor.
func exactSingle(x, y, z float32) float32 {
	bounds := [2]float32{float32(math.Inf(-1)), float32(math.Inf(1))}
	var a, w [16]float32
	a[0], w[0] = x, y
	var bias [16]float32
	bias[0] = z
	var c [16]float32
	Depthwise(c[:], a[:], []int32{0}, 1, w[:], bias[:], &bounds)
	return c[0]
}
