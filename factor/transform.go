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
	// Cost is how the distance from the data is measured.
	Cost Cost
	// Basis holds the k basis vectors as columns: U, m×k.
	Basis *mat.Dense
}

// Vectors implements [Model]: the basis.
func (m *Additive) Vectors() *mat.Dense { return m.Basis }

// TransformIterations is how many steps the Transform of an Additive takes.
const TransformIterations = 100

// Transform implements [Model] with the basis held fixed: multiplicative steps of the model's cost,
// without ties or penalties, from a uniform start. Only the divergence needs samples ≥ 0.
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
		if negative := view.Negative(d); negative != nil {
			return nil, negative.Needing(fmt.Sprintf("the %v cost", m.Cost))
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

// solve moves v by a number of steps of its block, of which a quadratic one is the same at every v.
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

// splitSigns makes a quadratic block whose h has negative values one for the square-root rule.
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
	// representRounds of up to mostSweeps sweeps of coordinate descent bring coefficients to their
	// minimum.
	representRounds = 20
	// representSteps multiplicative steps bring those of the divergence there.
	representSteps = 5 * TransformIterations
)

// Represent represents the rows of x, p×m, by p×k coefficients that are the best for the model, where
// Transform ends after steps that many experiments share. Under the Frobenius cost and with a kernel that
// is the least squares problem min ‖x − U·v‖², v ≥ 0 (coordinate descent: Cichocki and Phan 2009), under
// the divergence min D(x‖U·v), v ≥ 0 (multiplicative steps: Lee and Seung 2001). Other models find the
// best in Transform. Each sample's answer depends on nothing but the sample.
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

// Misfit returns ‖X − V·Uᵀ‖²/‖X‖² for samples x, p×m, and the coefficients v, p×k, that represent them,
// where the model has basis vectors U among the features; of a [Linear] model its mean is added. The same
// is 0 for samples of zeros.
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

// The arrays of a saved result: see [Result.Save].
const (
	savedKind         = "kind"
	savedBasis        = "basis"
	savedCost         = "cost"
	savedMean         = "mean"
	savedLambda       = "lambda"
	savedCoefficients = "coefficients"
	savedWeights      = "weights"
	savedAssociation  = "association"
	savedObjective    = "objective"
	savedPenalty      = "penalty"
	savedKernel       = "kernel"
	savedWidth        = "width"
	savedDegree       = "degree"
	savedOffset       = "offset"
	savedProducts     = "products"
	savedSamples      = "samples"
	savedColumns      = "columns"
	savedStarts       = "starts"
	savedFeatures     = "features"
)

// kernelGiven stands for the function of a kernel given as a matrix.
const kernelGiven = int(KernelIntersection) + 1

// The kinds of models.
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

// SaveWith is Save with further arrays, of other names, which more writes before the others; it may be
// nil.
func (r *Result) SaveWith(w io.Writer, more func(*npz.Writer)) error {
	z := npz.NewWriter(w)
	z.Compress = true
	if more != nil {
		more(z)
	}
	kind, of := kindNone, []field(nil)
	switch m := r.Model.(type) {
	case *Additive:
		kind, of = kindAdditive, []field{{savedCost, (*int)(&m.Cost)}}
	case *Linear:
		kind, of = kindLinear, []field{{savedMean, &m.Mean}}
	case *SparseCode:
		kind, of = kindSparseCode, []field{{savedLambda, &m.Lambda}}
	case *KernelModel:
		kind, of = kindKernel, m.arrays()
	case nil:
	default:
		return fmt.Errorf("a model of the type %T cannot be saved", m)
	}
	of = slices.Concat([]field{{savedKind, &kind}}, of, []field{
		{savedBasis, &r.Basis}, {savedCoefficients, &r.Coefficients}, {savedWeights, &r.Weights},
		{savedAssociation, &r.Association}, {savedObjective, &r.Objective}, {savedPenalty, &r.Penalty},
	})
	for _, a := range of {
		a.write(z)
	}
	return z.Close()
}

// field is an array of a file and the value that it holds.
type field struct {
	name string
	of   any // a pointer to a matrix, to numbers or integers, or to one
}

// write writes the array, unless it is empty.
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

// read reads the array: finite numbers, integers from 0 to largest.
func (a field) read(z *npz.Archive, largest int64) (err error) {
	var integers []int
	var numbers []float64
	var shape []int
	switch of := a.of.(type) {
	case **mat.Dense:
		if numbers, shape, err = readNumbers(z, a.name, 2); err == nil {
			*of = mat.NewDense(shape[0], shape[1], numbers)
		}
	case *[]float64:
		*of, _, err = readNumbers(z, a.name, 1)
	case *float64:
		if numbers, shape, err = readNumbers(z, a.name, 1); err == nil && len(numbers) != 1 {
			return fmt.Errorf("the array %q has %d values; want one", a.name, len(numbers))
		} else if err == nil {
			*of = numbers[0]
		}
	case *[]int:
		*of, err = z.Integers(a.name, largest)
	case *int:
		if integers, err = z.Integers(a.name, largest); err == nil && len(integers) != 1 {
			return fmt.Errorf("the array %q has %d values; want one integer", a.name, len(integers))
		} else if err == nil {
			*of = integers[0]
		}
	}
	return err
}

