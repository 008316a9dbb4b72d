package blas_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/gonum"

	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/testkit"
)

// TestCores checks that large products of every shape and layout have the same bytes on any number of cores, and agree
// with gonum.
func TestCores(t *testing.T) {
	src := rand.New(rand.NewPCG(1, 1))
	for _, s := range [][3]int{{20, 2500, 130}, {700, 90, 80}, {64, 700, 100}, {30, 31, 4600}, {3, 4700, 300}} {
		m, n, k := s[0], s[1], s[2]
		for layout := range 4 {
			operand := func(rows, columns int, transposed bool) (blas.Transpose, blas.Matrix, blas.Of[float32]) {
				how := blas.NoTrans
				if transposed {
					rows, columns, how = columns, rows, blas.Trans
				}
				x := blas.Matrix{Rows: rows, Cols: columns, Stride: columns + 3, Data: make([]float64, rows*(columns+3))}
				y := blas.Of[float32]{Rows: rows, Cols: columns, Stride: columns + 3, Data: make([]float32, rows*(columns+3))}
				for i := range x.Data {
					x.Data[i] = src.NormFloat64()
					y.Data[i] = float32(x.Data[i])
				}
				return how, x, y
			}
			tA, a, a32 := operand(m, k, layout&1 > 0)
			tB, b, b32 := operand(k, n, layout&2 > 0)
			_, c, c32 := operand(m, n, false)
			beta := []float64{0, 1, 0.5}[layout%3]
			want := slices.Clone(c.Data)
			gonum.Implementation{}.Dgemm(tA, tB, m, n, k, 2, a.Data, a.Stride, b.Data, b.Stride, beta, want, c.Stride)
			var first []float64
			var first32 []float32
			for _, cores := range []int{1, 2, 3, 7} {
				restore := parallel.SetCores(cores)
				got := blas.Matrix{Rows: m, Cols: n, Stride: c.Stride, Data: slices.Clone(c.Data)}
				got32 := blas.Of[float32]{Rows: m, Cols: n, Stride: c.Stride, Data: slices.Clone(c32.Data)}
				blas.Gemm(tA, tB, 2, a, b, beta, got)
				blas.Multiply(tA, tB, 2, a32, b32, float32(beta), got32)
				restore()
				if first == nil {
					first, first32 = got.Data, got32.Data
				}
				name := fmt.Sprintf("%d×%d×%d, layout %d, %d cores", m, n, k, layout, cores)
				if !slices.Equal(first, got.Data) || !slices.Equal(first32, got32.Data) {
					t.Errorf("%s: not the bytes of one core", name)
				}
				for i, x := range want {
					if !(math.Abs(got.Data[i]-x) <= 1e-12*float64(k)) || !(math.Abs(float64(got32.Data[i])-x) <= 1e-5*float64(k)) {
						t.Fatalf("%s: number %d is %v and %v, want %v", name, i, got.Data[i], got32.Data[i], x)
					}
				}
			}
		}
	}
}

// TestAllocations checks that a product allocates at most its partial sums, for any split.
func TestAllocations(t *testing.T) {
	if testkit.Race {
		t.Skip("the race detector allocates")
	}
	defer parallel.SetCores(2)()
	a, c := make([]float64, 20*30000), make([]float64, 20*30000)
	for _, s := range [][3]int{{20, 2600, 90}, {20, 20, 30000}, {2600, 20, 90}} {
		m, n, k := s[0], s[1], s[2]
		multiply := func() {
			blas.Gemm(blas.NoTrans, blas.Trans, 1, blas.Matrix{Rows: m, Cols: k, Stride: k, Data: a},
				blas.Matrix{Rows: n, Cols: k, Stride: k, Data: a}, 0, blas.Matrix{Rows: m, Cols: n, Stride: n, Data: c})
		}
		multiply()
		if allocations := testing.AllocsPerRun(20, multiply); allocations > 4 {
			t.Errorf("%v: %v allocations", s, allocations)
		}
	}
}
