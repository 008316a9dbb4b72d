package factor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// withFixed returns methods with every cost, both free bases, ties, weights, penalties and missing values.
func withFixed() map[string]Parts {
	out := map[string]Parts{
		"semi": {Basis: BasisSemi}, "semi ridge": {Basis: BasisSemi, Penalties: Penalties{L1{}, L2Basis{}}}, "ties": {Tie: TieLabels},
		"unit": {UnitNorm: true}, "unit graph": {UnitNorm: true, Penalties: Penalties{Graph{Lambda: 1}}}, "ncw": {Weighting: WeightingNormalisedCut},
		"elastic": {Penalties: Penalties{L1{}, L2{}, L1Basis{}, L2Basis{}}}, "volume": {Penalties: Penalties{Volume{}, OrthogonalBasis{}}},
		"kl ties": {Cost: CostKL, Tie: TieLabels},
	}
	for c := range Cost(len(costs)) {
		out[c.String()] = Parts{Cost: c}
	}
	return out
}

// TestFixedBasis checks, for every method and solver, with and without missing values, that the fixed vectors are the
// first ones of the result, bit by bit, that the objective never rises, and that the fit is better than without the
// other vectors.
func TestFixedBasis(t *testing.T) {
	src := rand.New(rand.NewPCG(3, 4))
	p := planted(2)
	_, m := p.x.Dims()
	k := p.opt.Rank
	fixed := mat.NewDense(m, 2, nil)
	fixed.Apply(func(int, int, float64) float64 { return src.Float64() }, fixed)
	holes := withHoles(p.x, 0.2, src)
	for name, parts := range withFixed() {
		for _, s := range solvers {
			for _, x := range []mat.Matrix{p.x, toSparse(p.x), holes} {
				what := fmt.Sprintf("%s by %s of %T", name, s.Name, x)
				all, err := ForBasis(parts, fixed)
				if err != nil {
					t.Fatal(err)
				}
				if _, weighted := x.(*Weighted); weighted {
					if all, err = ForWeights(all, true); err != nil {
						continue // refused
					}
				}
				if Serves(s.Solver, all) != nil {
					continue
				}
				if c := parts.Cost; c == CostItakuraSaito {
					p.x.Apply(func(_, _ int, x float64) float64 { return x + 1e-3 }, p.x)
				}
				last := map[int]float64{}
				for _, rank := range []int{2, k} {
					res, err := all.Fit(t.Context(), x, p.known, Options{Rank: rank, Iterations: 25, Solver: s.Solver, Seed: 1})
					if err != nil {
						t.Fatalf("%s: %v", what, err)
					}
					for j := range m {
						for r := range 2 {
							if res.Basis.At(j, r) != fixed.At(j, r) {
								t.Fatalf("%s: fixed vector %d is %v at feature %d, want %v", what, r, res.Basis.At(j, r), j, fixed.At(j, r))
							}
						}
					}
					for i, now := range res.Objective[1:] {
						if before := res.Objective[i]; !(now <= before*(1+1e-10)) && !parts.UnitNorm {
							t.Fatalf("%s, rank %d: the objective rises from %v to %v in iteration %d", what, rank, before, now, i+1)
						}
					}
					last[rank] = res.Objective[25]
				}
				if len(parts.Penalties) == 0 && !(last[k] < 0.9*last[2]) {
					t.Errorf("%s: the objectives are %v by rank", what, last)
				}
			}
		}
	}
}

// TestFixedBasisFound checks that fast finds the remaining vectors of exact data, under both costs.
func TestFixedBasisFound(t *testing.T) {
	src := rand.New(rand.NewPCG(5, 6))
	u, v := mat.NewDense(12, 3, nil), mat.NewDense(40, 3, nil)
	for _, a := range []*mat.Dense{u, v} {
		a.Apply(func(i, r int, _ float64) float64 { return max(0, src.Float64()-0.4) * float64(1+(i+r)%3) }, a)
	}
	var x mat.Dense
	x.Mul(v, u.T())
	x.Apply(func(_, _ int, x float64) float64 { return x + 1e-9 }, &x)
	for _, parts := range []Parts{{}, {Cost: CostKL}, {Basis: BasisSemi}} {
		parts.Fixed = mat.DenseCopyOf(u.Slice(0, 12, 0, 2))
		res, err := parts.Fit(t.Context(), &x, Known{}, Options{Rank: 3, Iterations: 2000, Solver: Fast{}})
		if err != nil {
			t.Fatal(err)
		}
		if cosine := math.Abs(mat.Dot(res.Basis.ColView(2), u.ColView(2))) / mat.Norm(u.ColView(2), 2); !(cosine > 0.999) && parts.Basis == BasisFree {
			t.Errorf("cost %v, basis %v: the third vector has the cosine %v", parts.Cost, parts.Basis, cosine)
		}
		if share := res.Objective[res.Iterations()] / res.Objective[0]; !(share < 1e-6) {
			t.Errorf("cost %v, basis %v: %v of the objective is left", parts.Cost, parts.Basis, share)
		}
	}
}

// TestFixedBasisRefuses checks the errors of unusable vectors.
func TestFixedBasisRefuses(t *testing.T) {
	x := mat.NewDense(4, 3, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 1})
	good := mat.NewDense(3, 2, []float64{1, 0, 2, 1, 0, 3})
	for want, m := range map[string]Method{
		"the fixed basis vectors have 2 features; the samples have 3":                              Parts{Fixed: mat.NewDense(2, 1, []float64{1, 1})},
		"rank 1 is below the number of fixed basis vectors, 2":                                     Parts{Fixed: good},
		"the fixed basis vectors, as rows: value -1 at row 1, column 2; expected 0 to 1e+60":       Parts{Fixed: mat.NewDense(3, 1, []float64{1, -1, 1})},
		"the fixed basis vectors, as rows: value NaN at row 1, column 1; expected -1e+60 to 1e+60": Parts{Basis: BasisSemi, Fixed: mat.NewDense(3, 1, []float64{math.NaN(), -1, 1})},
		"fixed basis vectors need basis free or semi, got concept":                                 Parts{Basis: BasisConcept, Fixed: good},
		"unit-norm and fixed basis vectors":                                                        Parts{HeldOut: HeldOut{}, Fixed: good},
		"the method has its own update rule and supports no fixed basis vectors":                   SSNMF{},
	} {
		var err error
		if _, parts := m.(Parts); !parts {
			_, err = ForBasis(m, good)
		} else {
			_, err = m.Fit(t.Context(), x, Known{}, Options{Rank: 1})
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
