package factor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/descent"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/npz"
)

// Model is a fitted model that represents new samples.
type Model interface {
	// Transform represents the rows of x, p×m, by p×k coefficients. Each sample's coefficients are independent of
	// the other rows.
	Transform(ctx context.Context, x mat.Matrix) (*mat.Dense, error)
	// Vectors returns the k basis vectors as columns, m×k, or nil if they are not vectors of features, as with a
	// kernel.
	Vectors() *mat.Dense
}

// Additive is a [Model] that approximates a sample by a combination of basis vectors with coefficients
// ≥ 0.
type Additive struct {
	Cost  Cost       // the distance that is minimised
	Basis *mat.Dense // U, m×k, the k basis vectors as columns
	// Exponent is β of CostBeta, as in [Parts], and Threshold is δ of CostHuber, which must be set.
	Exponent, Threshold float64
}

// Vectors returns Basis, m×k.
func (m *Additive) Vectors() *mat.Dense { return m.Basis }

// TransformIterations is the number of multiplicative steps of [Additive.Transform] and [KernelModel.Transform].
const TransformIterations = 100

// Transform returns the coefficients, p×k, of the samples x, p×m, by TransformIterations multiplicative steps from a
// uniform start, without ties or penalties. CostKL requires samples ≥ 0.
func (m *Additive) Transform(ctx context.Context, x mat.Matrix) (*mat.Dense, error) {
	return m.represent(ctx, x, false)
}

func (m *Additive) represent(ctx context.Context, x mat.Matrix, best bool) (_ *mat.Dense, err error) {
	defer guard.Catch(&err)
	guard.Check(cmp.Or(checkEnums(m.Cost), m.check()))
	rows, k := m.Basis.Dims()
	plain, weights, _, err := view.Unweighted(x, false)
	guard.Check(err)
	d := dataOf(plain, rows, "the basis vectors")
	p, _ := d.Dims()
	squares := m.Cost.Quadratic() && m.Cost != CostHuber
	if !squares {
		guard.Check(view.NonNegative(d, fmt.Sprintf("the %v cost", m.Cost)))
	}
	v, u := onesMatrix(k, p), algebra.Transpose(m.Basis)
	info := m.Cost.with(m.Exponent, m.Threshold)
	if info.constant == nil {
		d = guard.Must(info.samples(d))
	}
	cost := info.of(d, u, v)
	if weights != nil {
		c := &weightedCost{info, d.(view.Dense), weights, u, v, nil}
		if cost = c; squares && (best || mat.Min(u) < 0) {
			return c.represent(ctx), nil
		}
	}
	return solve(ctx, v, best, TransformIterations, func() Block {
		cost.moved(true)
		return cost.coefficientBlock()
	}), nil
}

func (m *Additive) check() error {
	if m.Cost == CostHuber && m.Threshold == 0 {
		return fmt.Errorf("cost %v needs a threshold", m.Cost)
	}
	return m.Cost.check(m.Exponent, m.Threshold)
}

// dataOf validates samples for a model with the given number of features. what names the model's part in errors.
// It calls guard.Fail.
func dataOf(x mat.Matrix, features int, what string) view.Data {
	d := guard.Must(view.New(x))
	_, have := d.Dims()
	guard.FailIf(have != features, "the samples have %d features; expected %d, as in %s", have, features, what)
	return d
}

func onesMatrix(k, p int) *mat.Dense {
	v := mat.NewDense(k, p, nil)
	v.Apply(func(int, int, float64) float64 { return 1 }, v)
	return v
}

// solve updates v, k×p, by multiplicative steps and returns its transpose. next returns the block at v; it is called once
// if the block is quadratic. With best, solve minimises accurately: by coordinate descent if the block is quadratic, else
// by five times the steps. It calls guard.Fail.
func solve(ctx context.Context, v *mat.Dense, best bool, steps int, next func() Block) *mat.Dense {
	b := next()
	exact := best && b.Quadratic != nil
	switch {
	case exact:
		steps = 20 // each of up to MostSweeps sweeps
	case best:
		steps *= 5
	case b.Quadratic != nil:
		b = splitSigns(b)
	}
	room := [2]*mat.Dense{algebra.Like(v), algebra.Like(v)}
	for t := range steps {
		guard.Check(ctx.Err())
		if t > 0 && b.Quadratic == nil {
			b = next()
		}
		if exact {
			guard.Check(descent.MinimiseRows(ctx, v, v, b.Linear, b.Quadratic, descent.MostSweeps))
		} else {
			multiplicativeStep(v, b, nil, room)
		}
	}
	guard.FailIf(!algebra.Finite(v), "the coefficients overflow")
	return algebra.Transpose(v)
}

