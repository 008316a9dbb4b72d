package factor

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
)

// KernelModel is a [Model] that represents a sample x by the v ≥ 0 that is
// argmin ‖φ(x) − φ(X)Wv‖² = k(x, x) − 2·vᵀWᵀk_x + vᵀWᵀKW·v, k_x being its n kernel
// values with the training samples X.
type KernelModel struct {
	// Kernel compares samples; its KernelWidth is a number, where that matters.
	Kernel Kernel
	// Samples is X, n×m, a *mat.Dense or a *CSR. It is nil where the kernel was
	// given as a matrix.
	Samples mat.Matrix
	// Weights is W, n×k.
	Weights *mat.Dense
	// Products is WᵀKW, k×k: the inner products of the concepts.
	Products *mat.Dense
}

// Vectors implements [Model]. There are none among the features: nil.
func (m *KernelModel) Vectors() *mat.Dense { return nil }

// Transform implements [Model]: multiplicative steps from a uniform start, as
// many as an [Additive] takes. Where Samples is nil a row of x, p×n, is not a
// sample but its kernel values with the n training samples, in their order.
func (m *KernelModel) Transform(ctx context.Context, x mat.Matrix) (*mat.Dense, error) {
	return m.represent(ctx, x, false)
}

// represent is Transform, and Represent with best.
func (m *KernelModel) represent(ctx context.Context, x mat.Matrix, best bool) (*mat.Dense, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	if x == nil {
		return nil, errors.New("no data")
	}
	p, columns := x.Dims()
	if p == 0 || columns == 0 {
		return nil, fmt.Errorf("no data: the matrix is %d×%d", p, columns)
	}
	_, k := m.Weights.Dims()
	var lin *mat.Dense // k×p
	var err error
	if m.Samples != nil {
		lin, err = m.compare(ctx, x)
	} else {
		lin, err = m.weigh(x)
	}
	if err != nil {
		return nil, err
	}
	v := uniform(k, p)
	problem := Block{Linear: lin, Quadratic: m.Products}
	if best {
		err = solveBest(ctx, problem, v)
	} else {
		err = solve(ctx, func() Block { return problem }, v, TransformIterations)
	}
	if err != nil {
		return nil, err
	}
	return algebra.Transpose(v), nil
}

// compare returns Wᵀ·k_x of samples x.
func (m *KernelModel) compare(ctx context.Context, x mat.Matrix) (*mat.Dense, error) {
	d, err := view.New(x)
	if err != nil {
		return nil, err
	}
	p, features := d.Dims()
	if _, have := m.Samples.Dims(); features != have {
		return nil, fmt.Errorf("the samples have %d features, those of the model %d", features, have)
	}
	kernel, err := m.Kernel.resolved()
	if err != nil {
		return nil, err
	}
	if err := kernel.checkSamples(d); err != nil {
		return nil, err
	}
	square := make([]float64, p)
	d.Each(func(i, _ int, v float64) { square[i] += v * v })
	n, k := m.Weights.Dims()
	_, own := m.Samples.Dims()
	sample := make([]float64, own)
	lin, add := mat.NewDense(k, p, nil), mat.NewDense(k, p, nil)
	err = kernel.eachProduct(ctx, m.Samples, d, func(from int, part *mat.Dense) {
		r, _ := part.Dims()
		for i := range r {
			view.CopyRow(sample, m.Samples, from+i)
			kernel.apply(part.RawRowView(i), algebra.Dot(sample, sample), square)
		}
		algebra.Gemm(add, m.Weights.Slice(from, from+r, 0, k).(*mat.Dense), algebra.Trans, part, algebra.NoTrans)
		lin.Add(lin, add)
	})
	if err != nil {
		return nil, err
	}
	if !algebra.Finite(lin) {
		return nil, fmt.Errorf("the kernel values with the %d training samples are beyond what numbers can hold", n)
	}
	return lin, nil
}

// weigh returns Wᵀ·k_x of kernel values, p×n.
func (m *KernelModel) weigh(values mat.Matrix) (*mat.Dense, error) {
	n, k := m.Weights.Dims()
	p, c := values.Dims()
	if c != n {
		return nil, fmt.Errorf("there are kernel values with %d training samples, and the model has %d", c, n)
	}
	dense := mat.DenseCopyOf(values)
	for i := range p {
		for j, x := range dense.RawRowView(i) {
			if !(math.Abs(x) <= view.LargestValue) {
				return nil, &view.SampleError{Sample: i, Problem: fmt.Sprintf("kernel value %v with training sample %d is not usable (it must be finite and at most %g)", x, j+1, view.LargestValue)}
			}
		}
	}
	lin := mat.NewDense(k, p, nil)
	algebra.Gemm(lin, m.Weights, algebra.Trans, dense, algebra.Trans)
	return lin, nil
}

// check reports parts of the model that do not fit together.
func (m *KernelModel) check() error {
	n, k := m.Weights.Dims()
	if r, c := m.Products.Dims(); r != k || c != k {
		return fmt.Errorf("the model has %d×%d inner products of %d concepts", r, c, k)
	}
	if m.Samples == nil {
		return nil
	}
	if _, err := m.Kernel.resolved(); err != nil {
		return err
	}
	if m.Kernel.Function == KernelRBF && m.Kernel.KernelWidth == 0 {
		return errors.New("the model's rbf kernel has no width")
	}
	d, err := view.New(m.Samples)
	if err != nil {
		return fmt.Errorf("training %w", err)
	}
	if r, _ := d.Dims(); r != n {
		return fmt.Errorf("the model has weights of %d training samples, and there are %d", n, r)
	}
	if err := m.Kernel.checkSamples(d); err != nil {
		return fmt.Errorf("training %w", err)
	}
	return nil
}
