package factor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/descent"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/npz"
)

// Model is what a method has learned to represent samples by.
type Model interface {
	// Transform represents the rows of x, p×m, by p×k coefficients. Each sample's answer depends on
	// nothing but the sample.
	Transform(ctx context.Context, x mat.Matrix) (*mat.Dense, error)
	// Vectors returns the k vectors that coefficients are of, as columns, m×k, or nil where they are none
	// among the features.
	Vectors() *mat.Dense
}

// Additive is a [Model] that represents a sample by the sum of basis vectors, each times a coefficient ≥
// 0, that is nearest to it.
type Additive struct {
	Cost  Cost       // how the distance from the data is measured
	Basis *mat.Dense // holds the k basis vectors as columns: U, m×k
}

func (m *Additive) Vectors() *mat.Dense { return m.Basis }

// TransformIterations is how many steps the Transform of an Additive takes.
const TransformIterations = 100

// Transform implements [Model] with the basis held fixed: multiplicative steps of the model's cost,
// without ties or penalties, from a uniform start. Only the divergence needs samples ≥ 0.
func (m *Additive) Transform(ctx context.Context, x mat.Matrix) (*mat.Dense, error) {
	return m.represent(ctx, x, false)
}

func (m *Additive) represent(ctx context.Context, x mat.Matrix, best bool) (*mat.Dense, error) {
	if err := named(m.Cost); err != nil {
		return nil, err
	}
	rows, k := m.Basis.Dims()
	d, err := dataOf(x, rows, "the basis vectors")
	if err != nil {
		return nil, err
	}
	p, _ := d.Dims()
	if !m.Cost.Quadratic() {
		if err := view.NonNegative(d, fmt.Sprintf("the %v cost", m.Cost)); err != nil {
			return nil, err
		}
	}
	v := uniform(k, p)
	cost := costs[m.Cost].new(d, algebra.Transpose(m.Basis), v)
	return solve(ctx, v, best, TransformIterations, func() Block {
		cost.moved(true)
		return cost.coefficientBlock()
	})
}

// dataOf returns the data of samples that must have as many features as what of a model.
func dataOf(x mat.Matrix, features int, what string) (view.Data, error) {
	d, err := view.New(x)
	if err != nil {
		return nil, err
	}
	if _, have := d.Dims(); have != features {
		return nil, fmt.Errorf("the samples have %d features; expected %d, as in %s", have, features, what)
	}
	return d, nil
}

func uniform(k, p int) *mat.Dense {
	v := mat.NewDense(k, p, nil)
	v.Apply(func(int, int, float64) float64 { return 1 }, v)
	return v
}

// solve moves v, k×p, by a number of multiplicative steps of its block, of which a quadratic one is the same
// at every v, and returns its transpose. With best v comes to its minimum: by coordinate descent where the
// block is quadratic, and else by more steps.
func solve(ctx context.Context, v *mat.Dense, best bool, steps int, next func() Block) (*mat.Dense, error) {
	b := next()
	exact := best && b.Quadratic != nil
	switch {
	case exact:
		steps = 20 // of up to MostSweeps sweeps each
	case best:
		steps *= 5
	case b.Quadratic != nil:
		b = splitSigns(b)
	}
	room := [2]*mat.Dense{algebra.Like(v), algebra.Like(v)}
	for t := range steps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if t > 0 && b.Quadratic == nil {
			b = next()
		}
		if !exact {
			multiplicativeStep(v, b, nil, room)
		} else if err := descent.MinimiseRows(ctx, v, v, b.Linear, b.Quadratic, descent.MostSweeps); err != nil {
			return nil, err
		}
	}
	if !algebra.Finite(v) {
		return nil, errors.New("the coefficients overflow")
	}
	return algebra.Transpose(v), nil
}

