package factor

import (
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/settings/enum"
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

// costInfo is what the engine needs to know about a cost.
type costInfo struct {
	name string
	// degree is β where the cost of t·X and t·Y is t^β times that of X and Y. Under degree 2
	// blocks are half the gradient.
	degree float64
	// new returns the cost of u (k×m) and v (k×n) on x.
	new func(x view.Data, u, v *mat.Dense) cost
	// term is the cost of one entry x where the factors say y.
	term func(x, y float64) float64
	// constant is what condensing takes away: the cost of the whole data is that of the
	// condensed data plus this.
	constant func(t *condensation, whole, condensed view.Data) float64
}

// costs is the list of costs, in the order of their values: one entry each. A cost must be a
// Bregman divergence in x, of which ties and weights are then the same for all.
var costs = []costInfo{frobenius, kl}

func (c Cost) names() enum.Names[Cost] {
	var names []string
	for _, i := range costs {
		names = append(names, i.name)
	}
	return enum.Of[Cost]("cost", names...)
}

// String, UnmarshalText, MarshalText and Values use the names that settings have.
func (c Cost) String() string                   { return c.names().String(c) }
func (c *Cost) UnmarshalText(name []byte) error { return c.names().UnmarshalText(c, name) }
func (c Cost) MarshalText() ([]byte, error)     { return c.names().MarshalText(c) }
func (c Cost) Values() []string                 { return c.names().Values() }

// Quadratic tells whether the cost is quadratic in either factor.
func (c Cost) Quadratic() bool { return costs[c].degree == 2 }

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
func newCost(c Cost, x view.Data, u, v *mat.Dense) cost {
	return costs[c].new(x, u, v)
}
