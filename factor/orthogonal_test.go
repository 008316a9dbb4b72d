package factor

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestOrthogonalRule compares iterations with the rules of Ding, Li, Peng and Park 2006 in gonum's matrices.
func TestOrthogonalRule(t *testing.T) {
	p := planted(1)
	n, m := p.x.Dims()
	p.opt.Iterations, p.opt.KeepScale, p.opt.Solver = 50, true, Multiplicative{}
	step := func(theta, above, below *mat.Dense, power float64) {
		theta.Apply(func(i, j int, x float64) float64 { return x * math.Pow(above.At(i, j)/below.At(i, j), power) }, theta)
	}
	orthogonal := func(theta, above *mat.Dense) { step(theta, above, mul(theta, mul(theta.T(), above)), 0.5) }
	start := func(stream string, rows, rank int) *mat.Dense {
		of := p.opt
		of.Rank = rank
		return mat.DenseCopyOf(randomFactor(of, stream, rows).T())
	}
	k := p.opt.Rank
	for _, side := range []Orthogonality{OrthogonalityCoefficients, OrthogonalityBasis} {
		u, v := start("basis", m, k), start("coefficients", n, k)
		for range p.opt.Iterations {
			if xv := mul(p.x.T(), v); side == OrthogonalityBasis {
				orthogonal(u, xv)
			} else {
				step(u, xv, mul(u, mul(v.T(), v)), 1)
			}
			if xu := mul(p.x, u); side == OrthogonalityCoefficients {
				orthogonal(v, xu)
			} else {
				step(v, xu, mul(v, mul(u.T(), u)), 1)
			}
		}
		res, err := ONMF{side}.Fit(t.Context(), p.x, Known{}, p.opt)
		if err != nil {
			t.Fatal(err)
		}
		near(t, fmt.Sprint("U, orthogonal ", side), res.Basis, u, 1e-9*mat.Max(u))
		near(t, fmt.Sprint("V, orthogonal ", side), res.Coefficients, v, 1e-9*mat.Max(v))
	}
	const l = 2
	s, g, v := start("association", l, k), start("groups of features", m, l), start("coefficients", n, k)
	s = mat.DenseCopyOf(s.T())
	for range p.opt.Iterations {
		vx := mul(v.T(), p.x)
		step(s, mul(vx, g), mul(mul(mul(v.T(), v), s), mul(g.T(), g)), 1)
		orthogonal(g, mul(p.x.T(), mul(v, s)))
		orthogonal(v, mul(p.x, mul(g, s.T())))
	}
	res, err := TriNMF{FeatureRank: l, Orthogonal: OrthogonalityBoth}.Fit(t.Context(), p.x, Known{}, p.opt)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "G", res.FeatureGroups, g, 1e-9)
	near(t, "S", res.Association, s, 1e-9*mat.Max(s))
	near(t, "V of three", res.Coefficients, v, 1e-9)
}

// TestOrthogonalReached checks that samples of separate parts get orthonormal coefficients, features orthonormal basis
// vectors, and samples with label ties and weights orthonormal weighted coefficients.
func TestOrthogonalReached(t *testing.T) {
	x := mat.NewDense(24, 18, nil)
	x.Apply(func(i, j int, _ float64) float64 {
		if i%3 == j%3 {
			return 2 + math.Sin(float64(i*j+i))
		}
		return 0.01
	}, x)
	labels := make([]int, 24)
	weights := make([]float64, 24)
	for i := range labels {
		labels[i], weights[i] = -1, 1
		if i < 9 {
			labels[i], weights[i] = i%3, float64(1+i)
		}
	}
	for name, c := range map[string]struct {
		parts   Parts
		samples mat.Matrix
	}{
		"coefficients": {Parts{Orthogonal: OrthogonalityCoefficients}, x},
		"basis":        {Parts{Orthogonal: OrthogonalityBasis}, x},
		"both":         {Parts{Orthogonal: OrthogonalityBoth, Basis: BasisTri}, x},
		"ties":         {Parts{Orthogonal: OrthogonalityCoefficients, Tie: TieLabels}, &Weighted{Matrix: x, Samples: weights}},
	} {
		res, err := c.parts.Fit(t.Context(), c.samples, Known{Labels: labels}, Options{Rank: 3, Init: InitNMF, Iterations: 300, KeepScale: true})
		if err != nil {
			t.Fatal(err)
		}
		var factors []*mat.Dense
		if c.parts.Orthogonal != OrthogonalityBasis {
			v := mat.DenseCopyOf(res.Coefficients)
			if name == "ties" {
				v.Apply(func(i, _ int, y float64) float64 { return y * math.Sqrt(weights[i]) }, v)
			}
			factors = append(factors, v)
		}
		if name == "basis" {
			factors = append(factors, res.Basis)
		}
		if name == "both" {
			factors = append(factors, res.FeatureGroups)
		}
		for _, theta := range factors {
			gram := mul(theta.T(), theta)
			for r := range 3 {
				gram.Set(r, r, gram.At(r, r)-1)
			}
			if off := max(mat.Max(gram), -mat.Min(gram)); !(off < 1e-2) {
				t.Errorf("%s: the Gram matrix differs from I by %.3g", name, off)
			}
		}
	}
}

// TestOrthogonalRefuses checks that each part that the rule does not support is named.
func TestOrthogonalRefuses(t *testing.T) {
	v, u := OrthogonalityCoefficients, OrthogonalityBasis
	for want, p := range map[string]Parts{
		"orthogonal: coefficients does not support cost kl":                                               {Orthogonal: v, Cost: CostKL},
		"orthogonal: basis does not support cost l21":                                                     {Orthogonal: u, Cost: CostL21},
		"orthogonal: coefficients does not support basis concept":                                         {Orthogonal: v, Basis: BasisConcept},
		"orthogonal: coefficients does not support basis semi":                                            {Orthogonal: v, Basis: BasisSemi},
		"orthogonal: basis does not support basis rank-one":                                               {Orthogonal: u, Basis: BasisRankOne},
		"orthogonal: both does not support basis free":                                                    {Orthogonal: OrthogonalityBoth},
		"orthogonal: coefficients does not support unit-norm":                                             {Orthogonal: v, UnitNorm: true},
		"orthogonal: basis does not support fixed basis vectors":                                          {Orthogonal: u, Fixed: mat.NewDense(2, 1, []float64{1, 1})},
		"orthogonal: coefficients does not support the penalty graph, which acts on an orthogonal factor": {Orthogonal: v, Penalties: Penalties{Graph{}}},
		"orthogonal: basis does not support the penalty smooth, which acts on an orthogonal factor":       {Orthogonal: u, Penalties: Penalties{Smooth{}}},
		"orthogonal: coefficients does not support missing values or weights of entries":                  {Orthogonal: v, EntryWeights: true},
		"orthogonal: coefficients does not support held-out entries":                                      {Orthogonal: v, HeldOut: HeldOut{{0}}},
	} {
		if err := p.validate(); fmt.Sprint(err) != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for _, p := range []Parts{{Orthogonal: v, Basis: BasisRankOne}, {Orthogonal: u, Basis: BasisTri}, {Orthogonal: v, Penalties: Penalties{L1Basis{}}}, {Orthogonal: u, Penalties: Penalties{Graph{}}}} {
		if err := p.validate(); err != nil {
			t.Error(err)
		}
	}
	if err := (Fast{}).Serves(ONMF{}.AsParts()); fmt.Sprint(err) != "the solver fast does not support orthogonal: coefficients" {
		t.Error(err)
	}
}
