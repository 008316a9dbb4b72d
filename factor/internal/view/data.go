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

// Data is the n×m matrix X that a run approximates, with its products. Factors are transposed: u is k×m, v is k×n.
type Data interface {
	Dims() (n, m int)
	// Matrix returns X.
	Matrix() mat.Matrix
	// TimesBasis writes u·Xᵀ, k×n.
	TimesBasis(dst, u *mat.Dense)
	// TimesCoefficients writes v·X, k×m.
	TimesCoefficients(dst, v *mat.Dense)
	// RatioBasis writes v·R, k×m, where R = X/(vᵀu) elementwise, or nothing where dst is nil. With logs it
	// returns Σ x·log(x/y) over the entries x > 0, y being those of vᵀu.
	RatioBasis(dst, u, v *mat.Dense, logs bool) float64
	// RatioCoefficients writes u·Rᵀ, k×n.
	RatioCoefficients(dst, u, v *mat.Dense)
	// Residual returns ‖X − vᵀu‖².
	Residual(u, v *mat.Dense) float64
	// Divergence returns Σ x·log(x/y) − x + y, term by term.
	Divergence(u, v *mat.Dense) float64
	// Condense returns the matrix whose row j is the sum of the rows i with group[i] = j, each times scale[i].
	Condense(groups int, group []int, scale []float64) Data
	// Rows returns the rows from to to-1, dense, not to be changed.
	Rows(from, to int) *mat.Dense
	// Each calls f with every stored value; the others are 0.
	Each(f func(i, j int, x float64))
}

// SampleError says that a sample, of a row from 0, cannot be used, and why. Its text counts from 1.
type SampleError struct {
	Sample  int
	Problem string
}

func (e *SampleError) Error() string { return fmt.Sprintf("sample %d: %s", e.Sample+1, e.Problem) }

// The size that values of samples, kernels, similarities and initial factors may have: updates multiply up to five.
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
	if bad := firstProblem(d, func(columns []int, values []float64) string {
		peak := 0.0
		for at, v := range values {
			if !(math.Abs(v) <= LargestValue) {
				return fmt.Sprintf("column %d: value %v is not usable (a value must be finite and at most %g)", column(columns, at), v, LargestValue)
			}
			peak = max(peak, math.Abs(v))
		}
		switch {
		case peak == 0:
			return fmt.Sprintf("all %d values are zero", m)
		case peak < SmallestValue:
			return fmt.Sprintf("its largest value, %.3g, is not usable (it must be at least %g)", peak, SmallestValue)
		}
		return ""
	}); bad != nil {
		return nil, bad
	}
	return d, nil
}

// InnerProducts returns those of all pairs of samples, n×n, padded.
func InnerProducts(ctx context.Context, x Data) (*mat.Dense, error) {
	n, _ := x.Dims()
	out := algebra.Padded(n, n)
	return out, EachGram(ctx, x, func(from int, part *mat.Dense) {
		r, _ := part.Dims()
		out.Slice(from, from+r, 0, n).(*mat.Dense).Copy(part)
	})
}

// EachGram calls f with the inner products of one panel of samples after another with all samples, which f may
// overwrite.
func EachGram(ctx context.Context, x Data, f func(from int, part *mat.Dense)) error {
	n, _ := x.Dims()
	return EachPanel(ctx, n, n, func(part *mat.Dense, from, to int) { x.TimesBasis(part, x.Rows(from, to)) }, f)
}

// GramRows is how many samples are compared with others at a time.
const GramRows = 64

// EachPanel calls f with what multiply writes of one panel of n rows after another, with width columns.
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
	return firstProblem(d, func(columns []int, values []float64) string {
		at := slices.IndexFunc(values, func(v float64) bool { return v < 0 })
		if at < 0 {
			return ""
		}
		return fmt.Sprintf("column %d: value %v is negative", column(columns, at), values[at])
	})
}

// Needing adds that what needs values of 0 or more.
func (e *SampleError) Needing(what string) *SampleError {
	return &SampleError{e.Sample, e.Problem + ", and " + what + " needs values of 0 or more"}
}

// NonNegative returns an error about the first negative value, if there is one, which what does not take.
func NonNegative(d Data, what string) error {
	if negative := Negative(d); negative != nil {
		return negative.Needing(what)
	}
	return nil
}

// firstProblem returns an error about the first sample of whose columns and values look returns a problem.
func firstProblem(d Data, look func(columns []int, values []float64) string) *SampleError {
	n, _ := d.Dims()
	problems := make([]string, n)
	eachSample(d, func(i int, columns []int, values []float64) { problems[i] = look(columns, values) })
	if i := slices.IndexFunc(problems, func(problem string) bool { return problem != "" }); i >= 0 {
		return &SampleError{i, problems[i]}
	}
	return nil
}

// column is the number, from 1, of the column at a place among those with stored values.
func column(columns []int, at int) int {
	if columns == nil {
		return at + 1
	}
	return columns[at] + 1
}

// eachSample calls f for all samples, several at once, with the stored values and their columns, nil if dense.
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

// SumOfRows adds up what f returns of each sample's number and stored values.
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

// CheckMemory reports that rows×columns matrices, named what, do not fit into the memory of the context.
func CheckMemory(ctx context.Context, what string, matrices, rows, columns int) error {
	need := Bytes(8 * float64(matrices) * float64(rows) * float64(columns))
	return memory.FromContext(ctx).Check(need, what)
}

// Bytes is a number of bytes that may be beyond all numbers.
func Bytes(need float64) int64 { return int64(min(need, math.MaxInt64/2)) }
