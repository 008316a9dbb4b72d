package simd

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestAddBoth compares both products with plain loops, and checks that only y is written.
func TestAddBoth(t *testing.T) { checkAddBoth(t) }

// rowsAndVectors returns arguments of AddBoth, with n columns and one more entry in y.
type rowsAndVectors struct {
	stride            int
	a, x, y           []float64
	weights, products [StripRows]float64
}

func drawRows(src *rand.Rand, n int) rowsAndVectors {
	draw := func(n int) []float64 { return numbers(n, func() float64 { return src.Float64() - 0.5 }) }
	stride := n + src.IntN(5)
	return rowsAndVectors{stride: stride, a: draw((StripRows-1)*stride + n), x: draw(n), y: draw(n + 1), weights: [StripRows]float64(draw(StripRows))}
}

func checkAddBoth(t *testing.T) {
	t.Helper()
	src := rand.New(rand.NewPCG(1, 5))
	for n := 0; n < 80; n += StripRows {
		d := drawRows(src, n)
		wantY, want := append([]float64(nil), d.y...), [StripRows]float64{}
		for r, w := range d.weights {
			for c, v := range d.a[r*d.stride:][:n] {
				wantY[c] += w * v
				want[r] += v * d.x[c]
			}
		}
		AddBoth(d.y[:n], d.x, d.a, d.stride, &d.weights, &d.products)
		for c, want := range wantY {
			if math.Abs(d.y[c]-want) > 1e-14 {
				t.Fatalf("%d columns: y[%d] is %v, want %v", n, c, d.y[c], want)
			}
		}
		for r, want := range want {
			if math.Abs(d.products[r]-want) > 1e-13 {
				t.Fatalf("%d columns: product %d is %v, want %v", n, r, d.products[r], want)
			}
		}
	}
}
