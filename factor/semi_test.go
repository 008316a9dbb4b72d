package factor

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestSemiRule compares an iteration of semi-NMF with the equations of Ding, Li and Jordan (2010) in gonum's matrices.
func TestSemiRule(t *testing.T) {
	for seed := range uint64(3) {
		p := randomProblem(seed, true)
		n, _ := p.x.Dims()
		p.opt.Rank, p.opt.Iterations, p.opt.Solver, p.opt.KeepScale = min(3, n), 4, Multiplicative{}, true
		v := mat.DenseCopyOf(randomFactor(p.opt, "coefficients", n).T())
		want, _ := plainSemi(p.x, v, p.opt.Iterations)
		res, err := SemiNMF{}.Fit(t.Context(), p.x, Known{}, p.opt)
		if err != nil {
			t.Fatal(err)
		}
		near(t, fmt.Sprint("U ", seed), res.Basis, want, 1e-6*mat.Max(want))
		near(t, fmt.Sprint("V ", seed), res.Coefficients, v, 1e-6*mat.Max(v))
	}
}

// plainSemi performs iterations of semi-NMF on v in place and returns U, m×k.
func plainSemi(x, v *mat.Dense, iterations int) (u *mat.Dense, objective float64) {
	plus := func(a mat.Matrix, sign float64) *mat.Dense {
		var out mat.Dense
		out.Apply(func(_, _ int, x float64) float64 { return max(sign*x, 0) }, a)
		return &out
	}
	u = &mat.Dense{}
	for range iterations {
		var gram, inverse, xv, xu, h, up, un mat.Dense
		gram.Mul(v.T(), v)
		if err := inverse.Inverse(&gram); err != nil {
			panic(err)
		}
		xv.Mul(x.T(), v)
		u = &mat.Dense{}
		u.Mul(&xv, &inverse)
		xu.Mul(x, u)
		h.Mul(u.T(), u)
		up.Mul(v, plus(&h, 1))
		un.Mul(v, plus(&h, -1))
		a, b := plus(&xu, 1), plus(&xu, -1)
		v.Apply(func(i, r int, x float64) float64 {
			return x * math.Sqrt((a.At(i, r)+un.At(i, r))/(b.At(i, r)+up.At(i, r)))
		}, v)
	}
	var off mat.Dense
	off.Mul(v, u.T())
	off.Sub(x, &off)
	return u, mat.Norm(&off, 2) * mat.Norm(&off, 2)
}

// TestSemiRefuses checks that parts without a semi-NMF are named.
func TestSemiRefuses(t *testing.T) {
	p := randomProblem(1, true)
	for want, parts := range map[string]Parts{
		"basis semi needs cost frobenius, got cost kl":                                                                                   {Basis: BasisSemi, Cost: CostKL},
		"the penalty smooth needs basis vectors of 0 or more; basis semi has vectors of any sign":                                        {Basis: BasisSemi, Penalties: Penalties{Smooth{}}},
		"a kernel needs basis concept and cost frobenius, got basis semi and cost frobenius":                                             {Basis: BasisSemi, Kernel: Kernel{Function: KernelRBF}},
		"held-out entries need cost frobenius or kl and basis free, without ties, weights, penalties, unit-norm and fixed basis vectors": {Basis: BasisSemi, HeldOut: HeldOut{}},
	} {
		if _, err := parts.Fit(t.Context(), p.x, Known{}, p.opt); fmt.Sprint(err) != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
