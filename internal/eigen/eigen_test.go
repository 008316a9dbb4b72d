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
)

// randomSymmetric draws a matrix of one scale, with a part scaled by 1e-150, or of rank one.
func randomSymmetric(src *rand.Rand, n int, scale float64) *mat.SymDense {
	a := mat.NewSymDense(n, nil)
	kind, cut := src.IntN(3), src.IntN(n+1)
	for i := range n {
		for j := i; j < n; j++ {
			x := src.NormFloat64()
			switch {
			case kind == 1 && i >= cut:
				x *= 1e-150
			case kind == 1 && j >= cut:
				x = 0
			case kind == 2:
				x = 1
			}
			a.SetSym(i, j, scale*x)
		}
	}
	return a
}

// TestSymmetric checks for matrices with parts of any scale that the vectors are orthonormal, that they reconstruct
// the matrix, and that the eigenvalues without vectors are the same.
// eigenSymmetric returns the n eigenvalues of a in increasing order and, if vectors is set, the eigenvectors.
func eigenSymmetric(ctx context.Context, a *mat.SymDense, vectors bool) (values []float64, v *mat.Dense, err error) {
	if vectors {
		return Smallest(ctx, a, a.SymmetricDim())
	}
	s, err := Decompose(ctx, a)
	if err != nil {
		return nil, nil, err
	}
	values = slices.Clone(s.Values())
	slices.Reverse(values)
	return values, nil, nil
}

func TestSymmetric(t *testing.T) {
	for seed := range uint64(300) {
		src := rand.New(rand.NewPCG(seed, 1))
		n := 1 + src.IntN(20)
		scale := math.Pow(10, 600*src.Float64()-300)
		a := randomSymmetric(src, n, scale)
		what := fmt.Sprintf("seed %d, n=%d, scale %.0g", seed, n, scale)
		values, v, err := eigenSymmetric(context.Background(), a, true)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		alone, _, err := eigenSymmetric(context.Background(), a, false)
		if err != nil {
			t.Fatalf("%s without vectors: %v", what, err)
		}
		for i, x := range values {
			if !(math.Abs(x-alone[i]) <= 1e-13*float64(n)*scale) {
				t.Errorf("%s: value %d is %v, and alone %v", what, i, x, alone[i])
			}
		}
		var unit, product mat.Dense
		unit.Mul(v.T(), v)
		product.Mul(v, mat.NewDiagDense(n, values))
		product.Mul(&product, v.T())
		for i := range n {
			for j := range n {
				want := 0.0
				if i == j {
					want = 1
				}
				if !(math.Abs(unit.At(i, j)-want) < 1e-12) {
					t.Fatalf("%s: the vectors are not orthonormal", what)
				}
				if !(math.Abs(product.At(i, j)-a.At(i, j)) <= 1e-13*float64(n)*scale) {
					t.Fatalf("%s: (%d, %d) is %v, want %v", what, i, j, product.At(i, j), a.At(i, j))
				}
			}
		}
	}
}

// TestOrdinaryScale checks that scaling by powers of 2 changes no bit, so the scale of the data has no effect on
// results.
func TestOrdinaryScale(t *testing.T) {
	a := randomSymmetric(rand.New(rand.NewPCG(3, 3)), 12, 1)
	want, wantV, err := eigenSymmetric(context.Background(), a, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, exponent := range []int{-600, -200, 200, 600} {
		by := math.Ldexp(1, exponent)
		scaled := mat.NewSymDense(12, nil)
		scaled.ScaleSym(by, a)
		got, v, err := eigenSymmetric(context.Background(), scaled, true)
		if err != nil {
			t.Fatal(err)
		}
		for i := range got {
			if got[i] != by*want[i] {
				t.Errorf("2^%d: value %d is %v, want %v", exponent, i, got[i], by*want[i])
			}
		}
		if !mat.Equal(v, wantV) {
			t.Errorf("2^%d: other vectors", exponent)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if _, _, err := eigenSymmetric(context.Background(), mat.NewSymDense(2, []float64{1, x, x, 1}), true); err == nil {
			t.Errorf("a symmetric matrix with %v is factorised", x)
		}
	}
	if _, _, err := eigenSymmetric(context.Background(), mat.NewSymDense(2, []float64{math.MaxFloat64, math.MaxFloat64, 0, math.MaxFloat64}), false); err == nil {
		t.Error("an eigenvalue of twice the largest number is no error")
	}
}

// TestCancelled checks that small decompositions also stop when their context ends.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, n := range []int{1, 150} {
		if _, _, err := eigenSymmetric(ctx, mat.NewSymDense(n, nil), true); !errors.Is(err, context.Canceled) {
			t.Errorf("n=%d: %v", n, err)
		}
	}
}
