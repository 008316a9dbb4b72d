package algebra

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestGram compares the inner products of pairs with a matrix product, for any shape.
func TestGram(t *testing.T) {
	for _, k := range []int{1, 2, 3, 4, 5, 11, mostGramRows, mostGramRows + 1} {
		for _, m := range []int{1, 4, 7, 64, 1024, mostGramNumbers/k/4*4 + 4} {
			src := rand.New(rand.NewPCG(1, 1))
			a := mat.NewDense(k, m, nil)
			a.Apply(func(int, int, float64) float64 { return src.Float64() }, a)
			got := SelfGram(a)
			other, want := Padded(k, m), mat.NewDense(k, k, nil)
			other.Mul(got, a) // with which the product is symmetric too
			want.Mul(got, got)
			if got := CrossGram(other, a); !mat.EqualApprox(got, want, 1e-12*mat.Max(want)) {
				t.Errorf("%d×%d: the product of two is %v, want %v", k, m, got, want)
			}
			for r := range k {
				for c := range k {
					var want float64
					for j := range m {
						want += a.At(r, j) * a.At(c, j)
					}
					if math.Abs(got.At(r, c)-want) > 1e-12*want {
						t.Fatalf("%d×%d: (%d, %d) is %v, want %v", k, m, r, c, got.At(r, c), want)
					}
				}
			}
		}
	}
}
