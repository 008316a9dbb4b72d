package factor

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/internal/settings/enum"
)

// A Solver lowers the objective of a factorisation that is made of [Parts].
type Solver interface {
	// Serves returns nil, or an error that names what of the parts the solver
	// does not serve. It is asked before anything is computed.
	Serves(p Parts) error
	// Start returns a function that does one iteration after another of f; what
	// the solver remembers from one to the next is that function's own. An error
	// says what of the data the solver does not serve.
	Start(f *Factorisation) (iterate func(ctx context.Context) error, err error)
}

// SolverInfo describes a solver of the list.
type SolverInfo struct {
	// Name is what settings call it, Title its full name.
	Name, Title string
	// Help says what it is good for.
	Help   string
	Solver Solver
}

// solvers is the list of solvers: one entry each, that of the papers first.
var solvers = []SolverInfo{
	{
		Name: "mu", Title: "Multiplicative updates",
		Help:   "the papers' rule, θ ← θ∘(negative part of the gradient)/(positive part); serves all parts",
		Solver: Multiplicative{},
	},
	{
		Name: "fast", Title: "Block coordinate descent",
		Help:   "each factor to its minimum, from points ahead; a fraction of the iterations; serves a free basis, and under the Frobenius cost a concept basis, and penalties on coefficients with unit-norm",
		Solver: Fast{},
	},
}

// RegisterSolver adds a solver of the program's own to the list, as [Register] adds a method.
func RegisterSolver(i SolverInfo) {
	if _, taken := LookupSolver(i.Name); taken {
		panic("factor: a solver " + i.Name + " is registered already")
	}
	solvers = append(solvers, i)
}

// Solvers returns the solvers of the list, that of the papers first.
func Solvers() []SolverInfo { return slices.Clone(solvers) }

// LookupSolver returns the solver of the name.
func LookupSolver(name string) (SolverInfo, bool) {
	i := slices.IndexFunc(solvers, func(s SolverInfo) bool { return s.Name == name })
	if i < 0 {
		return SolverInfo{}, false
	}
	return solvers[i], true
}

// SolverName is the name of a solver of the list, as settings hold it, or empty.
type SolverName string

// UnmarshalText implements [encoding.TextUnmarshaler]. It refuses names that are not in
// the list.
func (s *SolverName) UnmarshalText(name []byte) error {
	_, err := enum.Index("solver", string(name), s.Values())
	*s = SolverName(enum.Fold(string(name), s.Values()))
	return err
}

// Values returns the names of all solvers.
func (SolverName) Values() (names []string) {
	for _, s := range solvers {
		names = append(names, s.Name)
	}
	return names
}

// Solver returns the solver of the name, nil for one that is not in the list and for none.
func (s SolverName) Solver() Solver {
	info, _ := LookupSolver(string(s))
	return info.Solver
}

// A Block is the problem in one factor θ (k×p, θ ≥ 0) while the others are held:
// the gradient of the cost at θ, split into its parts, both ≥ 0 (for the Frobenius
// cost half of it: the factor 2 is left out everywhere). Its matrices are not to
// be changed and hold until [Factorisation.Moved] is called.
//
// A block with Quadratic is a quadratic problem: each column v of θ minimises
// ½·vᵀ·Quadratic·v − Linearᵀ·v over v ≥ 0, and Quadratic·θ is the positive part of
// the gradient. Every other block has Positive.
type Block struct {
	// Linear is the negative part, k×p; for signed data the linear term, of any
	// sign.
	Linear *mat.Dense
	// Quadratic is k×k, or nil.
	Quadratic *mat.Dense
	// Positive is the positive part, k×p, where Quadratic is nil.
	Positive *mat.Dense
	// Negative is nil but for signed data: the part of the gradient, k×p, that the
	// square-root rule keeps from Linear. NegativeQuadratic, k×k, is the same for a
	// quadratic block: the problem is in Quadratic − NegativeQuadratic.
	Negative, NegativeQuadratic *mat.Dense
}

// Terms are what penalties add to a block, at the factor as it is: the two parts
// of the gradient (of half of it under the Frobenius cost), both ≥ 0 and k×p.
type Terms struct {
	Positive, Negative *mat.Dense
	// Root tells whether a multiplicative step must take the square root of its
	// ratio for the objective not to rise.
	Root bool
	// Diagonal holds, for each column of θ, an upper bound of the penalties'
	// curvature in one entry of it: what they add to the diagonal of Quadratic. It is
	// nil where one of them is not quadratic, and for parameters of a basis that is
	// not free.
	Diagonal []float64
}

// size makes the terms those of theta, once.
func (t *Terms) size(theta *mat.Dense, quadratic bool) {
	if t.Positive != nil {
		return
	}
	t.Positive, t.Negative = algebra.Like(theta), algebra.Like(theta)
	if quadratic {
		_, p := theta.Dims()
		t.Diagonal = make([]float64, p)
	}
}