// splitSigns prepares a quadratic block with negative values for the square-root rule.
func splitSigns(b Block) Block {
	if mat.Min(b.Quadratic) >= 0 && mat.Min(b.Linear) >= 0 {
		return b
	}
	pos, neg := algebra.Parts(b.Quadratic)
	return Block{Linear: b.Linear, Quadratic: pos, NegativeQuadratic: neg}
}

// Represent returns the optimal coefficients, p×k, of the rows of x, p×m, for the model. Under the Frobenius cost and with
// a kernel they solve min ‖x − U·v‖² over v ≥ 0 (coordinate descent: Cichocki and Phan 2009), under the divergence
// min D(x‖U·v) (multiplicative steps: Lee and Seung 2001). For other models Represent is Transform. Each sample's
// coefficients are independent of the other rows.
func Represent(ctx context.Context, m Model, x mat.Matrix) (*mat.Dense, error) {
	if m, ok := m.(interface {
		represent(ctx context.Context, x mat.Matrix, best bool) (*mat.Dense, error)
	}); ok {
		return m.represent(ctx, x, true)
	}
	return m.Transform(ctx, x)
}

// Misfit returns the relative squared error ‖X − V·Uᵀ‖²/‖X‖² of samples x, p×m, and their coefficients v, p×k, with basis
// vectors U, over the entries that are not missing. It is 0 if X is 0. For a [Linear] model the mean is added to V·Uᵀ.
func Misfit(ctx context.Context, m Model, x mat.Matrix, v *mat.Dense) (float64, error) {
	var off, whole float64
	weighted, _ := x.(*Weighted)
	err := eachReconstruction(ctx, m, x, v, func(i int, row, by []float64) {
		for j, value := range row {
			if weighted == nil || !weighted.Missing(i, j) {
				off += (value - by[j]) * (value - by[j])
				whole += value * value
			}
		}
	})
	if err != nil || whole == 0 {
		return 0, err
	}
	return off / whole, nil
}

// Impute returns the samples x, p×m, with values of V·Uᵀ for missing entries; see [Misfit]. Observed entries may not
// determine V·Uᵀ elsewhere. These values are therefore limited to the range of the column's observed entries, if any,
// extended by its width at both ends.
func Impute(ctx context.Context, m Model, x *Weighted, v *mat.Dense) (*mat.Dense, error) {
	out := mat.DenseCopyOf(x)
	p, features := x.Dims()
	low, high := make([]float64, features), make([]float64, features)
	for j := range features {
		least, most := math.Inf(1), math.Inf(-1)
		for i := range p {
			if value := out.At(i, j); !x.Missing(i, j) {
				least, most = min(least, value), max(most, value)
			}
		}
		if low[j], high[j] = 2*least-most, 2*most-least; least > most {
			low[j], high[j] = high[j], low[j]
		}
	}
	return out, eachReconstruction(ctx, m, x, v, func(i int, _, by []float64) {
		for j, value := range by {
			if x.Missing(i, j) {
				out.Set(i, j, max(low[j], min(value, high[j])))
			}
		}
	})
}

// eachReconstruction calls f with each row of x and of V·Uᵀ.
func eachReconstruction(ctx context.Context, m Model, x mat.Matrix, v *mat.Dense, f func(i int, row, by []float64)) error {
	u := m.Vectors()
	if u == nil {
		return errors.New("the model has no basis vectors in feature space")
	}
	p, features := x.Dims()
	rows, k := u.Dims()
	if r, c := v.Dims(); r != p || c != k || features != rows {
		return fmt.Errorf("%d×%d coefficients do not match %d×%d samples and %d basis vectors of %d features", r, c, p, features, k, rows)
	}
	var mean []float64
	if l, ok := m.(*Linear); ok {
		mean = l.Mean
	}
	row := make([]float64, features)
	return view.EachPanel(ctx, p, features, func(near *mat.Dense, from, to int) {
		algebra.Gemm(near, v.Slice(from, to, 0, k).(*mat.Dense), algebra.NoTrans, u, algebra.Trans)
	}, func(from int, near *mat.Dense) {
		for i := range near.RawMatrix().Rows {
			matrix.Row(row, from+i, x)
			by := near.RawRowView(i)
			if mean != nil {
				floats.Add(by, mean)
			}
			f(from+i, row, by)
		}
	})
}

