package factor

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/internal/settings/enum"
)

// Orthogonality is the constraint that a factor has orthogonal columns of unit length, under the Frobenius cost (Ding, Li,
// Peng and Park 2006). Steps of [Multiplicative] approach it; the objective can rise.
type Orthogonality int

const (
	OrthogonalityNone Orthogonality = iota
	// OrthogonalityCoefficients is VᵀV = I, or VᵀDV = I with the weights D of samples: each sample uses one basis vector.
	OrthogonalityCoefficients
	OrthogonalityBasis // UᵀU = I, or GᵀG = I for the groups of features G of BasisTri: each feature is in one of them
	OrthogonalityBoth  // both, for BasisTri
)

var orthogonalityNames = enum.Of[Orthogonality]("orthogonal", "none", "coefficients", "basis", "both")

// String returns the name of the constraint in settings.
func (o Orthogonality) String() string { return orthogonalityNames.String(o) }
func (o *Orthogonality) UnmarshalText(name []byte) error {
	return orthogonalityNames.UnmarshalText(o, name)
}
func (o Orthogonality) MarshalText() ([]byte, error) { return orthogonalityNames.MarshalText(o) }
func (Orthogonality) Values() []string               { return orthogonalityNames.Values() }

// of reports whether factor i is constrained. The coefficients are factor last.
func (o Orthogonality) of(i, last int) bool {
	return o == OrthogonalityBoth && i >= last-1 || o == OrthogonalityCoefficients && i == last || o == OrthogonalityBasis && i == last-1
}

// checkOrthogonal returns an error if p does not support its constraint of orthogonal columns.
func (p Parts) checkOrthogonal() error {
	basis := p.Orthogonal.of(0, 1)
	var what string
	switch b := p.Basis; {
	case p.Orthogonal == OrthogonalityNone:
		return nil
	case p.Cost != CostFrobenius:
		what = fmt.Sprintf("cost %v", p.Cost)
	case b == BasisConcept || b == BasisSemi || b == BasisRankOne && basis || b == BasisFree && p.Orthogonal == OrthogonalityBoth:
		what = fmt.Sprintf("basis %v", b)
	case p.EntryWeights:
		what = "missing values or weights of entries"
	case p.HeldOut != nil:
		what = "held-out entries"
	case p.UnitNorm:
		what = "unit-norm"
	case p.Fixed != nil && basis:
		what = "fixed basis vectors"
	}
	for _, one := range p.Penalties {
		if what == "" && (one.OnBasis() && basis || !one.OnBasis() && p.Orthogonal.of(1, 1)) {
			what = "the penalty " + penaltyName(one) + ", which acts on an orthogonal factor"
		}
	}
	if what != "" {
		return fmt.Errorf("orthogonal: %v does not support %s", p.Orthogonal, what)
	}
	return nil
}

// orthogonalBlock is the block of the step θ ← θ∘√(L/(θθᵀL)), with θ transposed, for the negative part L of the gradient.
func orthogonalBlock(linear, theta *mat.Dense) Block {
	products := mat.NewDense(theta.RawMatrix().Rows, theta.RawMatrix().Rows, nil)
	algebra.Gemm(products, linear, algebra.NoTrans, theta, algebra.Trans)
	return Block{Linear: linear, Positive: algebra.Times(products, theta), Power: 0.5}
}

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
	return bindWeight(o, o.Weight, func(weight float64) BoundPenalty { return overlap(weight) })
}

// Bind implements [Penalty].
func (o OrthogonalBasis) Bind(context.Context, Problem) (BoundPenalty, error) {
	return bindWeight(o, o.Weight, func(weight float64) BoundPenalty { return overlap(weight) })
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
