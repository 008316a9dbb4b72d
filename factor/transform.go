package factor

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/descent"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
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
	d, err := view.New(x)
	if err != nil {
		return nil, err
	}
	p, features := d.Dims()
	rows, k := m.Basis.Dims()
	if features != rows {
		return nil, fmt.Errorf("the samples have %d features, the basis vectors %d", features, rows)
	}
	u := mat.DenseCopyOf(m.Basis.T())
	if !m.Cost.Quadratic() {
		if i, j, value, found := view.FirstNegative(d); found {
			return nil, &view.SampleError{Sample: i, Problem: fmt.Sprintf("column %d: value %v is negative, and the %v cost needs values of 0 or more", j+1, value, m.Cost)}
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
	return algebra.Transpose(v), nil
}

// uniform returns coefficients that are all 1.
func uniform(k, p int) *mat.Dense {
	v := mat.NewDense(k, p, nil)
	v.Apply(func(int, int, float64) float64 { return 1 }, v)
	return v
}

// project moves v, k×n, by a number of steps while u, k×m, stays.
func project(ctx context.Context, c Cost, x view.Data, u, v *mat.Dense, iterations int) error {
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
	if !algebra.Finite(v) {
		return errOutgrown
	}
	return nil
}

var errOutgrown = errors.New("the coefficients have outgrown what numbers can hold")

// splitSigns makes a quadratic block whose h has negative values one for the
// square-root rule.
func splitSigns(b Block) Block {
	k, _ := b.Quadratic.Dims()
	pos, neg, mixed := algebra.Like(b.Quadratic), algebra.Like(b.Quadratic), false
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

const (
	// representRounds of up to mostSweeps sweeps of coordinate descent bring coefficients
	// to their minimum.
	representRounds = 20
	// representSteps multiplicative steps bring those of the divergence there.
	representSteps = 5 * TransformIterations
)

// Represent represents the rows of x, p×m, by p×k coefficients that are the best for the
// model, where Transform ends after steps that many experiments share. Under the Frobenius
// cost and with a kernel that is the least squares problem min ‖x − U·v‖², v ≥ 0 (coordinate
// descent: Cichocki and Phan 2009), under the divergence min D(x‖U·v), v ≥ 0 (multiplicative
// steps: Lee and Seung 2001). Other models find the best in Transform. Each sample's answer
// depends on nothing but the sample.
func Represent(ctx context.Context, m Model, x mat.Matrix) (*mat.Dense, error) {
	switch m := m.(type) {
	case *Additive:
		return m.represent(ctx, x, true)
	case *KernelModel:
		return m.represent(ctx, x, true)
	}
	return m.Transform(ctx, x)
}

// solveBest moves v, k×p, to the minimum of a quadratic block.
func solveBest(ctx context.Context, b Block, v *mat.Dense) error {
	for range representRounds {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := descent.MinimiseRows(ctx, v, v, b.Linear, b.Quadratic, descent.MostSweeps); err != nil {
			return err
		}
	}
	if !algebra.Finite(v) {
		return errOutgrown
	}
	return nil
}

// Misfit returns ‖X − V·Uᵀ‖²/‖X‖² for samples x, p×m, and the coefficients v, p×k, that
// represent them, where the model has basis vectors U among the features; of a [Linear]
// model its mean is added. The same is 0 for samples of zeros.
func Misfit(ctx context.Context, m Model, x mat.Matrix, v *mat.Dense) (float64, error) {
	u := m.Vectors()
	if u == nil {
		return 0, errors.New("the model has no basis vectors among the features")
	}
	p, features := x.Dims()
	rows, k := u.Dims()
	if r, c := v.Dims(); r != p || c != k || features != rows {
		return 0, fmt.Errorf("%d×%d coefficients of %d×%d samples, for %d basis vectors of %d features", r, c, p, features, k, rows)
	}
	var mean []float64
	if l, ok := m.(*Linear); ok {
		mean = l.Mean
	}
	var off, whole float64
	const atOnce = 256
	row := make([]float64, features)
	near := mat.NewDense(min(atOnce, p), features, nil)
	for from := 0; from < p; from += atOnce {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		to := min(from+atOnce, p)
		part := near.Slice(0, to-from, 0, features).(*mat.Dense)
		algebra.Gemm(part, v.Slice(from, to, 0, k).(*mat.Dense), algebra.NoTrans, u, algebra.Trans)
		for i := from; i < to; i++ {
			view.CopyRow(row, x, i)
			by := part.RawRowView(i - from)
			for j, value := range row {
				if mean != nil {
					by[j] += mean[j]
				}
				off += (value - by[j]) * (value - by[j])
				whole += value * value
			}
		}
	}
	if whole == 0 {
		return 0, nil
	}
	return off / whole, nil
}
