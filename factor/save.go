package factor

import (
	"errors"
	"fmt"
	"io"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/npz"
)

// The arrays of a saved result. NumPy reads the file with numpy.load.
const (
	savedKind         = "kind"
	savedBasis        = "basis"        // U, m×k
	savedCost         = "cost"         // of an additive model: 0 Frobenius, 1 KL
	savedMean         = "mean"         // of a linear model, m values
	savedLambda       = "lambda"       // of a sparse code, one value
	savedCoefficients = "coefficients" // V, n×k
	savedWeights      = "weights"      // W, n×k, where the basis is U = X·W
	savedAssociation  = "association"  // S, k×k, where similarities are factorised
	savedObjective    = "objective"    // before each iteration and after the last
	savedPenalty      = "penalty"      // the penalty's part of each
	savedKernel       = "kernel"       // of a kernel model: its function, or kernelGiven
	savedWidth        = "width"        // t of its RBF, one value
	savedDegree       = "degree"       // d of its polynomial, one integer
	savedOffset       = "offset"       // c of its polynomial, one value
	savedProducts     = "products"     // WᵀKW, k×k
	savedSamples      = "samples"      // its n×m samples; of sparse ones the values alone,
	savedColumns      = "columns"      // their columns,
	savedStarts       = "starts"       // where each row starts and the last ends, n+1,
	savedFeatures     = "features"     // and m, one integer
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

// Save writes the result as a NumPy .npz file. Its array kind, one integer, says
// what the model is and what arrays it has:
//
//	0  Additive    basis (m×k), cost (one integer, 0 for Frobenius and 1 for KL)
//	1  Linear      basis (m×k), mean (m)
//	2  SparseCode  basis (m×k), lambda (one number)
//	3  no model
//	4  KernelModel weights (n×k), products (k×k), kernel (one integer)
//
// The kernel is 0 linear, 1 rbf, 2 polynomial, 3 intersection or 4 given as a
// matrix. All but the last have samples (n×m); of sparse ones samples has the
// values other than 0 alone, row by row, columns (as many integers) and starts
// (n+1 integers) say where they are, as in SciPy's CSR format, and features (one
// integer) is m. A polynomial kernel has degree (one integer) and offset (one
// number), an rbf kernel width (one number).
//
// The others are coefficients (n×k), objective (one number for each iteration
// and one for the start; none where nothing is iterated), penalty (the part of
// each that is the penalty's, where there is one), weights (n×k) of a concept
// basis and association (k×k) where similarities were factorised.
//
// Arrays are compressed but for those that LoadModel would not read so.
func (r *Result) Save(w io.Writer) error { return r.SaveWith(w, nil) }

// SaveWith is Save with further arrays, of other names, which more writes before the
// others; it may be nil.
func (r *Result) SaveWith(w io.Writer, more func(*npz.Writer)) error {
	z := npz.NewWriter(w)
	z.Compress = true
	if more != nil {
		more(z)
	}
	switch m := r.Model.(type) {
	case *Additive:
		z.Integers(savedKind, kindAdditive)
		z.Integers(savedCost, int(m.Cost))
	case *Linear:
		z.Integers(savedKind, kindLinear)
		z.List(savedMean, m.Mean)
	case *SparseCode:
		z.Integers(savedKind, kindSparseCode)
		z.List(savedLambda, []float64{m.Lambda})
	case *KernelModel:
		z.Integers(savedKind, kindKernel)
		saveKernel(z, m)
	case nil:
		z.Integers(savedKind, kindNone)
	default:
		return fmt.Errorf("a model of the type %T cannot be saved", m)
	}
	for _, f := range []struct {
		name   string
		matrix *mat.Dense
	}{
		{savedBasis, r.Basis}, {savedCoefficients, r.Coefficients}, {savedWeights, r.Weights}, {savedAssociation, r.Association},
	} {
		if f.matrix != nil {
			saveMatrix(z, f.name, f.matrix)
		}
	}
	if len(r.Objective) > 0 {
		z.List(savedObjective, r.Objective)
	}
	if len(r.Penalty) > 0 {
		z.List(savedPenalty, r.Penalty)
	}
	return z.Close()
}

func saveMatrix(z *npz.Writer, name string, x *mat.Dense) {
	n, m := x.Dims()
	z.Floats(name, []int{n, m}, x.RawRowView)
}

// saveKernel writes what a kernel model has beside its weights.
func saveKernel(z *npz.Writer, m *KernelModel) {
	saveMatrix(z, savedProducts, m.Products)
	if m.Samples == nil {
		z.Integers(savedKernel, kernelGiven)
		return
	}
	z.Integers(savedKernel, int(m.Kernel.Function))
	switch m.Kernel.Function {
	case KernelRBF:
		z.List(savedWidth, []float64{m.Kernel.KernelWidth})
	case KernelPolynomial:
		z.Integers(savedDegree, m.Kernel.Degree)
		z.List(savedOffset, []float64{orDefault(m.Kernel.Offset, 1)})
	}
	x, sparse := m.Samples.(*CSR)
	if !sparse {
		saveMatrix(z, savedSamples, m.Samples.(*mat.Dense))
		return
	}
	_, features := x.Dims()
	z.List(savedSamples, x.Values)
	z.Integers(savedColumns, x.Columns...)
	z.Integers(savedStarts, x.RowStart...)
	z.Integers(savedFeatures, features)
}

// ErrNoModel is the error of LoadModel for the saved result of a method that
// finds no model.
var ErrNoModel = errors.New("the saved result has no model for new samples")

// LoadModel reads the model that Save wrote, size bytes long, and checks it. An array
// that would take more than 16 MiB, and 100 bytes for each of the file's that it is
// packed in, is an error; no memory is taken for it.
func LoadModel(r io.ReaderAt, size int64) (Model, error) {
	z, err := openArchive(r, size)
	if err != nil {
		return nil, err
	}
	kind, err := readInteger(z, savedKind, kindKernel)
	if err != nil {
		return nil, err
	}
	switch kind {
	case kindNone:
		return nil, ErrNoModel
	case kindKernel:
		return loadKernelModel(z)
	}
	basis, err := readMatrix(z, savedBasis)
	if err != nil {
		return nil, err
	}
	switch kind {
	case kindLinear:
		mean, _, err := readNumbers(z, savedMean, 1)
		if err != nil {
			return nil, err
		}
		if m, _ := basis.Dims(); len(mean) != m {
			return nil, fmt.Errorf("the array %q has %d values for vectors of %d", savedMean, len(mean), m)
		}
		return &Linear{Mean: mean, Projection: basis}, nil
	case kindSparseCode:
		lambda, err := readNumber(z, savedLambda)
		if err != nil {
			return nil, err
		}
		if err := checkWeight(savedLambda, lambda); err != nil {
			return nil, err
		}
		return &SparseCode{Dictionary: basis, Lambda: lambda}, nil
	}
	cost, err := readInteger(z, savedCost, int64(len(costs)-1))
	if err != nil {
		return nil, err
	}
	return &Additive{Cost: Cost(cost), Basis: basis}, nil
}

// LoadCoefficients reads the coefficients that Save wrote, n×k, of a file that is
// size bytes long, within the bounds of LoadModel.
func LoadCoefficients(r io.ReaderAt, size int64) (*mat.Dense, error) {
	z, err := openArchive(r, size)
	if err != nil {
		return nil, err
	}
	return readMatrix(z, savedCoefficients)
}

// loadKernelModel reads a kernel model and checks that its parts fit together.
func loadKernelModel(z *npz.Archive) (Model, error) {
	m := &KernelModel{}
	var err error
	if m.Weights, err = readMatrix(z, savedWeights); err != nil {
		return nil, err
	}
	if m.Products, err = readMatrix(z, savedProducts); err != nil {
		return nil, err
	}
	function, err := readInteger(z, savedKernel, int64(kernelGiven))
	if err != nil {
		return nil, err
	}
	if function != kernelGiven {
		if m.Kernel, err = loadKernel(z, KernelFunction(function)); err != nil {
			return nil, err
		}
		if m.Samples, err = loadSamples(z); err != nil {
			return nil, err
		}
	}
	if err := m.check(); err != nil {
		return nil, fmt.Errorf("not a saved model: %w", err)
	}
	return m, nil
}

// loadKernel reads the parameters of a kernel function.
func loadKernel(z *npz.Archive, f KernelFunction) (k Kernel, err error) {
	k.Function = f
	switch f {
	case KernelRBF:
		if k.KernelWidth, err = readNumber(z, savedWidth); err == nil && k.KernelWidth <= 0 {
			err = fmt.Errorf("the array %q holds %v; want more than 0", savedWidth, k.KernelWidth)
		}
	case KernelPolynomial:
		degree, err := readInteger(z, savedDegree, math.MaxInt32)
		if err != nil {
			return k, err
		}
		if k.Degree = degree; degree == 0 {
			return k, fmt.Errorf("the array %q holds 0; want 1 or more", savedDegree)
		}
		if k.Offset, err = readNumber(z, savedOffset); err != nil {
			return k, err
		}
		switch {
		case k.Offset < 0:
			return k, fmt.Errorf("the array %q holds %v; want 0 or more", savedOffset, k.Offset)
		case k.Offset == 0:
			k.Offset = WeightNone
		}
	}
	return k, err
}

// loadSamples reads the samples of a kernel model.
func loadSamples(z *npz.Archive) (mat.Matrix, error) {
	if !z.Has(savedStarts) {
		return readMatrix(z, savedSamples)
	}
	values, _, err := readNumbers(z, savedSamples, 1)
	if err != nil {
		return nil, err
	}
	columns, err := z.Integers(savedColumns, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	starts, err := z.Integers(savedStarts, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	features, err := readInteger(z, savedFeatures, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	x, err := NewCSR(len(starts)-1, features, starts, columns, values)
	if err != nil {
		return nil, fmt.Errorf("not a saved model: %w", err)
	}
	return x, nil
}

// openArchive opens a file of arrays.
func openArchive(r io.ReaderAt, size int64) (*npz.Archive, error) {
	z, err := npz.Open(r, size)
	if err != nil {
		return nil, fmt.Errorf("not a saved result: %w", err)
	}
	return z, nil
}

// readInteger reads an array of one integer from 0 to largest.
func readInteger(z *npz.Archive, name string, largest int64) (int, error) {
	values, err := z.Integers(name, largest)
	if err != nil {
		return 0, err
	}
	if len(values) != 1 {
		return 0, fmt.Errorf("the array %q has %d values; want one integer", name, len(values))
	}
	return values[0], nil
}

// readNumber reads an array of one finite number.
func readNumber(z *npz.Archive, name string) (float64, error) {
	values, _, err := readNumbers(z, name, 1)
	if err != nil {
		return 0, err
	}
	if len(values) != 1 {
		return 0, fmt.Errorf("the array %q has %d values; want one", name, len(values))
	}
	return values[0], nil
}

// readNumbers reads an array of finite numbers, of one or more, of this number of
// dimensions.
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

// readMatrix reads an array of two dimensions.
func readMatrix(z *npz.Archive, name string) (*mat.Dense, error) {
	values, shape, err := readNumbers(z, name, 2)
	if err != nil {
		return nil, err
	}
	return mat.NewDense(shape[0], shape[1], values), nil
}
