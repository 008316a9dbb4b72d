package factor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
)

// TestRobust checks that outliers change the basis less than under the Frobenius cost: whole samples under CostL21, single
// values under CostHuber.
func TestRobust(t *testing.T) {
	src := rand.New(rand.NewPCG(6, 2))
	x := mat.NewDense(60, 30, nil)
	for i := range 60 { // three parts of ten features
		for j := range 10 {
			x.Set(i, i%3*10+j, 1+0.2*src.Float64())
		}
	}
	parts := mat.NewDense(30, 3, nil)
	for j := range 30 {
		parts.Set(j, j/10, 1/math.Sqrt(10))
	}
	samples, values := mat.DenseCopyOf(x), mat.DenseCopyOf(x)
	for range 40 {
		values.Set(src.IntN(60), src.IntN(30), 12)
	}
	for i := range 6 {
		for j := range 30 {
			samples.Set(10*i+i%3, j, 9*src.Float64())
		}
	}
	// cosine is the mean cosine of each part with the nearest basis vector.
	cosine := func(m NMF, x *mat.Dense) (mean float64) {
		res, err := m.Fit(t.Context(), x, Known{}, Options{Rank: 3, Iterations: 500, Init: InitNNDSVDa, Solver: Multiplicative{}})
		if err != nil {
			t.Fatal(err)
		}
		for r := range 3 {
			var best float64
			for s := range 3 {
				best = max(best, mat.Dot(parts.ColView(r), res.Basis.ColView(s)))
			}
			mean += best / 3
		}
		return mean
	}
	for name, c := range map[string]struct {
		m NMF
		x *mat.Dense
	}{"l21, samples": {NMF{Cost: CostL21}, samples}, "huber, values": {NMF{Cost: CostHuber}, values}} {
		robust, plain := cosine(c.m, c.x), cosine(NMF{}, c.x)
		if !(robust > 0.99 && plain < 0.97) {
			t.Errorf("%s: the basis has cosine %.4f with the parts, %.4f under the Frobenius cost", name, robust, plain)
		}
	}
	if at, of := cosine(NMF{Cost: CostHuber, Threshold: 1e6}, values), cosine(NMF{}, values); math.Abs(at-of) > 1e-9 {
		t.Errorf("cosine %v with a threshold above all errors, %v under the Frobenius cost", at, of)
	}
}

// TestRobustExact checks that samples that the factors reproduce, and zeros in a sample, give finite factors.
func TestRobustExact(t *testing.T) {
	u, v := random(12, 2), random(20, 2)
	x := multiplied(v, u.T())
	for _, cost := range []Cost{CostL21, CostHuber} {
		for _, basis := range []Basis{BasisFree, BasisConcept} {
			what := fmt.Sprintf("%v, %v", cost, basis)
			opt := Options{Rank: 2, Iterations: 30, Solver: Multiplicative{}}
			if basis == BasisFree {
				opt.Start = &Start{Basis: mat.DenseCopyOf(u), Coefficients: mat.DenseCopyOf(v)}
			}
			res, err := Parts{Cost: cost, Basis: basis}.Fit(t.Context(), x, Known{}, opt)
			if err != nil {
				t.Fatal(err)
			}
			if !algebra.Finite(res.Basis) || !algebra.Finite(res.Coefficients) {
				t.Errorf("%s: factors are not finite", what)
			}
			if basis == BasisFree {
				near(t, what, multiplied(res.Coefficients, res.Basis.T()), x, 1e-9)
				got, err := Represent(t.Context(), res.Model, x)
				if err != nil {
					t.Fatal(err)
				}
				near(t, what+": coded", multiplied(got, res.Basis.T()), x, 1e-2)
			}
		}
	}
}
