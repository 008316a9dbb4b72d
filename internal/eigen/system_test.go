package eigen

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/parallel"
)

// checkSystem checks that the vectors of a System are orthonormal, that a·v is λ·v, and that all eigenvalues agree with
// gonum's LAPACK.
func checkSystem(t *testing.T, what string, a *mat.SymDense, c int) {
	t.Helper()
	ctx := context.Background()
	n := a.SymmetricDim()
	s, err := Decompose(ctx, a)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	_, by, err := scaled(a, 1)
	if err != nil {
		t.Fatal(err)
	}
	var lapack mat.EigenSym
	near := symmetric(n, func(i, j int) float64 { return a.At(i, j) / by })
	if !lapack.Factorize(near, true) {
		t.Fatalf("%s: LAPACK finds no eigenvalues", what)
	}
	want := lapack.Values(nil)
	slices.Reverse(want)
	for i := range want {
		want[i] *= by
	}
	norm := max(math.Abs(want[0]), math.Abs(want[n-1]))
	tolerance := 1e-15 * math.Sqrt(float64(n)) * 20
	for i, x := range s.Values() {
		if !(math.Abs(x-want[i]) <= tolerance*norm) {
			t.Errorf("%s: value %d is %v, want %v", what, i, x, want[i])
		}
	}
	v, err := s.Leading(ctx, c)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	var unit, av mat.Dense
	unit.Mul(v.T(), v)
	av.Mul(a, v)
	for i := range c {
		for j := range c {
			want := 0.0
			if i == j {
				want = 1
			}
			if !(math.Abs(unit.At(i, j)-want) <= tolerance) {
				t.Fatalf("%s: vectors %d and %d have the product %v", what, i, j, unit.At(i, j))
			}
		}
	}
	for j := range c {
		for i := range n {
			if x := av.At(i, j) - s.Values()[j]*v.At(i, j); !(math.Abs(x) <= tolerance*norm) {
				t.Fatalf("%s: vector %d is off by %v", what, j, x)
			}
		}
	}
}

// TestSystem checks matrices of any spectrum: random, with few different eigenvalues, tridiagonal with equal halves
// (Wilkinson's), diagonal, block-diagonal, of low rank, and with values over 200 powers of 10.
func TestSystem(t *testing.T) {
	for seed := range uint64(12) {
		src := rand.New(rand.NewPCG(seed, 11))
		n := []int{1, 2, 3, leaf, leaf + 1, 2*leaf + 1, 100, 131, 64, 77, 48, 150}[seed]
		c := 1 + src.IntN(n)
		random := randomSymmetric(src, n, 1)
		orthogonal := func() *mat.Dense {
			var qr mat.QR
			x := mat.NewDense(n, n, nil)
			x.Apply(func(_, _ int, _ float64) float64 { return src.NormFloat64() }, x)
			qr.Factorize(x)
			var q mat.Dense
			qr.QTo(&q)
			return &q
		}
		of := func(value func(i int) float64) *mat.SymDense {
			q := orthogonal()
			var x, y mat.Dense
			d := make([]float64, n)
			for i := range d {
				d[i] = value(i)
			}
			x.Mul(q, mat.NewDiagDense(n, d))
			y.Mul(&x, q.T())
			return symmetric(n, func(i, j int) float64 { return y.At(i, j) })
		}
		for name, a := range map[string]*mat.SymDense{
			"random":     random,
			"two values": of(func(i int) float64 { return float64(i % 2) }),
			"one apart":  of(func(i int) float64 { return 1 + float64(i/(n-1+1/n)) }),
			"low rank":   of(func(i int) float64 { return float64(max(0, 5-i)) }),
			"graded":     of(func(i int) float64 { return math.Pow(10, -200*float64(i)/float64(n)) }),
			"near pairs": of(func(i int) float64 { return float64(i/2) + 1e-14*float64(i%2) }),
			"diagonal": symmetric(n, func(i, j int) float64 {
				if i == j {
					return float64(i % 7)
				}
				return 0
			}),
			"Wilkinson": symmetric(n, func(i, j int) float64 {
				switch max(i, j) - min(i, j) {
				case 0:
					return math.Abs(float64(2*i-n+1)) / 2
				case 1:
					return 1
				}
				return 0
			}),
			"parts": symmetric(n, func(i, j int) float64 {
				if i/5 == j/5 {
					return 1
				}
				return 0
			}),
			"zero":  mat.NewSymDense(n, nil),
			"huge":  symmetric(n, func(i, j int) float64 { return 1e290 * random.At(i, j) }),
			"small": symmetric(n, func(i, j int) float64 { return 1e-290 * random.At(i, j) }),
		} {
			checkSystem(t, fmt.Sprintf("%s, n=%d", name, n), a, c)
		}
	}
}

// TestSystemCores checks that the bytes are equal on any number of cores, for few and for many vectors.
func TestSystemCores(t *testing.T) {
	ctx := context.Background()
	n := 300
	a := randomSymmetric(rand.New(rand.NewPCG(4, 12)), n, 1)
	var want []float64
	for _, cores := range []int{1, 2, 3, 7} {
		restore := parallel.SetCores(cores)
		s, err := Decompose(ctx, a)
		if err != nil {
			t.Fatal(err)
		}
		v, err := s.Leading(ctx, n/2)
		if err != nil {
			t.Fatal(err)
		}
		few, err := s.Leading(ctx, 5)
		restore()
		if err != nil {
			t.Fatal(err)
		}
		if !mat.Equal(few, v.Slice(0, n, 0, 5)) {
			t.Errorf("other vectors where fewer are asked for")
		}
		got := slices.Concat(s.Values(), v.RawMatrix().Data)
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) {
			t.Errorf("other bytes on %d cores", cores)
		}
	}
}

func TestSystemRefused(t *testing.T) {
	ctx := context.Background()
	if _, err := Decompose(ctx, mat.NewSymDense(2, []float64{1, math.NaN(), 0, 1})); err == nil {
		t.Error("a matrix with NaN is decomposed")
	}
	s, err := Decompose(ctx, mat.NewSymDense(3, nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []int{-1, 0, 4} {
		if _, err := s.Leading(ctx, c); err == nil {
			t.Errorf("%d vectors of 3", c)
		}
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := Decompose(cancelled, mat.NewSymDense(100, nil)); !errors.Is(err, context.Canceled) {
		t.Errorf("Decompose after its context's end: %v", err)
	}
	if _, err := s.Leading(cancelled, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("Leading after its context's end: %v", err)
	}
}
