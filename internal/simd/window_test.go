package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// numbers returns n random numbers.
func numbers[T any](n int, draw func() T) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = draw()
	}
	return x
}

// eighths returns multiples of 1/8, whose sums of products are exact.
func eighths(src *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(src.IntN(64)-32) / 8
	}
	return x
}

var windowBounds = [][2]float32{{float32(math.Inf(-1)), float32(math.Inf(1))}, {-10, 6}}

// checkWindows compares Windows with simple sums.
func checkWindows(t *testing.T) {
	tile, most := WindowTile()
	for columns := 1; columns <= most; columns += 5 {
		for windows := 1; windows < 2*tile+3; windows += 3 {
			for _, taps := range []int{1, 3} {
				for _, depth := range []int{1, 7, 32} {
					src := rand.New(rand.NewPCG(uint64(columns), uint64(windows*depth)))
					width, stride, bounds := WholeColumns[float32](columns), columns+src.IntN(3), &windowBounds[depth%2]
					x, w, bias := eighths(src, 100+depth), eighths(src, taps*depth*width), eighths(src, width)
					at := make([]int32, (windows+tile-1)/tile*tile*taps)
					for i := range at {
						at[i] = int32(src.IntN(100))
					}
					got := eighths(src, (windows-1)*stride+columns)
					want := slices.Clone(got)
					for r := range windows {
						for j := range columns {
							sum := bias[j]
							for s := range taps {
								for d := range depth {
									sum += x[int(at[r/tile*tile*taps+s*tile+r%tile])+d] * w[(s*depth+d)*width+j]
								}
							}
							want[r*stride+j] = min(max(sum, bounds[0]), bounds[1])
						}
					}
					Windows(got, stride, columns, x, at, windows, taps, depth, w, bias, bounds)
					if !slices.Equal(got, want) {
						t.Fatalf("%d windows of %d numbers, %d taps of depth %d: got %v, want %v", windows, columns, taps, depth, got, want)
					}
				}
			}
		}
	}
}

// checkDepthwise compares Depthwise with simple sums.
func checkDepthwise(t *testing.T) {
	for channels := 1; channels < 150; channels += 3 {
		src := rand.New(rand.NewPCG(uint64(channels), 1))
		taps, windows, bounds := 1+src.IntN(9), 1+src.IntN(5), &windowBounds[channels%2]
		x, w, bias := eighths(src, 100+channels), eighths(src, taps*channels), eighths(src, channels)
		at := make([]int32, windows*taps)
		for i := range at {
			at[i] = int32(src.IntN(100))
		}
		got := eighths(src, windows*channels+5) // five beyond stay
		want := slices.Clone(got)
		for r := range windows {
			for j := range channels {
				sum := bias[j]
				for s := range taps {
					sum += x[int(at[r*taps+s])+j] * w[s*channels+j]
				}
				want[r*channels+j] = min(max(sum, bounds[0]), bounds[1])
			}
		}
		Depthwise(got, x, at, taps, w, bias, bounds)
		if !slices.Equal(got, want) {
			t.Fatalf("%d windows of %d channels, %d taps: got %v, want %v", windows, channels, taps, got, want)
		}
	}
}

func TestWindows(t *testing.T) {
	if tile, _ := WindowTile(); tile == 0 {
		t.Skip("this processor has no AVX2")
	}
	checkWindows(t)
}

func TestDepthwise(t *testing.T) { checkDepthwise(t) }

// TestWindowRounding checks that a sum starts with its bias and rounds once for each product, in the order of taps and
// depth, on any processor, and that NaN stays NaN.
func TestWindowRounding(t *testing.T) {
	tile, most := WindowTile()
	if tile == 0 {
		t.Skip("this processor has no AVX2")
	}
	src := rand.New(rand.NewPCG(1, 2))
	const taps, depth = 2, 37
	x, w, bias := numbers(taps*depth, src.Float32), numbers(taps*depth*most, src.Float32), numbers(most, src.Float32)
	at := make([]int32, tile*taps)
	for i := range at {
		at[i] = int32(i / tile * depth)
	}
	got := make([]float32, most)
	Windows(got, most, most, x, at, 1, taps, depth, w, bias, &windowBounds[0])
	for j := range got {
		want := bias[j]
		for d, v := range x {
			// Exact in double precision, except for the last rounding and a rare second one.
			want = float32(math.FMA(float64(v), float64(w[d*most+j]), float64(want)))
		}
		if math.Abs(float64(got[j]-want)) > 2e-6*float64(want) {
			t.Errorf("number %d is %v, want %v", j, got[j], want)
		}
	}
	x[3] = float32(math.NaN())
	Windows(got, most, most, x, at, 1, taps, depth, w, bias, &windowBounds[1])
	Depthwise(got[:1], x[3:], []int32{0}, 1, []float32{1}, []float32{0}, &windowBounds[1])
	if !math.IsNaN(float64(got[0])) || !math.IsNaN(float64(got[most-1])) {
		t.Errorf("of no numbers came %v", got)
	}
}

func BenchmarkWindows(b *testing.B) {
	tile, most := WindowTile()
	if tile == 0 {
		b.Skip("this processor has no AVX2")
	}
	for _, depth := range []int{32, 240, 1152} {
		b.Run(fmt.Sprint(depth), func(b *testing.B) {
			const windows = 96
			x, w, bias, c := make([]float32, windows*depth), make([]float32, depth*most), make([]float32, most), make([]float32, windows*most)
			at := make([]int32, windows)
			for i := range at {
				at[i] = int32(i * depth)
			}
			for b.Loop() {
				Windows(c, most, most, x, at, windows, 1, depth, w, bias, &windowBounds[0])
			}
			b.ReportMetric(float64(windows*depth*most)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GMAC/s")
		})
	}
}
