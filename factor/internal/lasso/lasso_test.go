package lasso

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/testkit"
)

// TestLassoFromAnywhere checks that the start has no effect if the minimum is unique.
func TestLassoFromAnywhere(t *testing.T) {
	src := rand.New(rand.NewPCG(1, 19))
	for range 100 {
		k := 1 + src.IntN(12)
		b := mat.NewDense(k, 20, nil)
		b.Apply(func(int, int, float64) float64 { return src.NormFloat64() }, b)
		c, s, from := make([]float64, k), make([]float64, k), make([]float64, k)
		for j := range k {
			c[j], from[j] = 3*src.NormFloat64(), 10*src.NormFloat64()
		}
		New(b, 2).Solve(s, c)
		New(b, 2).Solve(from, c)
		testkit.Near(t, "values", mat.NewVecDense(k, from), mat.NewVecDense(k, s), 1e-12)
	}
}
