package factor

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/settings/enum"
	"github.com/seed4492f2cd/partwise/internal/simd"
)

// A Solver is an algorithm that minimises the objective of a factorisation made of [Parts].
type Solver interface {
	// Serves returns nil, or an error that names the part that the solver does not support.
	Serves(p Parts) error
	// Start returns a function that performs one iteration of f per call, or an error if the solver does not support
	// the data.
	Start(f *Factorisation) (iterate func(ctx context.Context) error, err error)
}

// SolverInfo describes a registered solver.
type SolverInfo struct {
	Name, Title string // name in settings and full name
	Help        string // when to use it
	Solver      Solver // the solver with its defaults
}

// solvers is the registry of solvers, the papers' rule first.
var solvers = []SolverInfo{
	{Name: "mu", Title: "Multiplicative updates", Solver: Multiplicative{},
		Help: "the papers' rule, θ ← θ∘(negative part of the gradient)/(positive part); supports all parts"},
	{Name: "fast", Title: "Block coordinate descent", Solver: Fast{},
		Help: "minimises over one factor at a time, with extrapolation; needs far fewer iterations; supports a free basis, a concept basis with the Frobenius cost, penalties on coefficients with unit-norm, and elastic nets"},
}

// RegisterSolver adds a solver to the registry, as [Register] adds a method.
func RegisterSolver(i SolverInfo) {
	if _, taken := LookupSolver(i.Name); taken {
		panic("factor: a solver " + i.Name + " is already registered")
	}
	solvers = append(solvers, i)
}

// Solvers returns the registered solvers, the papers' rule first.
func Solvers() []SolverInfo { return slices.Clone(solvers) }

// LookupSolver returns the registered solver with the given name.
func LookupSolver(name string) (SolverInfo, bool) {
	return lists.Find(solvers, func(s SolverInfo) bool { return s.Name == name })
}

// SolverName is the name of a registered solver in settings, or empty for the default.
type SolverName string

// UnmarshalText parses a name, ignoring case. Unknown names are an error.
func (s *SolverName) UnmarshalText(name []byte) error {
	_, err := enum.Index("solver", string(name), s.Values())
	*s = SolverName(enum.Fold(string(name), s.Values()))
	return err
}

// Values returns the names of all solvers.
func (SolverName) Values() []string {
	return lists.Map(solvers, func(s SolverInfo) string { return s.Name })
}

// Solver returns the solver with this name, or nil if the name is empty or unknown.
func (s SolverName) Solver() Solver {
	info, _ := LookupSolver(string(s))
	return info.Solver
}

// A Block is the subproblem in one factor θ, k×p, θ ≥ 0, with the other factors fixed. It holds the gradient of the cost
// at θ, or half of it under the Frobenius cost, split into a positive and a negative part, both ≥ 0. Its matrices are
// read-only and valid until [Factorisation.Moved] is called.
//
// If Quadratic is not nil, the subproblem is quadratic: each column v of θ minimises ½·vᵀ·Quadratic·v − Linearᵀ·v over
// v ≥ 0, and Quadratic·θ is the positive part of the gradient. Otherwise Positive is that part.
type Block struct {
	Linear    *mat.Dense // the negative part, k×p; for signed data the linear term, of any sign
	Quadratic *mat.Dense // k×k, or nil
	Positive  *mat.Dense // the positive part, k×p, if Quadratic is nil
	// Negative, k×p, is set for signed data only: the negative part that the square-root rule does not count in
	// Linear. NegativeQuadratic, k×k, is its quadratic form: the Hessian is Quadratic − NegativeQuadratic.
	Negative, NegativeQuadratic *mat.Dense
	// Power is the exponent γ of the ratio of a multiplicative step, with which the cost does not rise; 0 means 1. With
	// NegativeQuadratic, the ratio is of all negative to all positive parts, and 0 means the square-root rule.
	Power float64
	// AnySign reports that θ may be of any sign. The subproblem then is a linear system, Quadratic·θ = Linear.
	AnySign bool
}

// Terms are the penalties' contribution to a block: the two parts of the gradient, or of half of it as in the block, k×p.
type Terms struct {
	Positive, Negative *mat.Dense
	// Root reports that a multiplicative step must take the power γ/(1 + γ) of its ratio, the square root for γ = 1.
	Root bool
	// Form, k×k, replaces both parts if the factor may be of any sign: half the gradient is Form·θ, and Form is at least
	// half the second derivative.
	Form *mat.Dense
}

