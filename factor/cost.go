package factor

import (
	"github.com/seed4492f2cd/partwise/internal/enum"
	"gonum.org/v1/gonum/mat"
)

// Cost says how the distance of V·Uᵀ from X is measured.
type Cost int

const (
	// CostFrobenius is the sum of squared differences, ‖X − V·Uᵀ‖².
	CostFrobenius Cost = iota
	// CostKL is the generalised Kullback-Leibler divergence,
	// Σ x·log(x/y) − x + y with Y = V·Uᵀ and 0·log 0 = 0.
	CostKL
)

var costNames = enum.Of[Cost]("cost", "frobenius", "kl")

// String, UnmarshalText, MarshalText and Values use the names that settings have.
func (c Cost) String() string                   { return costNames.String(c) }
func (c *Cost) UnmarshalText(name []byte) error { return costNames.UnmarshalText(c, name) }
func (c Cost) MarshalText() ([]byte, error)     { return costNames.MarshalText(c) }
func (Cost) Values() []string                   { return costNames.Values() }

// A cost measures u, k×m, and v, k×n, whose matrices it holds and others change,
// and splits its gradient. The blocks it returns are its own and hold until
// moved is called.
type cost interface {
	// moved says that u has changed, or v.
	moved(v bool)
	// basisBlock is the block in u, coefficientBlock that in v.
	basisBlock() Block
	coefficientBlock() Block
	// value is the cost at u and v.
	value() float64
}

// newCost returns the cost of u (k×m) and v (k×n) on x.
func newCost(c Cost, x data, u, v *mat.Dense) cost {
	if c == CostKL {
		return newKLCost(x, u, v)
	}
	return newFrobeniusCost(x, u, v)
}
