package factor

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// Model is what a method has learned to represent samples by.
type Model interface {
	// Transform represents the rows of x, p×m, by p×k coefficients. Each
	// sample's answer depends on nothing but the sample.
	Transform(ctx context.Context, x mat.Matrix) (*mat.Dense, error)
	// Vectors returns the k vectors that coefficients are of, as columns, m×k,
	// or nil where they are none among the features.
	Vectors() *mat.Dense
}

// Additive is a [Model] that represents a sample by the sum of basis vectors,
// each times a coefficient ≥ 0, that is nearest to it.
type Additive struct {
	// Cost is how the distance from the data is measured.
	Cost Cost
	// Basis holds the k basis vectors as columns: U, m×k.
	Basis *mat.Dense
}

// Vectors implements [Model]: the basis.
func (m *Additive) Vectors() *mat.Dense { return m.Basis }

// TransformIterations is how many steps the Transform of an Additive takes.
const TransformIterations = 100

// Transform implements [Model] with the basis held fixed: multiplicative steps
// of the model's cost, without ties or penalties, from a uniform start. Only the
// divergence needs samples ≥ 0.
func (m *Additive) Transform(ctx context.Context, x mat.Matrix) (*mat.Dense, error) {
	return m.represent(ctx, x, false)
}

// represent is Transform, and Represent with best.
func (m *Additive) represent(ctx context.Context, x mat.Matrix, best bool) (*mat.Dense, error) {
	if err := named(m.Cost); err != nil {
		return nil, err
	}
	d, err := newData(x)
	if err != nil {
		return nil, err
	}
	p, features := d.dims()
	rows, k := m.Basis.Dims()
	if features != rows {
		return nil, fmt.Errorf("the samples have %d features, the basis vectors %d", features, rows)
	}
	u := mat.DenseCopyOf(m.Basis.T())
	if !m.Cost.Quadratic() {
		if i, j, value, found := firstNegative(d); found {
			return nil, &SampleError{i, fmt.Sprintf("column %d: value %v is negative, and the %v cost needs values of 0 or more", j+1, value, m.Cost)}
		}
	}
	v, steps := uniform(k, p), TransformIterations
	if best {
		steps = representSteps
	}
	if best && m.Cost == CostFrobenius {
		err = solveBest(ctx, newCost(m.Cost, d, u, v).coefficientBlock(), v)
	} else {
		err = project(ctx, m.Cost, d, u, v, steps)
	}
	if err != nil {
		return nil, err
	}
	return transpose(v), nil
}

// uniform returns coefficients that are all 1.
func uniform(k, p int) *mat.Dense {
	v := mat.NewDense(k, p, nil)
	v.Apply(func(int, int, float64) float64 { return 1 }, v)
	return v
}

// project moves v, k×n, by a number of steps while u, k×m, stays.
func project(ctx context.Context, c Cost, x data, u, v *mat.Dense, iterations int) error {
	cost := newCost(c, x, u, v)
	next := func() Block {
		cost.moved(true)
		return cost.coefficientBlock()
	}
	return solve(ctx, next, v, iterations)
}

// solve moves v by a number of steps of its block, of which a quadratic one is the
// same at every v.
func solve(ctx context.Context, next func() Block, v *mat.Dense, iterations int) error {
	s := &multiplicative{}
	b := next()
	if b.Quadratic != nil {
		b = splitSigns(b)
	}
	for t := range iterations {
		if err := ctx.Err(); err != nil {
			return err
		}
		if t > 0 && b.Quadratic == nil {
			b = next()
		}
		s.step(v, b, nil)
	}
	if !finite(v) {
		return errOutgrown
	}
	return nil
}

var errOutgrown = errors.New("the coefficients have outgrown what numbers can hold")

// splitSigns makes a quadratic block whose h has negative values one for the
// square-root rule.
func splitSigns(b Block) Block {
	k, _ := b.Quadratic.Dims()
	pos, neg, mixed := like(b.Quadratic), like(b.Quadratic), false
	for i := range k {
		for j := range k {
			x := b.Quadratic.At(i, j)
			pos.Set(i, j, max(x, 0))
			neg.Set(i, j, max(-x, 0))
			mixed = mixed || x < 0
		}
	}
	for i := range k {
		for _, x := range b.Linear.RawRowView(i) {
			mixed = mixed || x < 0
		}
	}
	if !mixed {
		return b
	}
	return Block{Linear: b.Linear, Quadratic: pos, NegativeQuadratic: neg}
}
