//go:build !native

package blas

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"

	"github.com/seed4492f2cd/partwise/internal/simd"
)

// TestInnerProducts: for whole tiles and parts of them, whatever c held before, and nothing beside it.
func TestInnerProducts(t *testing.T) {
	if !simd.HasTile() {
		t.Skip("this processor has no AVX2")
	}
	src := rand.New(rand.NewPCG(5, 1))
	for _, shape := range [][3]int{{1, 64, 256}, {5, 66, 1000}, {20, 83, 784}, {18, 97, 300}, {48, 195, 1024}} {
		m, n, k := shape[0], shape[1], shape[2]
		lda, ldb, ldc := k+src.IntN(3), k+src.IntN(3), n+1+src.IntN(3)
		a, b, c := normals[float32](src, m*lda), normals[float32](src, n*ldb), make([]float32, m*ldc)
		for i := range c {
			c[i] = float32(math.NaN())
		}
		tiled{}.Sgemm(blas.NoTrans, blas.Trans, m, n, k, 1, a, lda, b, ldb, 0, c, ldc)
		for i := range m {
			for j, got := range c[i*ldc:][:ldc] {
				want := math.NaN()
				if j < n {
					want = 0
					for d, x := range a[i*lda:][:k] {
						want += float64(x) * float64(b[j*ldb+d])
					}
				}
				if j < n && !(math.Abs(float64(got)-want) <= 1e-6*float64(k)) || j >= n && got == got {
					t.Fatalf("%d×%d×%d: row %d, column %d is %v, want %v", m, n, k, i, j, got, want)
				}
			}
		}
	}
}
