package factor

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/rng"
)

// TestRepresent: at the coefficients that are found the gradient of the cost is 0 where they
// are above 0, and not below 0 elsewhere (Karush, Kuhn and Tucker), also of basis vectors that
// are much alike, and a sample's coefficients do not depend on the others.
func TestRepresent(t *testing.T) {
	random := rng.New(3, "represent")
	x, u := mat.NewDense(23, 30, nil), mat.NewDense(30, 6, nil)
	for _, a := range []*mat.Dense{x, u} {
		a.Apply(func(_, _ int, _ float64) float64 { return random.Float64() }, a)
	}
	for i := range 30 {
		u.Set(i, 5, u.At(i, 4)+0.2*u.At(i, 5))
	}
	for _, c := range []struct {
		model     Model
		tolerance float64
	}{
		{&Additive{CostFrobenius, u}, 1e-3}, {&Additive{CostKL, u}, 0.02},
		{&KernelModel{Samples: mat.DenseCopyOf(u.T()), Weights: identity(6), Products: multiplied(u.T(), u)}, 1e-3},
	} {
		v, err := Represent(t.Context(), c.model, x)
		if err != nil {
			t.Fatal(err)
		}
		cost, least := CostFrobenius, 1
		if a, ok := c.model.(*Additive); ok {
			cost = a.Cost
		}
		near := multiplied(v, u.T())
		for i := range 23 {
			for r := range 6 {
				gradient, size := 0.0, 0.0
				for j := range 30 {
					g := near.At(i, j) - x.At(i, j)
					if cost == CostKL {
						g = 1 - x.At(i, j)/near.At(i, j)
					}
					gradient += u.At(j, r) * g
					size += math.Abs(u.At(j, r) * g)
				}
				if value := v.At(i, r); value < 0 || gradient < -c.tolerance*size || value > 0.01 && gradient > c.tolerance*size {
					t.Errorf("%T, cost %v, sample %d: coefficient %d is %v, and the gradient there %v of %v", c.model, cost, i, r, value, gradient, size)
				} else if value > 0.01 {
					least = 0
				}
			}
		}
		if least == 1 {
			t.Error("nothing is above 0")
		}
		one, err := Represent(t.Context(), c.model, x.Slice(7, 8, 0, 30))
		if err != nil {
			t.Fatal(err)
		}
		for r := range 6 {
			if math.Abs(one.At(0, r)-v.At(7, r)) > 1e-9 {
				t.Errorf("%T: alone a sample has the coefficient %v, and among others %v", c.model, one.At(0, r), v.At(7, r))
			}
		}
	}
}

func identity(k int) *mat.Dense {
	out := mat.NewDense(k, k, nil)
	for i := range k {
		out.Set(i, i, 1)
	}
	return out
}

func multiplied(a, b mat.Matrix) *mat.Dense {
	var out mat.Dense
	out.Mul(a, b)
	return &out
}

// TestMisfit: the share of the squared length that is left, dense and sparse, with a mean and
// without.
func TestMisfit(t *testing.T) {
	x := mat.NewDense(2, 2, []float64{3, 0, 0, 4})
	sparse, err := NewCSR(2, 2, []int{0, 1, 2}, []int{0, 1}, []float64{3, 4})
	if err != nil {
		t.Fatal(err)
	}
	u, v := mat.NewDense(2, 1, []float64{1, 0}), mat.NewDense(2, 1, []float64{2, 1})
	for _, c := range []struct {
		model Model
		want  float64
	}{{&Additive{Basis: u}, (1. + 1 + 16) / 25}, {&Linear{Mean: []float64{1, 1}, Projection: u}, (0. + 1 + 4 + 9) / 25}} {
		for _, x := range []mat.Matrix{x, sparse} {
			got, err := Misfit(t.Context(), c.model, x, v)
			if err != nil || math.Abs(got-c.want) > 1e-15 {
				t.Errorf("%T: %v, %v; want %v", c.model, got, err, c.want)
			}
		}
	}
	if _, err := Misfit(t.Context(), &KernelModel{}, x, v); err == nil || !strings.Contains(err.Error(), "no basis vectors") {
		t.Errorf("error %v", err)
	}
	if _, err := Misfit(t.Context(), &Additive{Basis: u}, x, mat.NewDense(1, 1, nil)); err == nil {
		t.Error("coefficients of another size are taken")
	}
}