// splitSigns makes a quadratic block whose h has negative values one for the square-root rule.
func splitSigns(b Block) Block {
	if mat.Min(b.Quadratic) >= 0 && mat.Min(b.Linear) >= 0 {
		return b
	}
	pos, neg := algebra.Like(b.Quadratic), algebra.Like(b.Quadratic)
	pos.Apply(func(_, _ int, x float64) float64 { return max(x, 0) }, b.Quadratic)
	neg.Apply(func(_, _ int, x float64) float64 { return max(-x, 0) }, b.Quadratic)
	return Block{Linear: b.Linear, Quadratic: pos, NegativeQuadratic: neg}
}

// Represent represents the rows of x, p×m, by the best p×k coefficients v ≥ 0 for the model: under the Frobenius cost
// and with a kernel by min ‖x − U·v‖² (coordinate descent: Cichocki and Phan 2009), under the divergence by min
// D(x‖U·v) (multiplicative steps: Lee and Seung 2001). Other models find the best in Transform. Each sample's answer
// depends on the sample alone.
func Represent(ctx context.Context, m Model, x mat.Matrix) (*mat.Dense, error) {
	if m, ok := m.(interface {
		represent(ctx context.Context, x mat.Matrix, best bool) (*mat.Dense, error)
	}); ok {
		return m.represent(ctx, x, true)
	}
	return m.Transform(ctx, x)
}

