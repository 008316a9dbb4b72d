//go:build !native

package blas

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	"github.com/seed4492f2cd/partwise/internal/simd"
)

// TestDgemm: what gonum's own gives, for any shape and layout.
func TestDgemm(t *testing.T) {
	if !simd.HasTile() {
		t.Skip("this processor has no AVX2")
	}
	for seed := range uint64(400) {
		src := rand.New(rand.NewPCG(seed, 1))
		most := 40
		if seed%20 == 0 {
			most = 300
		}
		m, n, k := 1+src.IntN(most), 1+src.IntN(most), 1+src.IntN(most)
		if seed%40 == 0 {
			n += packColumns
		}
		matrix := func(r, c int) ([]float64, int) {
			stride := c + src.IntN(3)
			x := make([]float64, (r-1)*stride+c)
			for i := range x {
				x[i] = src.NormFloat64()
			}
			return x, stride
		}
		operand := func(r, c int) (blas.Transpose, []float64, int) {
			if src.IntN(2) == 0 {
				x, stride := matrix(c, r)
				return blas.Trans, x, stride
			}
			x, stride := matrix(r, c)
			return blas.NoTrans, x, stride
		}
		tA, a, lda := operand(m, k)
		tB, b, ldb := operand(k, n)
		got, ldc := matrix(m, n)
		alpha, beta := []float64{1, -2, 0}[src.IntN(3)], []float64{0, 1, 0.5}[src.IntN(3)]
		if beta == 0 {
			got[0] = math.NaN()
		}
		want := slices.Clone(got)
		tiled{}.Dgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, got, ldc)
		gonum.Implementation{}.Dgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, want, ldc)
		for i := range want {
			if !(math.Abs(got[i]-want[i]) <= 1e-12*float64(k)) {
				t.Fatalf("seed %d, %d×%d×%d: %d is %v, want %v", seed, m, n, k, i, got[i], want[i])
			}
		}
	}
}

// TestTimesRows: the bytes of gemm, for whole tiles and parts of them, and depths beyond what is
// laid out at a time.
func TestTimesRows(t *testing.T) {
	if !simd.HasRowTile() {
		t.Skip("this processor has no AVX-512")
	}
	d, s := doubles.Get(), singles.Get()
	defer doubles.Put(d)
	defer singles.Put(s)
	testTimesRows(t, d)
	testTimesRows(t, s)
}

func testTimesRows[T float32 | float64](t *testing.T, p *packed[T]) {
	src := rand.New(rand.NewPCG(3, 1))
	for _, shape := range [][3]int{{1, 8, 1}, {10, 8, 40}, {20, 64, 300}, {48, 16, 257}, {24, 16, 256}, {25, 24, 513}, {48, 8, 700}, {7, 8, 3000}, {30, 16, 2600}, {40, 16, 300}} {
		m, n, k := shape[0], shape[1], shape[2]
		lda, ldb, ldc, ldd := k+src.IntN(3), k+src.IntN(3), n+src.IntN(3), m+src.IntN(3)
		a, b, c, d := normals[T](src, m*lda), normals[T](src, n*ldb), normals[T](src, m*ldc), normals[T](src, n*ldd)
		for _, beta := range []T{0, 1} {
			got, want := slices.Clone(c), slices.Clone(c)
			p.timesRows(m, n, k, a, lda, b, ldb, beta, got, ldc, 1)
			p.gemm(blas.NoTrans, blas.Trans, m, n, k, 1, a, lda, b, ldb, beta, want, ldc)
			if !slices.Equal(got, want) {
				t.Errorf("%T, %d×%d×%d, beta %v: other numbers", beta, m, n, k, beta)
			}
			got, want = slices.Clone(d), slices.Clone(d)
			p.timesRows(m, n, k, a, lda, b, ldb, beta, got, 1, ldd)
			p.gemm(blas.NoTrans, blas.Trans, n, m, k, 1, b, ldb, a, lda, beta, want, ldd)
			if !slices.Equal(got, want) {
				t.Errorf("%T, %d×%d×%d transposed, beta %v: other numbers", beta, m, n, k, beta)
			}
		}
	}
}

// TestSumOfRows: the bytes of gemm, for whole tiles and parts of them, and more columns than there is
// room for.
func TestSumOfRows(t *testing.T) {
	if !simd.HasTile() {
		t.Skip("this processor has no AVX2")
	}
	d, s := doubles.Get(), singles.Get()
	defer doubles.Put(d)
	defer singles.Put(s)
	testSumOfRows(t, d)
	testSumOfRows(t, s)
}

