package blas_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/parallel"
)

// TestCholesky checks that uᵀu is the matrix, and that Whiten gives u⁻ᵀ·a·u⁻¹. The bytes are equal for any number of
// cores and any values below the diagonals. A matrix that is not positive definite has no factor.
func TestCholesky(t *testing.T) {
	src := rand.New(rand.NewPCG(1, 4))
	for _, n := range []int{1, 2, 48, 49, 230} {
		x := mat.NewDense(2*n, n, nil)
		x.Apply(func(_, _ int, _ float64) float64 { return src.NormFloat64() }, x)
		var r, a mat.Dense
		r.Mul(x.T(), x)
		a.Add(x.Slice(0, n, 0, n), x.Slice(0, n, 0, n).T())
		upper := func(m *mat.Dense) blas.Matrix {
			out := blas.Matrix{Rows: n, Cols: n, Stride: n + 2, Data: slices.Repeat([]float64{math.NaN()}, n*(n+2))}
			for i := range n {
				copy(out.Data[i*out.Stride+i:], m.RawRowView(i)[i:])
			}
			return out
		}
		var first *mat.SymDense
		for _, cores := range []int{1, 3} {
			restore := parallel.SetCores(cores)
			u, ok := blas.Cholesky(upper(&r))
			if !ok {
				t.Fatalf("n=%d: no factor", n)
			}
			c := upper(&a)
			blas.Whiten(c, u)
			restore()
			root, got := mat.NewTriDense(n, mat.Upper, nil), mat.NewSymDense(n, nil)
			for i := range n {
				for j := i; j < n; j++ {
					root.SetTri(i, j, u.Data[i*u.Stride+j])
					got.SetSym(i, j, c.Data[i*c.Stride+j])
				}
			}
			var product, back mat.Dense
			product.Mul(root.T(), root)
			back.Mul(root.T(), got)
			back.Mul(&back, root)
			if !mat.EqualApprox(&product, &r, 1e-11*float64(n)) || !mat.EqualApprox(&back, &a, 1e-11*float64(n)) {
				t.Fatalf("n=%d: Cholesky or Whiten returns a wrong matrix", n)
			}
			if first == nil {
				first = got
			} else if !mat.Equal(first, got) {
				t.Fatalf("n=%d: not the bytes of one core", n)
			}
		}
		r.Set(n-1, n-1, -1)
		if _, ok := blas.Cholesky(upper(&r)); ok {
			t.Errorf("n=%d: got a factor of a matrix that is not positive definite", n)
		}
	}
}