// Kinds of models in a file.
const (
	kindAdditive = iota
	kindLinear
	kindSparseCode
	kindNone
	kindKernel
)

// Save writes the result as a NumPy .npz file. Its array kind, one integer, says what the model is: 0
// [Additive], 1 [Linear], 2 [SparseCode], 3 none, 4 [KernelModel]. docs/reference/model-files.md lists the
// other arrays. An array that LoadModel would refuse in compressed form is stored uncompressed.
func (r *Result) Save(w io.Writer) error { return r.SaveWith(w, nil) }

// SaveWith is Save with additional arrays, which more writes first. Their names must differ from the names that Save
// writes. more may be nil.
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
		{"basis", &r.Basis}, {"coefficients", &r.Coefficients}, {"coefficients", &r.Stored}, {"weights", &r.Weights},
		{"association", &r.Association}, {"feature_groups", &r.FeatureGroups}, {"objective", &r.Objective}, {"penalty", &r.Penalty},
	})
	for _, a := range of {
		if of, ok := a.value.(*Stored); !ok {
			z.Put(a.name, a.value)
		} else if err := putStored(z, a.name, *of); err != nil {
			return err
		}
	}
	return z.Close()
}

// layout returns the kind of a model, or -1 if it cannot be saved, its vectors and its other arrays.
func layout(m Model) (kind int, vectors **mat.Dense, of []field) {
	switch m := m.(type) {
	case *Additive:
		of = []field{{"cost", (*int)(&m.Cost)}}
		if m.Cost == CostBeta {
			beta := orDefault(m.Exponent, defaultBeta)
			of = append(of, field{"exponent", &beta})
		} else if m.Cost == CostHuber {
			of = append(of, field{"threshold", &m.Threshold})
		}
		return kindAdditive, &m.Basis, of
	case *Linear:
		return kindLinear, &m.Projection, []field{{"mean", &m.Mean}}
	case *SparseCode:
		return kindSparseCode, &m.Dictionary, []field{{"lambda", &m.Lambda}}
	case *KernelModel:
		s := newSavedKernel(m)
		return kindKernel, nil, append([]field{{"products", &m.Products}, {"kernel", (*int)(&m.Kernel.Function)}}, s.fields()...)
	case nil:
		return kindNone, nil, nil
	}
	return -1, nil, nil
}

// field is a named array of a file and a pointer to its value: see [npz.Archive.Get].
type field struct {
	name  string
	value any
}

// putStored writes stored coefficients in blocks; nil writes nothing.
func putStored(z *npz.Writer, name string, x Stored) (err error) {
	if x == nil {
		return nil
	}
	n, k := x.Dims()
	block := mat.NewDense(min(n, DefaultBlock), k, nil)
	z.Floats(name, []int{n, k}, func(i int) []float64 {
		if at := i % DefaultBlock; at == 0 && err == nil {
			err = x.Read(context.Background(), i, block.Slice(0, min(DefaultBlock, n-i), 0, k).(*mat.Dense))
		}
		return block.RawRowView(i % DefaultBlock)
	})
	return err
}

// readFields reads the fields. Numbers must be finite and integers from 0 to largest. It calls guard.Fail.
func readFields(z *npz.Archive, largest int64, fields ...field) {
	for _, a := range fields {
		guard.Check(z.Get(a.name, a.value, largest))
	}
}

// ErrNoModel is returned by LoadModel for a saved result without a model.
var ErrNoModel = errors.New("the saved result has no model for new samples")

