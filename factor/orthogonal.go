package factor

import (
	"context"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
)

// Orthogonal is the penalty λ·Σ_{r≠s} v_rᵀv_s on the overlap of the coefficients of different basis vectors, which is 0
// if VᵀV is diagonal: each sample then uses one basis vector, as a cluster.
type Orthogonal struct {
	// Weight is λ; 0 means 0.1, WeightNone means 0.
	Weight float64 `setting:"orthogonal-weight" default:"0.1" help:"weight λ of the overlap of coefficients"`
}

// OrthogonalBasis is the penalty λ·Σ_{r≠s} u_rᵀu_s on features that several basis vectors share (Li et al. 2001).
type OrthogonalBasis struct {
	// Weight is λ, in the scale of the coefficients; 0 means 0.1, WeightNone means 0.
	Weight float64 `setting:"orthogonal-basis-weight" default:"0.1" help:"weight λ of the overlap of basis vectors"`
}

func (Orthogonal) OnBasis() bool      { return false }
func (OrthogonalBasis) OnBasis() bool { return true }

// Bind implements [Penalty].
func (o Orthogonal) Bind(context.Context, Problem) (BoundPenalty, error) {
	weight, err := checkedWeight("the weight of overlap of coefficients", o.Weight)
	return overlap(weight), err
}

// Bind implements [Penalty].
func (o OrthogonalBasis) Bind(context.Context, Problem) (BoundPenalty, error) {
	weight, err := checkedWeight("the weight of overlap of basis vectors", o.Weight)
	return overlap(weight), err
}

// overlap is the weight of Σ_{r≠s} θ_rᵀθ_s.
type overlap float64

func (o overlap) Value(theta *mat.Dense) float64 {
	half := algebra.Like(theta)
	o.Gradient(half, nil, theta, 1)
	return algebra.Inner(half, theta)
}

// Gradient adds the rows before each row, then those after it: Σ θ − θ_r loses digits if θ_r is far larger than the others.
func (o overlap) Gradient(positive, _, theta *mat.Dense, scale float64) {
	k, p := theta.Dims()
	before, after := make([]float64, p), make([]float64, p)
	for r := range k {
		floats.AddScaled(positive.RawRowView(r), scale*float64(o), before)
		floats.Add(before, theta.RawRowView(r))
		floats.AddScaled(positive.RawRowView(k-1-r), scale*float64(o), after)
		floats.Add(after, theta.RawRowView(k-1-r))
	}
}

func (overlap) Root(c Cost) bool { return !c.Quadratic() }
