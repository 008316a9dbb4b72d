package factor

import "gonum.org/v1/gonum/mat"

// Cost says how the distance of V·Uᵀ from X is measured.
type Cost int

const (
	// Frobenius is the sum of squared differences, ‖X − V·Uᵀ‖².
	Frobenius Cost = iota
	// KL is the generalised Kullback-Leibler divergence,
	// Σ x·log(x/y) − x + y with Y = V·Uᵀ and 0·log 0 = 0.
	KL
)

var costNames = names[Cost]{"cost", []string{"frobenius", "kl"}}

// String returns the name that settings use.
func (c Cost) String() string { return costNames.name(c) }

// UnmarshalText reads the name that settings use.
func (c *Cost) UnmarshalText(text []byte) error { return costNames.read(c, text) }

// A cost measures u and v, whose matrices it holds and others change, and
// splits its gradient. The blocks it returns are its own and change at the
// next call.
type cost interface {
	// basisBlock is the block in u; it may use what value found.
	basisBlock() block
	// coefficientBlock is the block in v.
	coefficientBlock() block
	// value is the cost at u and v. It is to be called after a
	// coefficientBlock for the same u.
	value() float64
}

// newCost returns the cost of u (k×m) and v (k×n) on x.
func newCost(c Cost, x data, u, v *mat.Dense) cost {
	if c == KL {
		return newKLCost(x, u, v)
	}
	return newFrobeniusCost(x, u, v)
}