func testSumOfRows[T float32 | float64](t *testing.T, p *packed[T]) {
	src := rand.New(rand.NewPCG(4, 1))
	for _, shape := range [][3]int{{1, 48, 1}, {20, 100, 300}, {24, 48, 256}, {25, 50, 513}, {48, 784, 700}, {7, 95, 33}, {45, 2600, 20}, {3, 61500, 17}} {
		m, n, k := shape[0], shape[1], shape[2]
		for _, tA := range []blas.Transpose{blas.NoTrans, blas.Trans} {
			aRows, lda := m, k+src.IntN(3)
			if tA == blas.Trans {
				aRows, lda = k, m+src.IntN(3)
			}
			ldb, ldc := n+src.IntN(3), n+src.IntN(3)
			a, b, c := normals[T](src, aRows*lda), normals[T](src, k*ldb), normals[T](src, m*ldc)
			for _, beta := range []T{0, 1} {
				got, want := slices.Clone(c), slices.Clone(c)
				p.sumOfRows(tA, m, n, k, a, lda, b, ldb, beta, got, ldc)
				p.gemm(tA, blas.NoTrans, m, n, k, 1, a, lda, b, ldb, beta, want, ldc)
				if !slices.Equal(got, want) {
					t.Errorf("%T, %d×%d×%d%c, beta %v: other numbers", beta, m, n, k, tA, beta)
				}
			}
		}
	}
}

func normals[T float32 | float64](src *rand.Rand, n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = T(src.NormFloat64())
	}
	return x
}

// TestSgemm: the same in single precision.
func TestSgemm(t *testing.T) {
	if !simd.HasTile() {
		t.Skip("this processor has no AVX2")
	}
	for seed := range uint64(200) {
		src := rand.New(rand.NewPCG(seed, 2))
		m, n, k := 1+src.IntN(60), 1+src.IntN(60), 1+src.IntN(300)
		if seed%40 == 0 {
			m, n = m+packRows, n+packColumns
		}
		matrix := func(r, c int) []float32 {
			x := make([]float32, r*c)
			for i := range x {
				x[i] = float32(src.NormFloat64())
			}
			return x
		}
		a, b, got := matrix(m, k), matrix(k, n), matrix(m, n)
		tA, tB, lda, ldb := blas.NoTrans, blas.NoTrans, k, n
		if src.IntN(2) == 0 {
			tA, lda = blas.Trans, m
		}
		if src.IntN(2) == 0 {
			tB, ldb = blas.Trans, k
		}
		want := slices.Clone(got)
		tiled{}.Sgemm(tA, tB, m, n, k, -1, a, lda, b, ldb, 1, got, n)
		gonum.Implementation{}.Sgemm(tA, tB, m, n, k, -1, a, lda, b, ldb, 1, want, n)
		for i := range want {
			if !(math.Abs(float64(got[i]-want[i])) <= 1e-6*float64(k)) {
				t.Fatalf("seed %d, %d×%d×%d: %d is %v, want %v", seed, m, n, k, i, got[i], want[i])
			}
		}
	}
}

// BenchmarkDgemm times products of the shapes that factorisations have, and a
// square one.
func BenchmarkDgemm(b *testing.B) {
	for _, s := range []struct {
		m, n, k int
		ta, tb  blas.Transpose
	}{
		{20, 1440, 1024, blas.NoTrans, blas.Trans},
		{20, 1024, 1440, blas.NoTrans, blas.NoTrans},
		{20, 30000, 784, blas.NoTrans, blas.Trans},
		{20, 784, 30000, blas.NoTrans, blas.NoTrans},
		{18, 1300, 3200, blas.NoTrans, blas.Trans},
		{18, 3200, 1300, blas.NoTrans, blas.NoTrans},
		{32, 3200, 18, blas.Trans, blas.NoTrans},
		{40, 400, 1024, blas.NoTrans, blas.Trans},
		{500, 500, 500, blas.NoTrans, blas.NoTrans},
	} {
		x, y, z := make([]float64, s.m*s.k), make([]float64, s.n*s.k), make([]float64, s.m*s.n)
		for i := range x {
			x[i] = rand.Float64()
		}
		for i := range y {
			y[i] = rand.Float64()
		}
		lda, ldb := s.k, s.n
		if s.ta == blas.Trans {
			lda = s.m
		}
		if s.tb == blas.Trans {
			ldb = s.k
		}
		implementations := map[string]blas.Float64Level3{"gonum": gonum.Implementation{}}
		if simd.HasTile() {
			implementations["tiled"] = tiled{}
		}
		for name, f := range implementations {
			b.Run(fmt.Sprintf("%d×%d×%d%c%c/%s", s.m, s.n, s.k, s.ta, s.tb, name), func(b *testing.B) {
				for b.Loop() {
					f.Dgemm(s.ta, s.tb, s.m, s.n, s.k, 1, x, lda, y, ldb, 0, z, s.n)
				}
				b.ReportMetric(2e-9*float64(s.m*s.n*s.k)*float64(b.N)/b.Elapsed().Seconds(), "GFLOP/s")
			})
		}
	}
}