// arrays returns what is written of a kernel model beside its weights.
func (m *KernelModel) arrays() []field {
	of, function, offset := []field{{savedProducts, &m.Products}}, int(m.Kernel.Function), orDefault(m.Kernel.Offset, 1)
	if m.Samples == nil {
		function = kernelGiven
	}
	of = append(of, field{savedKernel, &function})
	switch {
	case m.Samples == nil:
		return of
	case m.Kernel.Function == KernelRBF:
		of = append(of, field{savedWidth, &m.Kernel.KernelWidth})
	case m.Kernel.Function == KernelPolynomial:
		of = append(of, field{savedDegree, &m.Kernel.Degree}, field{savedOffset, &offset})
	}
	if x, ok := m.Samples.(*CSR); ok {
		_, features := x.Dims()
		return append(of, field{savedSamples, &x.Values}, field{savedColumns, &x.Columns}, field{savedStarts, &x.RowStart}, field{savedFeatures, &features})
	}
	x := m.Samples.(*mat.Dense)
	return append(of, field{savedSamples, &x})
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
	var kind, cost int
	if err := (field{savedKind, &kind}).read(z, kindKernel); err != nil {
		return nil, err
	}
	switch kind {
	case kindNone:
		return nil, ErrNoModel
	case kindKernel:
		return loadKernelModel(z)
	}
	var basis *mat.Dense
	if err := (field{savedBasis, &basis}).read(z, 0); err != nil {
		return nil, err
	}
	switch kind {
	case kindLinear:
		l := &Linear{Projection: basis}
		if err := (field{savedMean, &l.Mean}).read(z, 0); err != nil {
			return nil, err
		}
		if m, _ := basis.Dims(); len(l.Mean) != m {
			return nil, fmt.Errorf("the array %q has %d values for vectors of %d", savedMean, len(l.Mean), m)
		}
		return l, nil
	case kindSparseCode:
		s := &SparseCode{Dictionary: basis}
		if err := (field{savedLambda, &s.Lambda}).read(z, 0); err != nil {
			return nil, err
		}
		if err := view.CheckWeight(savedLambda, s.Lambda); err != nil {
			return nil, err
		}
		return s, nil
	}
	if err := (field{savedCost, &cost}).read(z, int64(len(costs)-1)); err != nil {
		return nil, err
	}
	return &Additive{Cost: Cost(cost), Basis: basis}, nil
}

// LoadCoefficients reads the coefficients that Save wrote, n×k, of a file that is size bytes long, within
// the bounds of LoadModel.
func LoadCoefficients(r io.ReaderAt, size int64) (v *mat.Dense, err error) {
	z, err := openArchive(r, size)
	if err == nil {
		err = field{savedCoefficients, &v}.read(z, 0)
	}
	return v, err
}

// loadKernelModel reads a kernel model and checks that its parts fit together.
func loadKernelModel(z *npz.Archive) (Model, error) {
	m, function := &KernelModel{}, 0
	for _, a := range []field{{savedWeights, &m.Weights}, {savedProducts, &m.Products}, {savedKernel, &function}} {
		if err := a.read(z, int64(kernelGiven)); err != nil {
			return nil, err
		}
	}
	if function != kernelGiven {
		m.Kernel.Function = KernelFunction(function)
		if err := cmp.Or(m.Kernel.load(z), m.loadSamples(z)); err != nil {
			return nil, err
		}
	}
	if err := m.check(); err != nil {
		return nil, fmt.Errorf("not a saved model: %w", err)
	}
	return m, nil
}

// load reads the parameters of the kernel's function.
func (k *Kernel) load(z *npz.Archive) (err error) {
	switch k.Function {
	case KernelRBF:
		if err = (field{savedWidth, &k.KernelWidth}).read(z, 0); err == nil && k.KernelWidth <= 0 {
			err = fmt.Errorf("the array %q holds %v; want more than 0", savedWidth, k.KernelWidth)
		}
	case KernelPolynomial:
		err = cmp.Or(field{savedDegree, &k.Degree}.read(z, math.MaxInt32), field{savedOffset, &k.Offset}.read(z, 0))
		switch {
		case err != nil:
		case k.Degree == 0:
			err = fmt.Errorf("the array %q holds 0; want 1 or more", savedDegree)
		case k.Offset < 0:
			err = fmt.Errorf("the array %q holds %v; want 0 or more", savedOffset, k.Offset)
		case k.Offset == 0:
			k.Offset = WeightNone
		}
	}
	return err
}

// loadSamples reads the samples of a kernel model.
func (m *KernelModel) loadSamples(z *npz.Archive) error {
	if !z.Has(savedStarts) {
		var x *mat.Dense
		err := field{savedSamples, &x}.read(z, 0)
		m.Samples = x
		return err
	}
	var values []float64
	var columns, starts []int
	var features int
	for _, a := range []field{{savedSamples, &values}, {savedColumns, &columns}, {savedStarts, &starts}, {savedFeatures, &features}} {
		if err := a.read(z, math.MaxInt32); err != nil {
			return err
		}
	}
	x, err := NewCSR(len(starts)-1, features, starts, columns, values)
	if err != nil {
		return fmt.Errorf("not a saved model: %w", err)
	}
	m.Samples = x
	return nil
}

// openArchive opens a file of arrays.
func openArchive(r io.ReaderAt, size int64) (*npz.Archive, error) {
	z, err := npz.Open(r, size)
	if err != nil {
		return nil, fmt.Errorf("not a saved result: %w", err)
	}
	return z, nil
}

// readNumbers reads an array of finite numbers, of one or more, of this number of dimensions.
func readNumbers(z *npz.Archive, name string, dimensions int) (values []float64, shape []int, err error) {
	values, shape, err = z.Floats(name, dimensions, nil)
	if err != nil {
		return nil, nil, err
	}
	if len(values) == 0 {
		return nil, nil, fmt.Errorf("the array %q is of shape %v; want one or more numbers", name, shape)
	}
	for _, x := range values {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, nil, fmt.Errorf("the array %q holds values that are no numbers", name)
		}
	}
	return values, shape, nil
}
