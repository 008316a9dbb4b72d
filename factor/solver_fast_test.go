package factor

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestMinimiseRows: swept until nothing moves, the columns fulfil the conditions of
// their minima, whatever the shape, with variables that matter nothing and copies of
// others.
func TestMinimiseRows(t *testing.T) {
	for seed := range uint64(60) {
		src := rand.New(rand.NewPCG(seed, 4))
		k, p, m := 1+src.IntN(12), 1+src.IntN(100), 20
		random := func(r, c int) *mat.Dense {
			out := mat.NewDense(r, c, nil)
			out.Apply(func(int, int, float64) float64 { return src.Float64() - 0.3 }, out)
			return out
		}
		a, x := random(k, m+k), random(p, m+k)
		if k > 2 {
			clear(a.RawRowView(0))
			copy(a.RawRowView(1), a.RawRowView(2))
		}
		h, b, theta := selfGram(a), mat.NewDense(k, p, nil), random(k, p)
		gemm(b, a, noTrans, x, trans)
		var d descentRows
		for range 300 {
			d.minimise(theta, theta, b, h, mostSweeps)
		}
		gradient := like(b)
		gemm(gradient, h, noTrans, theta, noTrans)
		gradient.Sub(gradient, b)
		for r := range k {
			for i, g := range gradient.RawRowView(r) {
				if x := theta.At(r, i); x < 0 || g < -1e-6 || x*g > 1e-6 {
					t.Fatalf("seed %d, %d×%d: variable %d of column %d is %v with the gradient %v", seed, k, p, r, i, x, g)
				}
			}
		}
	}
}