// Misfit returns ‖X − V·Uᵀ‖²/‖X‖², or 0 if X is 0, for samples x, p×m, and the coefficients v, p×k, that represent
// them by basis vectors U; of a [Linear] model its mean is added.
func Misfit(ctx context.Context, m Model, x mat.Matrix, v *mat.Dense) (float64, error) {
	u := m.Vectors()
	if u == nil {
		return 0, errors.New("the model has no basis vectors in feature space")
	}
	p, features := x.Dims()
	rows, k := u.Dims()
	if r, c := v.Dims(); r != p || c != k || features != rows {
		return 0, fmt.Errorf("%d×%d coefficients do not match %d×%d samples and %d basis vectors of %d features", r, c, p, features, k, rows)
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

// The kinds of models in a file.
const (
	kindAdditive = iota
	kindLinear
	kindSparseCode
	kindNone
	kindKernel
)

// Save writes the result as a NumPy .npz file. Its array kind, one integer, says what the model is: 0
// [Additive], 1 [Linear], 2 [SparseCode], 3 none, 4 [KernelModel]. docs/models.md lists the other arrays.
// They are compressed but for those that LoadModel would not read so.
func (r *Result) Save(w io.Writer) error { return r.SaveWith(w, nil) }

// SaveWith is Save with further arrays, of other names, which more, unless it is nil, writes before the others.
func (r *Result) SaveWith(w io.Writer, more func(*npz.Writer)) error {
	z := npz.NewWriter(w)
	z.Compress = true
	if more != nil {
		more(z)
	}
	kind, _, of := layout(r.Model)
	if kind < 0 {
		return fmt.Errorf("a model of the type %T cannot be saved", r.Model)
	}
	of = slices.Concat([]field{{"kind", &kind}}, of, []field{
		{"basis", &r.Basis}, {"coefficients", &r.Coefficients}, {"weights", &r.Weights},
		{"association", &r.Association}, {"objective", &r.Objective}, {"penalty", &r.Penalty},
	})
	for _, a := range of {
		a.write(z)
	}
	return z.Close()
}

// layout returns the kind of a model, or -1, its vectors and its other arrays.
func layout(m Model) (kind int, vectors **mat.Dense, of []field) {
	switch m := m.(type) {
	case *Additive:
		return kindAdditive, &m.Basis, []field{{"cost", (*int)(&m.Cost)}}
	case *Linear:
		return kindLinear, &m.Projection, []field{{"mean", &m.Mean}}
	case *SparseCode:
		return kindSparseCode, &m.Dictionary, []field{{"lambda", &m.Lambda}}
	case *KernelModel:
		s := newSavedKernel(m)
		return kindKernel, nil, append([]field{{"products", &m.Products}, {"kernel", &s.function}}, s.fields()...)
	case nil:
		return kindNone, nil, nil
	}
	return -1, nil, nil
}

// field is an array of a file and a pointer to its value: a matrix, numbers or integers, or one of these.
type field struct {
	name string
	of   any
}

func (a field) write(z *npz.Writer) {
	switch of := a.of.(type) {
	case **mat.Dense:
		if x := *of; x != nil {
			n, m := x.Dims()
			z.Floats(a.name, []int{n, m}, x.RawRowView)
		}
	case *[]float64:
		if len(*of) > 0 {
			z.List(a.name, *of)
		}
	case *float64:
		z.List(a.name, []float64{*of})
	case *int:
		z.Integers(a.name, *of)
	case *[]int:
		z.Integers(a.name, *of...)
	}
}

// read reads arrays: finite numbers, integers from 0 to largest.
func read(z *npz.Archive, largest int64, fields ...field) (err error) {
	for _, a := range fields {
		var numbers []float64
		var integers, shape []int
		switch of := a.of.(type) {
		case **mat.Dense:
			if numbers, shape, err = readNumbers(z, a.name, 2); err == nil {
				*of = mat.NewDense(shape[0], shape[1], numbers)
			}
		case *[]float64:
			*of, _, err = readNumbers(z, a.name, 1)
		case *float64:
			if numbers, _, err = readNumbers(z, a.name, 1); err == nil {
				*of, err = one(a.name, numbers)
			}
		case *[]int:
			*of, err = z.Integers(a.name, largest)
		case *int:
			if integers, err = z.Integers(a.name, largest); err == nil {
				*of, err = one(a.name, integers)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readNumbers reads an array of finite numbers, of one or more, of this number of dimensions.
func readNumbers(z *npz.Archive, name string, dimensions int) (values []float64, shape []int, err error) {
	values, shape, err = z.Floats(name, dimensions, nil)
	switch {
	case err != nil:
	case len(values) == 0:
		err = fmt.Errorf("the array %q has shape %v; expected a non-empty array", name, shape)
	case slices.ContainsFunc(values, func(x float64) bool { return !algebra.FiniteNumber(x) }):
		err = fmt.Errorf("the array %q has values that are not finite", name)
	}
	return values, shape, err
}

// one returns the value of an array of one.
func one[T int | float64](name string, values []T) (T, error) {
	if len(values) != 1 {
		return 0, fmt.Errorf("the array %q has %d values; expected one", name, len(values))
	}
	return values[0], nil
}

// ErrNoModel is the error of LoadModel for the saved result of a method that finds no model.
var ErrNoModel = errors.New("the saved result has no model for new samples")

// LoadModel reads the model that Save wrote, size bytes long, and checks it. An array that would take
// more than 16 MiB, and 100 bytes for each of the file's that it is packed in, is an error; no memory is
// taken for it.
func LoadModel(r io.ReaderAt, size int64) (Model, error) {
	z, err := openArchive(r, size)
	if err != nil {
		return nil, err
	}
	var kind int
	if err := read(z, kindKernel, field{"kind", &kind}); err != nil {
		return nil, err
	}
	switch kind {
	case kindNone:
		return nil, ErrNoModel
	case kindKernel:
		return loadKernelModel(z)
	}
	m := []Model{&Additive{}, &Linear{}, &SparseCode{}}[kind]
	_, vectors, of := layout(m)
	if err := read(z, int64(len(costs)-1), append([]field{{"basis", vectors}}, of...)...); err != nil {
		return nil, err
	}
	switch m := m.(type) {
	case *Linear:
		if rows, _ := m.Projection.Dims(); len(m.Mean) != rows {
			return nil, fmt.Errorf("the array %q has %d values; expected %d", "mean", len(m.Mean), rows)
		}
	case *SparseCode:
		if err := view.CheckWeight("lambda", m.Lambda); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// LoadCoefficients reads the coefficients that Save wrote, n×k, of a file that is size bytes long, within
// the bounds of LoadModel.
func LoadCoefficients(r io.ReaderAt, size int64) (v *mat.Dense, err error) {
	z, err := openArchive(r, size)
	if err == nil {
		err = read(z, 0, field{"coefficients", &v})
	}
	return v, err
}

func openArchive(r io.ReaderAt, size int64) (*npz.Archive, error) {
	z, err := npz.Open(r, size)
	if err != nil {
		return nil, fmt.Errorf("not a saved result: %w", err)
	}
	return z, nil
}

// savedKernel is a kernel model as it is in a file, where functions have numbers and an offset of 0 is 0.
type savedKernel struct {
	*KernelModel
	function int // kernelGiven for a kernel given as a matrix
	offset   float64
	dense    *mat.Dense // the samples, or nil
	sparse   CSR
	features int // of sparse samples
}

const kernelGiven = int(KernelIntersection) + 1

func newSavedKernel(m *KernelModel) *savedKernel {
	s := &savedKernel{KernelModel: m, function: int(m.Kernel.Function), offset: orDefault(m.Kernel.Offset, 1)}
	switch x := m.Samples.(type) {
	case *CSR:
		s.sparse = *x
		_, s.features = x.Dims()
	case *mat.Dense:
		s.dense = x
	default:
		s.function = kernelGiven
	}
	return s
}

// fields are the arrays of the kernel's parameters and of the samples, which are sparse where they have features.
func (s *savedKernel) fields() (of []field) {
	switch s.function {
	case kernelGiven:
		return nil
	case int(KernelRBF):
		of = []field{{"width", &s.Kernel.KernelWidth}}
	case int(KernelPolynomial):
		of = []field{{"degree", &s.Kernel.Degree}, {"offset", &s.offset}}
	}
	if s.features == 0 {
		return append(of, field{"samples", &s.dense})
	}
	return append(of, field{"samples", &s.sparse.Values}, field{"columns", &s.sparse.Columns}, field{"starts", &s.sparse.RowStart}, field{"features", &s.features})
}

func loadKernelModel(z *npz.Archive) (Model, error) {
	s := &savedKernel{KernelModel: &KernelModel{}}
	m := s.KernelModel
	err := read(z, int64(kernelGiven), field{"weights", &m.Weights}, field{"products", &m.Products}, field{"kernel", &s.function})
	if err != nil {
		return nil, err
	}
	if z.Has("starts") {
		s.features = 1
	}
	if err := read(z, math.MaxInt32, s.fields()...); err != nil {
		return nil, err
	}
	if s.function != kernelGiven {
		if err := s.restore(); err != nil {
			return nil, err
		}
	}
	if err := m.check(); err != nil {
		return nil, fmt.Errorf("not a saved model: %w", err)
	}
	return m, nil
}

// restore checks what was read, and sets the model's kernel and samples.
func (s *savedKernel) restore() (err error) {
	k := &s.Kernel
	k.Function = KernelFunction(s.function)
	switch {
	case k.Function == KernelRBF && k.KernelWidth <= 0:
		return fmt.Errorf("the array %q has value %v; expected more than 0", "width", k.KernelWidth)
	case k.Function == KernelPolynomial && k.Degree == 0:
		return fmt.Errorf("the array %q is 0; expected 1 or more", "degree")
	case s.offset < 0:
		return fmt.Errorf("the array %q has value %v; expected 0 or more", "offset", s.offset)
	}
	if k.Function == KernelPolynomial {
		k.Offset = cmp.Or(s.offset, WeightNone)
	}
	if s.Samples = s.dense; s.dense == nil {
		x := s.sparse
		if s.Samples, err = NewCSR(len(x.RowStart)-1, s.features, x.RowStart, x.Columns, x.Values); err != nil {
			return fmt.Errorf("not a saved model: %w", err)
		}
	}
	return nil
}
