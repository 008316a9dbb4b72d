package factor

import (
	"archive/zip"
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"

	"github.com/sbinet/npyio/npy"
	"gonum.org/v1/gonum/mat"
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
const kernelGiven = int64(Intersection) + 1

// The kinds of models.
const (
	kindAdditive int64 = iota
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
func (r *Result) Save(w io.Writer) error {
	z := zip.NewWriter(w)
	var err error
	write := func(name string, v any) {
		if e := saveArray(z, name, v); e != nil {
			err = errors.Join(err, fmt.Errorf("writing %s: %w", name, e))
		}
	}
	switch m := r.Model.(type) {
	case *Additive:
		write(savedKind, []int64{kindAdditive})
		write(savedCost, []int64{int64(m.Cost)})
	case *Linear:
		write(savedKind, []int64{kindLinear})
		write(savedMean, m.Mean)
	case *SparseCode:
		write(savedKind, []int64{kindSparseCode})
		write(savedLambda, []float64{m.Lambda})
	case *KernelModel:
		write(savedKind, []int64{kindKernel})
		saveKernel(m, write)
	case nil:
		write(savedKind, []int64{kindNone})
	default:
		err = fmt.Errorf("a model of the type %T cannot be saved", m)
	}
	for _, f := range []struct {
		name   string
		matrix *mat.Dense
	}{
		{savedBasis, r.Basis}, {savedCoefficients, r.Coefficients}, {savedWeights, r.Weights}, {savedAssociation, r.Association},
	} {
		if f.matrix != nil {
			write(f.name, f.matrix)
		}
	}
	if len(r.Objective) > 0 {
		write(savedObjective, r.Objective)
	}
	if len(r.Penalty) > 0 {
		write(savedPenalty, r.Penalty)
	}
	return errors.Join(err, z.Close())
}

// saveArray writes an array. One that is too large to be read where it compresses
// well is not compressed.
func saveArray(z *zip.Writer, name string, v any) error {
	h := &zip.FileHeader{Name: name, Method: zip.Deflate}
	if n := reflect.Indirect(reflect.ValueOf(v)); n.Kind() == reflect.Slice && 8*n.Len() > freeBytes {
		h.Method = zip.Store
	}
	if m, ok := v.(mat.Matrix); ok {
		if n, k := m.Dims(); 8*n*k > freeBytes {
			h.Method = zip.Store
		}
	}
	f, err := z.CreateHeader(h)
	if err != nil {
		return err
	}
	return npy.Write(f, v)
}

// saveKernel writes what a kernel model has beside its weights.
func saveKernel(m *KernelModel, write func(name string, v any)) {
	write(savedProducts, m.Products)
	if m.Samples == nil {
		write(savedKernel, []int64{kernelGiven})
		return
	}
	write(savedKernel, []int64{int64(m.Kernel.Function)})
	switch m.Kernel.Function {
	case RBF:
		write(savedWidth, []float64{m.Kernel.KernelWidth})
	case Polynomial:
		write(savedDegree, []int64{int64(m.Kernel.Degree)})
		write(savedOffset, []float64{orDefault(m.Kernel.Offset, 1)})
	}
	x, sparse := m.Samples.(*CSR)
	if !sparse {
		write(savedSamples, m.Samples)
		return
	}
	_, features := x.Dims()
	write(savedSamples, x.Values)
	write(savedColumns, integers(x.Columns))
	write(savedStarts, integers(x.RowStart))
	write(savedFeatures, []int64{int64(features)})
}

func integers(x []int) []int64 {
	out := make([]int64, len(x))
	for i, v := range x {
		out[i] = int64(v)
	}
	return out
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
		return nil, fmt.Errorf("not a saved model: %w", err)
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
	values, shape, err := readNumbers(z, savedBasis, 2)
	if err != nil {
		return nil, err
	}
	basis := mat.NewDense(shape[0], shape[1], values)
	switch kind {
	case kindLinear:
		mean, _, err := readNumbers(z, savedMean, 1)
		if err != nil {
			return nil, err
		}
		if len(mean) != shape[0] {
			return nil, fmt.Errorf("the array %q has %d values for vectors of %d", savedMean, len(mean), shape[0])
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
	cost, err := readInteger(z, savedCost, int64(KL))
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
		return nil, fmt.Errorf("not a saved result: %w", err)
	}
	values, shape, err := readNumbers(z, savedCoefficients, 2)
	if err != nil {
		return nil, err
	}
	return mat.NewDense(shape[0], shape[1], values), nil
}

// loadKernelModel reads a kernel model and checks that its parts fit together.
func loadKernelModel(z *zip.Reader) (Model, error) {
	m := &KernelModel{}
	for _, a := range []struct {
		name string
		to   **mat.Dense
	}{{savedWeights, &m.Weights}, {savedProducts, &m.Products}} {
		values, shape, err := readNumbers(z, a.name, 2)
		if err != nil {
			return nil, err
		}
		*a.to = mat.NewDense(shape[0], shape[1], values)
	}
	function, err := readInteger(z, savedKernel, kernelGiven)
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
func loadKernel(z *zip.Reader, f KernelFunction) (k Kernel, err error) {
	k.Function = f
	switch f {
	case RBF:
		if k.KernelWidth, err = readNumber(z, savedWidth); err == nil && k.KernelWidth <= 0 {
			err = fmt.Errorf("the array %q holds %v; want more than 0", savedWidth, k.KernelWidth)
		}
	case Polynomial:
		degree, err := readInteger(z, savedDegree, math.MaxInt32)
		if err != nil {
			return k, err
		}
		if k.Degree = int(degree); degree == 0 {
			return k, fmt.Errorf("the array %q holds 0; want 1 or more", savedDegree)
		}
		if k.Offset, err = readNumber(z, savedOffset); err != nil {
			return k, err
		}
		switch {
		case k.Offset < 0:
			return k, fmt.Errorf("the array %q holds %v; want 0 or more", savedOffset, k.Offset)
		case k.Offset == 0:
			k.Offset = None
		}
	}
	return k, err
}

// loadSamples reads the samples of a kernel model.
func loadSamples(z *zip.Reader) (mat.Matrix, error) {
	if !slices.ContainsFunc(z.File, func(f *zip.File) bool { return f.Name == savedStarts }) {
		values, shape, err := readNumbers(z, savedSamples, 2)
		if err != nil {
			return nil, err
		}
		return mat.NewDense(shape[0], shape[1], values), nil
	}
	values, _, err := readNumbers(z, savedSamples, 1)
	if err != nil {
		return nil, err
	}
	columns, err := readIntegers(z, savedColumns, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	starts, err := readIntegers(z, savedStarts, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	features, err := readInteger(z, savedFeatures, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	x, err := NewCSR(len(starts)-1, int(features), starts, columns, values)
	if err != nil {
		return nil, fmt.Errorf("not a saved model: %w", err)
	}
	return x, nil
}

// readInteger reads an array of one integer from 0 to largest.
func readInteger(z *zip.Reader, name string, largest int64) (int64, error) {
	values, err := readIntegers(z, name, largest)
	if err != nil {
		return 0, err
	}
	if len(values) != 1 {
		return 0, fmt.Errorf("the array %q has %d values; want one integer", name, len(values))
	}
	return int64(values[0]), nil
}

// readIntegers reads an array of one dimension of integers from 0 to largest.
func readIntegers(z *zip.Reader, name string, largest int64) ([]int, error) {
	a, err := openArray(z, name, "<i8", 1)
	if err != nil {
		return nil, err
	}
	values := make([]int, a.items)
	err = a.each(func(i int, bits uint64) error {
		x := int64(bits)
		if x < 0 || x > largest {
			return fmt.Errorf("the array %q holds %d; want 0 to %d", name, x, largest)
		}
		values[i] = int(x)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return values, nil
}

// readNumber reads an array of one finite number.
func readNumber(z *zip.Reader, name string) (float64, error) {
	values, _, err := readNumbers(z, name, 1)
	if err != nil {
		return 0, err
	}
	if len(values) != 1 {
		return 0, fmt.Errorf("the array %q has %d values; want one", name, len(values))
	}
	return values[0], nil
}

// readNumbers reads an array of finite numbers, of one or more, with so many
// dimensions.
func readNumbers(z *zip.Reader, name string, dimensions int) (values []float64, shape []int, err error) {
	a, err := openArray(z, name, "<f8", dimensions)
	if err != nil {
		return nil, nil, err
	}
	if a.items == 0 {
		return nil, nil, fmt.Errorf("the array %q is of shape %v; want one or more numbers", name, a.shape)
	}
	values = make([]float64, a.items)
	err = a.each(func(i int, bits uint64) error {
		values[i] = math.Float64frombits(bits)
		if math.IsNaN(values[i]) || math.IsInf(values[i], 0) {
			return fmt.Errorf("the array %q holds values that are no numbers", name)
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	return values, a.shape, nil
}

// savedHeader is an array's type and shape, as NumPy writes them.
var savedHeader = regexp.MustCompile(`^\{'descr': '([^']{1,8})', 'fortran_order': False, 'shape': \(([0-9]{1,9}),(?: ?([0-9]{1,9}))?,?\), \} *\n$`)

// The bounds of an array that is read from a file: the most values, and the most
// bytes beside perByte for each byte that the array is packed in.
const (
	maxSaved  = 1 << 28
	freeBytes = 16 << 20
	perByte   = 100
)

// savedArray is an array of 8-byte items in a file, whose size has been checked.
type savedArray struct {
	name   string
	shape  []int
	items  int
	packed io.ReadCloser
	values *bufio.Reader
}

// openArchive opens a file of arrays. The bound of an array follows from how many
// bytes it is packed in, so that number must be true of the file.
func openArchive(r io.ReaderAt, size int64) (*zip.Reader, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, err
	}
	for _, f := range z.File {
		if f.CompressedSize64 > uint64(size) {
			return nil, fmt.Errorf("the array %q is packed in %d bytes of a file of %d", f.Name, f.CompressedSize64, size)
		}
	}
	return z, nil
}

// openArray opens an array of a type and a number of dimensions. The npy package takes
// an array's header at its word and panics on some, so this is done here.
func openArray(z *zip.Reader, name, kind string, dimensions int) (*savedArray, error) {
	at := slices.IndexFunc(z.File, func(f *zip.File) bool { return f.Name == name })
	if at < 0 {
		return nil, fmt.Errorf("not a saved model: it holds no array %q", name)
	}
	f, err := z.File[at].Open()
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	a := &savedArray{name: name, items: 1, packed: f, values: bufio.NewReaderSize(f, 1<<15)}
	if err := a.readShape(kind, dimensions); err != nil {
		f.Close()
		return nil, err
	}
	if need := uint64(a.items) * 8; need > freeBytes && need/perByte > z.File[at].CompressedSize64 {
		f.Close()
		return nil, fmt.Errorf("the array %q is of shape %v, too large for the %d bytes that it is packed in", name, a.shape, z.File[at].CompressedSize64)
	}
	return a, nil
}

// readShape reads what stands before the values.
func (a *savedArray) readShape(kind string, dimensions int) error {
	start, err := a.values.Peek(12)
	if err != nil || [6]byte(start) != npy.Magic {
		return a.wrongType(kind)
	}
	length, skip := int(binary.LittleEndian.Uint16(start[8:])), 10
	if start[6] != 1 {
		length, skip = int(min(binary.LittleEndian.Uint32(start[8:]), maxHeader+1)), 12
	}
	if length > maxHeader {
		return a.wrongType(kind)
	}
	header := make([]byte, skip+length)
	if _, err := io.ReadFull(a.values, header); err != nil {
		return fmt.Errorf("reading %s: %w", a.name, err)
	}
	head := savedHeader.FindSubmatch(header[skip:])
	if head == nil || string(head[1]) != kind {
		return a.wrongType(kind)
	}
	for _, text := range head[2:] {
		if len(text) == 0 {
			continue
		}
		d, err := strconv.Atoi(string(text))
		if err != nil {
			return fmt.Errorf("the shape of %s: %w", a.name, err)
		}
		a.shape = append(a.shape, d)
		a.items *= d // at most 10¹⁸
	}
	if len(a.shape) != dimensions {
		return fmt.Errorf("the array %q is of shape %v; want %d dimensions", a.name, a.shape, dimensions)
	}
	if a.items > maxSaved {
		return fmt.Errorf("the array %q has more values than the %d that are read", a.name, maxSaved)
	}
	return nil
}

func (a *savedArray) wrongType(kind string) error {
	return fmt.Errorf("the array %q is not of the type %s and one or two dimensions, in NumPy's format", a.name, kind)
}

// maxHeader is the length of the longest header that is read.
const maxHeader = 4096

// each calls do with the bits of each item and closes the array.
func (a *savedArray) each(do func(i int, bits uint64) error) error {
	defer a.packed.Close()
	var item [8]byte
	for i := range a.items {
		if _, err := io.ReadFull(a.values, item[:]); err != nil {
			return fmt.Errorf("the array %q is of shape %v and ends after %d values: %w", a.name, a.shape, i, err)
		}
		if err := do(i, binary.LittleEndian.Uint64(item[:])); err != nil {
			return err
		}
	}
	// Reading on to the end compares the check sum.
	switch _, err := a.values.ReadByte(); {
	case err == nil:
		return fmt.Errorf("the array %q is of shape %v and has more bytes than it needs", a.name, a.shape)
	case err != io.EOF:
		return fmt.Errorf("reading %s: %w", a.name, err)
	}
	return nil
}
