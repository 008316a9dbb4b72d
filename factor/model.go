package factor

import "gonum.org/v1/gonum/mat"

// A model is what the engine iterates on: a cost at a basis and coefficients.
type model interface {
	// stepBasis moves the basis.
	stepBasis(s solver)
	// coefficientBlock is the block in v at the present basis.
	coefficientBlock() block
	// value is the cost, to be called after a coefficientBlock at the present
	// basis.
	value() float64
	// lengths returns those of the basis vectors, 1 for vectors of zeros.
	lengths() []float64
	// rescale divides basis vector r by scale[r]. v is not touched.
	rescale(scale []float64)
	// factors returns the basis, k×m, and W, k×n. Either may be nil: u where
	// there are no vectors among the features, w where the basis is no concept.
	factors() (u, w *mat.Dense)
}

// plainModel puts any cost and any basis together.
type plainModel struct {
	cost
	basis
	u *mat.Dense
}

func (p plainModel) stepBasis(s solver) { p.basis.step(p.cost, s) }

func (p plainModel) lengths() []float64 { return lengths(p.u) }

func (p plainModel) factors() (u, w *mat.Dense) { return p.u, p.basis.weights() }
