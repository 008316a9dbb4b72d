package view

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/panel"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// Data is the n×m matrix that a run approximates, with the products it takes. Factors are transposed: u
// is k×m, v is k×n.
type Data interface {
	Dims() (n, m int)
	// matrix returns X.
	Matrix() mat.Matrix
	// timesBasis writes u·Xᵀ, k×n.
	TimesBasis(dst, u *mat.Dense)
	// timesCoefficients writes v·X, k×m.
	TimesCoefficients(dst, v *mat.Dense)
	// ratioBasis writes v·R, k×m, where R = X/(vᵀu) elementwise, or nothing where dst is nil. Where logs
	// are wanted it returns Σ x·log(x/y) over the entries x > 0, y being those of vᵀu.
	RatioBasis(dst, u, v *mat.Dense, logs bool) float64
	// ratioCoefficients writes u·Rᵀ, k×n.
	RatioCoefficients(dst, u, v *mat.Dense)
	// residual returns ‖X − vᵀu‖².
	Residual(u, v *mat.Dense) float64
	// divergence returns Σ x·log(x/y) − x + y, term by term.
	Divergence(u, v *mat.Dense) float64
	// condense returns the matrix whose row j is the sum of the rows i with group[i] = j, each times
	// scale[i].
	Condense(groups int, group []int, scale []float64) Data
	// rows returns the rows from to to-1, dense, not to be changed.
	Rows(from, to int) *mat.Dense
	// each calls f with every stored value; the others are 0.
	Each(f func(i, j int, x float64))
}

// SampleError says that a sample cannot be used. In its text samples and columns count from 1.
type SampleError struct {
	// Sample is its row, from 0.
	Sample int
	// Problem says why.
	Problem string
}

func (e *SampleError) Error() string { return fmt.Sprintf("sample %d: %s", e.Sample+1, e.Problem) }

// The size that the values of a sample, of a kernel, of similarities and of initial factors may have.
// Updates multiply up to five of them: outside it products run over or under what a float64 holds.
const (
	LargestValue  = 1e60
	SmallestValue = 1e-60
)

// The size that weights and widths may have.
const (
	LargestNumber  = 1e100
	SmallestNumber = 1e-100
)

// CheckWeight reports a weight, called what, that cannot be one.
func CheckWeight(what string, w float64) error {
	if w >= 0 && w <= LargestNumber {
		return nil
	}
	return fmt.Errorf("%s is %v; it must be a number from 0 to %g", what, w, LargestNumber)
}

// New wraps x after checking it: every value finite, and no sample without a value other than 0.
func New(x mat.Matrix) (Data, error) {
	if x == nil {
		return nil, errors.New("no data")
	}
	n, m := x.Dims()
	if n == 0 || m == 0 {
		return nil, fmt.Errorf("no data: the matrix is %d×%d", n, m)
	}
	var d Data
	switch x := x.(type) {
	case *sparse.CSR:
		d = NewSparse(x)
	case *mat.Dense:
		d = Dense{x}
	default:
		d = Dense{mat.DenseCopyOf(x)}
	}
	peak := make([]float64, n)
	i, j, v, found := firstValue(d, func(i int, values []float64) int {
		var most uint64 // of the bits without the sign, which are in the order of the sizes, NaN last
		for _, v := range values {
			most = max(most, math.Float64bits(v)&math.MaxInt64)
		}
		if peak[i] = math.Float64frombits(most); peak[i] <= LargestValue {
			return -1
		}
		return slices.IndexFunc(values, func(v float64) bool { return !(math.Abs(v) <= LargestValue) })
	})
	if found {
		return nil, &SampleError{i, fmt.Sprintf("column %d: value %v is not usable (a value must be finite and at most %g)", j+1, v, LargestValue)}
	}
	for i, p := range peak {
		if p < SmallestValue {
			problem := fmt.Sprintf("all %d values are zero", m)
			if p > 0 {
				problem = fmt.Sprintf("its largest value, %.3g, is not usable (it must be at least %g)", p, SmallestValue)
			}
			return nil, &SampleError{i, problem}
		}
	}
	return d, nil
}

// symmetricRows is how many rows of inner products are made at a time, from the diagonal on.
const symmetricRows = 128

// InnerProducts returns those of all pairs of samples, n×n, padded. Of dense data those of a sample with
// those before it are copied.
func InnerProducts(ctx context.Context, x Data) (*mat.Dense, error) {
	n, _ := x.Dims()
	out := algebra.Padded(n, n)
	if d, ok := x.(Dense); ok {
		raw := out.RawMatrix()
		return out, panel.Each(ctx, n, symmetricRows, func(from, to int) error {
			algebra.Gemm(out.Slice(from, to, from, n).(*mat.Dense), d.Rows(from, to), algebra.NoTrans, d.Rows(from, n), algebra.Trans)
			if to < n {
				algebra.EachRow(out.Slice(to, n, from, to).(*mat.Dense), 4, func(j int, row []float64) {
					for i := range row {
						row[i] = raw.Data[(from+i)*raw.Stride+to+j]
					}
				})
			}
			return nil
		})
	}
	return out, EachGram(ctx, x, func(from int, part *mat.Dense) {
		r, _ := part.Dims()
		out.Slice(from, from+r, 0, n).(*mat.Dense).Copy(part)
	})
}