// LoadModel reads and validates the model of a file of size bytes that Save wrote. To guard against malformed files, it
// refuses an array of more than 16 MiB that is also more than 100 times its compressed size, before it allocates
// memory.
func LoadModel(r io.ReaderAt, size int64) (_ Model, err error) {
	defer guard.Catch(&err)
	z := openArchive(r, size)
	var kind int
	readFields(z, kindKernel, field{"kind", &kind})
	switch kind {
	case kindNone:
		return nil, ErrNoModel
	case kindKernel:
		return loadKernelModel(z), nil
	}
	m := []Model{&Additive{}, &Linear{}, &SparseCode{}}[kind]
	_, vectors, of := layout(m)
	readFields(z, int64(len(costs)-1), append([]field{{"basis", vectors}}, of...)...)
	switch m := m.(type) {
	case *Additive:
		switch m.Cost {
		case CostBeta:
			readFields(z, 0, field{"exponent", &m.Exponent})
			m.Exponent = cmp.Or(m.Exponent, WeightNone)
		case CostHuber:
			readFields(z, 0, field{"threshold", &m.Threshold})
		}
		guard.Check(m.check())
	case *Linear:
		rows, _ := m.Projection.Dims()
		guard.FailIf(len(m.Mean) != rows, "the array %q has %d values; expected %d", "mean", len(m.Mean), rows)
	case *SparseCode:
		guard.Check(view.CheckWeight("lambda", m.Lambda))
	}
	return m, nil
}

// LoadCoefficients reads the coefficients, n×k, of a file of size bytes that Save wrote, with the limits of
// LoadModel.
func LoadCoefficients(r io.ReaderAt, size int64) (v *mat.Dense, err error) {
	defer guard.Catch(&err)
	readFields(openArchive(r, size), 0, field{"coefficients", &v})
	return v, nil
}

// openArchive calls guard.Fail.
func openArchive(r io.ReaderAt, size int64) *npz.Archive {
	z, err := npz.Open(r, size)
	guard.Check(guard.Wrap(err, "not a saved result"))
	return z
}

// savedKernel is a kernel model in the form of a file: the offset 0 means 0.
type savedKernel struct {
	*KernelModel
	offset   float64
	dense    *mat.Dense // the samples, or nil
	sparse   CSR
	features int // number of features, for sparse samples only
}

func newSavedKernel(m *KernelModel) *savedKernel {
	s := &savedKernel{KernelModel: m, offset: orDefault(m.Kernel.Offset, 1)}
	if x, ok := m.Samples.(*CSR); ok {
		s.sparse = *x
		_, s.features = x.Dims()
	} else {
		s.dense, _ = m.Samples.(*mat.Dense)
	}
	return s
}

// fields returns the arrays of the kernel's parameters and of the samples, which are sparse if features > 0.
func (s *savedKernel) fields() (of []field) {
	switch s.Kernel.Function {
	case KernelRBF:
		of = []field{{"width", &s.Kernel.KernelWidth}}
	case KernelPolynomial:
		of = []field{{"degree", &s.Kernel.Degree}, {"offset", &s.offset}}
	}
	if s.features == 0 {
		return append(of, field{"samples", &s.dense})
	}
	return append(of, field{"samples", &s.sparse.Values}, field{"columns", &s.sparse.Columns}, field{"starts", &s.sparse.RowStart}, field{"features", &s.features})
}

// loadKernelModel calls guard.Fail.
func loadKernelModel(z *npz.Archive) Model {
	s := &savedKernel{KernelModel: &KernelModel{}}
	m := s.KernelModel
	readFields(z, int64(KernelIntersection), field{"weights", &m.Weights}, field{"products", &m.Products}, field{"kernel", (*int)(&m.Kernel.Function)})
	if z.Has("starts") {
		s.features = 1
	}
	readFields(z, math.MaxInt32, s.fields()...)
	s.restore()
	guard.Check(guard.Wrap(m.validate(), "not a saved model"))
	return m
}

// restore validates the arrays and sets the model's kernel and samples. It calls guard.Fail.
func (s *savedKernel) restore() {
	k := &s.Kernel
	guard.FailIf(k.Function == KernelRBF && k.KernelWidth <= 0, "the array %q has value %v; expected more than 0", "width", k.KernelWidth)
	guard.FailIf(k.Function == KernelPolynomial && k.Degree == 0, "the array %q is 0; expected 1 or more", "degree")
	guard.FailIf(s.offset < 0, "the array %q has value %v; expected 0 or more", "offset", s.offset)
	if k.Function == KernelPolynomial {
		k.Offset = cmp.Or(s.offset, WeightNone)
	}
	if s.Samples = s.dense; s.dense == nil {
		x, err := NewCSR(len(s.sparse.RowStart)-1, s.features, s.sparse.RowStart, s.sparse.Columns, s.sparse.Values)
		guard.Check(guard.Wrap(err, "not a saved model"))
		s.Samples = x
	}
}
