package factor

import (
	"fmt"

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
