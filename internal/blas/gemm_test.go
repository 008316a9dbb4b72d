package blas

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed4492f2cd/partwise/internal/simd"
)

// TestProduct checks that for any shape, layout and precision, each entry is to the last bit the sum in the order of
// the depth, in blocks of 256 terms.
func TestProduct(t *testing.T) {
	for seed := range uint64(200) {
		testProduct[float64](t, seed)
		testProduct[float32](t, seed)
	}
}

func testProduct[T Number](t *testing.T, seed uint64) {
	src := rand.New(rand.NewPCG(seed, 1))
	most := 60
	if seed%20 == 0 {
		most = 300
	}
	m, n, k := src.IntN(most), src.IntN(most), src.IntN(most)
	if seed%40 == 0 {
		n, m = n+packColumns, min(m, 30)
	}
	matrix := func(r, c int) Of[T] {
		x := Of[T]{Rows: r, Cols: c, Stride: c + src.IntN(3)}
		x.Data = make([]T, r*x.Stride)
		for i := range x.Data {
			x.Data[i] = T(src.NormFloat64())
		}
		return x
	}
	factor := func(r, c int) operand[T] {
		if src.IntN(2) == 0 {
			return operand[T]{Trans, matrix(c, r)}
		}
		return operand[T]{NoTrans, matrix(r, c)}
	}
	a, b, c := factor(m, k), factor(k, n), matrix(m, n)
	alpha, beta := []T{1, -2, 0}[src.IntN(3)], []T{0, 1, 0.5}[src.IntN(3)]
	if beta == 0 && m*n > 0 {
		c.Data[0] = T(math.NaN())
	}
	want := slices.Clone(c.Data)
	value := func(o operand[T], i, j int) T {
		if o.t != NoTrans {
			i, j = j, i
		}
		return o.x.Data[i*o.x.Stride+j]
	}
	for i := range m {
		for j := range n {
			to := &want[i*c.Stride+j]
			if beta == 0 {
				*to = 0
			} else {
				*to *= beta
			}
			for d := 0; d < k && alpha != 0; d += packDepth {
				var sum T
				for at := d; at < min(d+packDepth, k); at++ {
					sum = fused(alpha*value(a, i, at), value(b, at, j), sum)
				}
				*to += sum
			}
		}
	}
	gemm(a, b, alpha, beta, c)
	if !slices.Equal(c.Data, want) {
		t.Fatalf("%T, seed %d: %d×%d×%d, alpha %v, beta %v: other bytes", alpha, seed, m, n, k, alpha, beta)
	}
}

// fused returns x·y + z, rounded once.
func fused[T Number](x, y, z T) T {
	if single, ok := any(x).(float32); ok {
		to := make([]float32, 1)
		simd.Depthwise(to, []float32{single}, []int32{0}, 1, []float32{float32(y)}, []float32{float32(z)}, &[2]float32{float32(math.Inf(-1)), float32(math.Inf(1))})
		return T(to[0])
	}
	return T(math.FMA(float64(x), float64(y), float64(z)))
}
