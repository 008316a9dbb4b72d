package blas_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/gonum"

	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/parallel"
)

// TestMultiplyUpper compares with gonum for every size and layout, and checks that the bytes are equal on any number
// of cores and that only c is written.
func TestMultiplyUpper(t *testing.T) {
	src := rand.New(rand.NewPCG(1, 3))
	for at, s := range [][2]int{{1, 1}, {5, 300}, {48, 20}, {150, 520}, {401, 90}} {
		n, k := s[0], s[1]
		for layout := range 4 {
			operand := func(rows, columns int, transposed bool) (blas.Transpose, blas.Matrix) {
				how := blas.NoTrans
				if transposed {
					rows, columns, how = columns, rows, blas.Trans
				}
				x := blas.Matrix{Rows: rows, Cols: columns, Stride: columns + 3, Data: make([]float64, rows*(columns+3))}
				for i := range x.Data {
					x.Data[i] = src.NormFloat64()
				}
				return how, x
			}
			tA, a := operand(n, k, layout&1 > 0)
			tB, b := operand(k, n, layout&2 > 0)
			_, c := operand(n, n, false)
			alpha, beta := []float64{1, -1}[layout%2], []float64{0, 1, 0.5}[(at+layout)%3]
			want := slices.Clone(c.Data)
			gonum.Implementation{}.Dgemm(tA, tB, n, n, k, alpha, a.Data, a.Stride, b.Data, b.Stride, beta, want, c.Stride)
			var first []float64
			for _, cores := range []int{1, 2, 3} {
				restore := parallel.SetCores(cores)
				got := c
				got.Data = slices.Clone(c.Data)
				err := blas.MultiplyUpper(context.Background(), tA, tB, alpha, a, b, beta, got)
				restore()
				if first == nil {
					first = got.Data
				}
				name := fmt.Sprintf("%d×%d×%d, layout %d, %d cores", n, n, k, layout, cores)
				if err != nil || !slices.Equal(first, got.Data) {
					t.Fatalf("%s: %v, or not the bytes of one core", name, err)
				}
				for i, x := range got.Data {
					row, column := i/c.Stride, i%c.Stride
					if column >= row && !(math.Abs(x-want[i]) <= 1e-12*float64(k)) || column >= n && x != c.Data[i] {
						t.Fatalf("%s: number %d is %v, want %v", name, i, x, want[i])
					}
				}
			}
		}
	}
	ended, end := context.WithCancel(context.Background())
	end()
	x := blas.Matrix{Rows: 2, Cols: 2, Stride: 2, Data: make([]float64, 4)}
	if err := blas.MultiplyUpper(ended, blas.NoTrans, blas.Trans, 1, x, x, 0, blas.Matrix{Rows: 2, Cols: 2, Stride: 2, Data: make([]float64, 4)}); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}
