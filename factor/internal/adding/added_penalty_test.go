package adding

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor"
)

// Apart is the penalty λ·Σ_{r≠s} u_rᵀu_s, which makes basis vectors share few features.
type Apart struct {
	// Weight is λ ≥ 0; 0 means 1.
	Weight float64 `setting:"apart-weight" default:"1" help:"weight λ of the overlap of basis vectors"`
}

// OnBasis implements [factor.Penalty].
func (Apart) OnBasis() bool { return true }

// Bind implements [factor.Penalty].
func (a Apart) Bind(context.Context, factor.Problem) (factor.BoundPenalty, error) {
	switch {
	case a.Weight == 0:
		return boundApart{1}, nil
	case a.Weight > 0 && a.Weight <= 1e100:
		return boundApart{a.Weight}, nil
	}
	return nil, fmt.Errorf("apart-weight is %v; it must be a number from 0 to 1e100", a.Weight)
}

type boundApart struct{ weight float64 }

// Value is λ·Σ_j Σ_{r≠s} u_rj·u_sj. The difference of (Σ_r u_rj)² and Σ_r u_rj² would lose all
// digits if one u_rj is far larger than the others.
func (b boundApart) Value(u *mat.Dense) (sum float64) {
	k, m := u.Dims()
	for j := range m {
		var before float64
		for r := range k {
			x := u.At(r, j)
			sum += 2 * b.weight * x * before
			before += x
		}
	}
	return sum
}

// Gradient adds λ·Σ_{s≠r} u_s, half the gradient, to the positive part.
func (b boundApart) Gradient(positive, _, u *mat.Dense, scale float64) {
	k, m := u.Dims()
	for j := range m {
		for r := range k {
			var others float64
			for s := range k {
				if s != r {
					others += u.At(s, j)
				}
			}
			positive.Set(r, j, positive.At(r, j)+scale*b.weight*others)
		}
	}
}

// Root reports that the KL cost needs square roots in steps, as for every term quadratic in U.
func (boundApart) Root(c factor.Cost) bool { return c == factor.CostKL }