// Multiplicative is the multiplicative update rule of the papers, θ ← θ∘(negative part/positive part) for each factor
// in turn. For signed data it is θ ← θ∘(ℓ + √(ℓ² + 4P⁺P⁻))/(2P⁺) (Sha, Lin, Saul and Lee 2007; CCF paper, eqs 23 and
// 27, with misprints corrected). A factor of any sign is the solution of its linear system. It supports all parts.
type Multiplicative struct{}

// Serves implements [Solver].
func (Multiplicative) Serves(Parts) error { return nil }

// Start implements [Solver].
func (Multiplicative) Start(f *Factorisation) (func(context.Context) error, error) {
	rooms := lists.Map(f.Factors(), func(theta *mat.Dense) [2]*mat.Dense {
		return [2]*mat.Dense{algebra.Like(theta), algebra.Like(theta)}
	})
	guard := f.parts.Basis == BasisSemi && !f.parts.UnitNorm
	return func(context.Context) error {
		before := math.Inf(1)
		if guard {
			before = f.Objective()
			f.Keep()
		}
		for i, theta := range f.Factors() {
			if b := f.Block(i); b.AnySign {
				leastSquares(theta, b.Linear, b.Quadratic, f.Terms(i), f.parts.fixed())
			} else {
				multiplicativeStep(theta, b, f.Terms(i), rooms[i])
			}
			f.Moved(i)
		}
		if guard && !(f.Objective() <= before) { // rounding error of a nearly singular system
			f.Restore()
		}
		return nil
	}, nil
}

// divisionWork is the cost of a division and its overhead, in multiplications.
const divisionWork = 32

// multiplicativeStep updates theta in place. room holds two buffers of its size; t may be nil.
func multiplicativeStep(theta *mat.Dense, b Block, t *Terms, room [2]*mat.Dense) {
	pos, neg := b.Positive, b.Negative
	if b.Quadratic != nil {
		pos = room[0]
		algebra.Gemm(pos, b.Quadratic, algebra.NoTrans, theta, algebra.NoTrans)
	}
	if b.NegativeQuadratic != nil {
		neg = room[1]
		algebra.Gemm(neg, b.NegativeQuadratic, algebra.NoTrans, theta, algebra.NoTrans)
	}
	power := cmp.Or(b.Power, 1)
	if t != nil && t.Root && neg == nil {
		power /= 1 + power
	}
	algebra.EachRow(theta, divisionWork, func(r int, th []float64) {
		lin, pos := b.Linear.RawRowView(r), pos.RawRowView(r)
		var tn, tp []float64
		if t != nil {
			tn, tp = t.Negative.RawRowView(r), t.Positive.RawRowView(r)
		}
		switch {
		case neg != nil && power != 1: // Ding, Li and Jordan 2010, eq. 11
			neg := neg.RawRowView(r)
			for i, l := range lin {
				neg[i] += max(l, 0)
				pos[i] += max(-l, 0)
			}
			multiply(th, neg, pos, tn, tp, power)
		case neg != nil:
			multiplySigned(th, lin, pos, neg.RawRowView(r), tn, tp)
		case t != nil || power != 1:
			multiply(th, lin, pos, tn, tp, power)
		default:
			simd.Step(th, lin, pos, algebra.LeastDenominator, algebra.Floor)
		}
	})
}

// multiply is θ ← θ∘ratio^power with ratio = (lin + tn)/(pos + tp). tn and tp may be nil.
func multiply(th, lin, pos, tn, tp []float64, power float64) {
	for i, x := range th {
		l, p := lin[i], pos[i]
		if tn != nil {
			l, p = l+tn[i], p+tp[i]
		}
		by := elementary.Pow(l/max(p, algebra.LeastDenominator), power)
		th[i] = algebra.FlooredProduct(x, by)
	}
}

// multiplySigned is θ ← θ∘(ℓ + √(ℓ² + 4P⁺P⁻))/(2P⁺). For ℓ < 0 it uses an equivalent form without cancellation.
func multiplySigned(th, lin, pos, neg, tn, tp []float64) {
	for i, x := range th {
		l, p, n := lin[i], pos[i], neg[i]
		if tn != nil {
			p, n = p+tp[i], n+tn[i]
		}
		root := math.Sqrt(l*l + 4*p*n)
		if l >= 0 {
			th[i] = algebra.FlooredProduct(x, (l+root)/max(2*p, algebra.LeastDenominator))
		} else {
			th[i] = algebra.FlooredProduct(x, 2*n/max(root-l, algebra.LeastDenominator))
		}
	}
}
