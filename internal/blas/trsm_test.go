package blas_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"

	ours "github.com/seed4492f2cd/partwise/internal/blas"
)

// TestTrsm compares blocked triangular solves, transposed or not, with gonum.
func TestTrsm(t *testing.T) {
	src := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 48, 49, 130} {
		for _, how := range []ours.Transpose{ours.NoTrans, ours.Trans} {
			a := blas64.Triangular{N: n, Stride: n + 2, Uplo: blas.Upper, Diag: blas.NonUnit, Data: make([]float64, n*(n+2))}
			for i := range a.Data {
				a.Data[i] = src.NormFloat64() / float64(n)
			}
			for i := range n {
				a.Data[i*a.Stride+i] = 1 + src.Float64()
			}
			b := ours.Matrix{Rows: n, Cols: 20, Stride: 23, Data: make([]float64, n*23)}
			for i := range b.Data {
				b.Data[i] = src.NormFloat64()
			}
			want := slices.Clone(b.Data)
			gonum.Implementation{}.Dtrsm(blas.Left, a.Uplo, how, a.Diag, b.Rows, b.Cols, 1, a.Data, a.Stride, want, b.Stride)
			ours.Trsm(how, a, b)
			for i, x := range want {
				if !(math.Abs(b.Data[i]-x) <= 1e-12) {
					t.Fatalf("n=%d, %c: number %d is %v, want %v", n, how, i, b.Data[i], x)
				}
			}
		}
	}
}
