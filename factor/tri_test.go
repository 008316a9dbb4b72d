package factor

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestTriNMFRule compares iterations with Ding's rules without orthogonality in gonum's matrices.
func TestTriNMFRule(t *testing.T) {
	p := planted(1)
	n, m := p.x.Dims()
	const l = 2
	p.opt.Iterations, p.opt.KeepScale, p.opt.Solver = 6, true, Multiplicative{}
	of := p.opt
	s := randomFactor(of, "association", l)
	of.Rank = l
	g := mat.DenseCopyOf(randomFactor(of, "groups of features", m).T())
	v := mat.DenseCopyOf(randomFactor(p.opt, "coefficients", n).T())
	step := func(theta, above, below *mat.Dense) {
		theta.Apply(func(i, j int, x float64) float64 { return x * above.At(i, j) / below.At(i, j) }, theta)
	}
	for range p.opt.Iterations {
		vx, vv := mul(v.T(), p.x), mul(v.T(), v)
		step(s, mul(vx, g), mul(mul(vv, s), mul(g.T(), g)))
		vs := mul(v, s)
		step(g, mul(p.x.T(), vs), mul(g, mul(vs.T(), vs)))
		u := mul(g, s.T())
		step(v, mul(p.x, u), mul(v, mul(u.T(), u)))
	}
	res, err := TriNMF{FeatureRank: l}.Fit(t.Context(), p.x, Known{}, p.opt)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "G", res.FeatureGroups, g, 1e-9)
	near(t, "S", res.Association, s, 1e-9)
	near(t, "V", res.Coefficients, v, 1e-9*mat.Max(v))
	off := mul(v, mul(g, s.T()).T())
	off.Sub(p.x, off)
	if want, got := mat.Norm(off, 2)*mat.Norm(off, 2), res.Objective[6]; !(math.Abs(got-want) <= 1e-9*want) {
		t.Errorf("objective %v, want %v", got, want)
	}
}

// TestTriNMFGroups checks that both groups of samples and the three groups of features of a block matrix are found, under
// both costs, from each initialisation.
func TestTriNMFGroups(t *testing.T) {
	x := mat.NewDense(24, 18, nil)
	level := [2][3]float64{{5, 0.2, 3}, {0.3, 4, 2.5}}
	x.Apply(func(i, j int, _ float64) float64 { return level[i%2][j%3] * (1 + 0.05*math.Sin(float64(i*j+i))) }, x)
	for _, cost := range []Cost{CostFrobenius, CostKL} {
		for _, init := range []Init{InitRandom, InitNMF, InitNNDSVDa} {
			res, err := TriNMF{Cost: cost, FeatureRank: 3}.Fit(t.Context(), x, Known{}, Options{Rank: 2, Seed: 2, Init: init, Iterations: 2000})
			if err != nil {
				t.Fatal(err)
			}
			if r, c := res.Association.Dims(); r != 2 || c != 3 {
				t.Fatalf("the association is %d×%d", r, c)
			}
			near(t, "U = GSᵀ", mul(res.FeatureGroups, res.Association.T()), res.Basis, 1e-9)
			for i := range 24 {
				row, first := res.Coefficients.RawRowView(i), res.Coefficients.RawRowView(i%2)
				if (row[0] > row[1]) != (first[0] > first[1]) {
					t.Errorf("cost %v, init %v: sample %d is not in the group of sample %d", cost, init, i, i%2)
				}
			}
		}
	}
}

// TestTriNMFRefuses checks the errors of the number of groups of features.
func TestTriNMFRefuses(t *testing.T) {
	x := mat.NewDense(3, 2, []float64{1, 2, 3, 1, 4, 2})
	for want, p := range map[string]Parts{
		"feature-rank 3: expected 1 to the number of features, 2":  {Basis: BasisTri, FeatureRank: 3},
		"feature-rank -1: expected 1 to the number of features, 2": {Basis: BasisTri, FeatureRank: -1},
		"feature-rank is for basis tri; the basis is free":         {FeatureRank: 2},
		"fixed basis vectors need basis free or semi, got tri":     {Basis: BasisTri, Fixed: mat.NewDense(2, 1, []float64{1, 1})},
	} {
		if _, err := p.Fit(t.Context(), x, Known{}, Options{Rank: 1}); fmt.Sprint(err) != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