// EachGram calls f with the inner products of one panel of samples after another, from the given one on,
// with all samples. f may overwrite them.
func EachGram(ctx context.Context, x Data, f func(from int, part *mat.Dense)) error {
	n, _ := x.Dims()
	return EachPanel(ctx, n, n, func(part *mat.Dense, from, to int) { x.TimesBasis(part, x.Rows(from, to)) }, f)
}

// GramRows is how many samples are compared with others at a time.
const GramRows = 64

// EachPanel calls multiply, which writes what the rows from to to-1 of n make with width others, and then
// f, for one panel of rows after another.
func EachPanel(ctx context.Context, n, width int, multiply func(dst *mat.Dense, from, to int), f func(from int, part *mat.Dense)) error {
	buf := mat.NewDense(min(GramRows, n), width, nil)
	return panel.Each(ctx, n, GramRows, func(from, to int) error {
		part := buf.Slice(0, to-from, 0, width).(*mat.Dense)
		multiply(part, from, to)
		f(from, part)
		return nil
	})
}

// Negative returns a [SampleError] about the first negative value, or nil where there is none.
func Negative(d Data) *SampleError {
	i, j, value, found := firstValue(d, func(_ int, values []float64) int {
		return slices.IndexFunc(values, func(v float64) bool { return v < 0 })
	})
	if !found {
		return nil
	}
	return &SampleError{i, fmt.Sprintf("column %d: value %v is negative", j+1, value)}
}

// Needing adds that what needs values of 0 or more.
func (e *SampleError) Needing(what string) *SampleError {
	return &SampleError{e.Sample, e.Problem + ", and " + what + " needs values of 0 or more"}
}

// firstValue returns the place and value of the first value that look finds. look gets the number of a
// sample and its stored values, and returns a place among them or −1.
func firstValue(d Data, look func(i int, values []float64) int) (i, j int, value float64, found bool) {
	n, _ := d.Dims()
	places := make([]int, n)
	eachSample(d, func(i int, columns []int, values []float64) {
		at := look(i, values)
		if at >= 0 && columns != nil {
			at = columns[at]
		}
		places[i] = at
	})
	if i = slices.IndexFunc(places, func(at int) bool { return at >= 0 }); i < 0 {
		return 0, 0, 0, false
	}
	return i, places[i], d.Matrix().At(i, places[i]), true
}

// eachSample calls f once for each sample, several at once, with its stored values and their columns, nil
// of dense data.
func eachSample(d Data, f func(i int, columns []int, values []float64)) {
	n, m := d.Dims()
	const work = 4 // multiplications take as long as to read a value
	parallel.DoWork(work*n*m, n, func(i int) {
		switch x := d.Matrix().(type) {
		case *sparse.CSR:
			columns, values := x.Row(i)
			f(i, columns, values)
		case *mat.Dense:
			f(i, nil, x.RawRowView(i))
		}
	})
}

// SumOfRows adds up what f returns of each sample: its number and its stored values.
func SumOfRows(d Data, f func(i int, values []float64) float64) float64 {
	n, _ := d.Dims()
	sums := make([]float64, n)
	eachSample(d, func(i int, _ []int, values []float64) { sums[i] = f(i, values) })
	return elementary.Sum(sums)
}

// SquaredLengths returns ‖x‖² of each sample.
func SquaredLengths(x Data) []float64 {
	n, _ := x.Dims()
	out := make([]float64, n)
	if whole, ok := x.Matrix().(*mat.Dense); ok {
		algebra.EachRow(whole, 1, func(i int, row []float64) { out[i] = algebra.Dot(row, row) })
		return out
	}
	x.Each(func(i, _ int, v float64) { out[i] += v * v })
	return out
}

func SumSquares(x Data) float64 {
	var sum float64
	if whole, ok := x.Matrix().(*mat.Dense); ok {
		return algebra.Inner(whole, whole)
	}
	x.Each(func(_, _ int, x float64) { sum += x * x })
	return sum
}

// CheckMemory reports that a number of rows×columns matrices does not fit into the memory that the
// context allows. what names them.
func CheckMemory(ctx context.Context, what string, matrices, rows, columns int) error {
	need := Bytes(8 * float64(matrices) * float64(rows) * float64(columns))
	return memory.FromContext(ctx).Check(need, what)
}

// Bytes is a number of bytes that may be beyond all numbers.
func Bytes(need float64) int64 { return int64(min(need, math.MaxInt64/2)) }
