package factor

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/panel"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// data is the n×m matrix that a run approximates, with the products it takes.
// Factors are transposed: u is k×m, v is k×n.
type data interface {
	dims() (n, m int)
	// matrix returns X.
	matrix() mat.Matrix
	// timesBasis writes u·Xᵀ, k×n.
	timesBasis(dst, u *mat.Dense)
	// timesCoefficients writes v·X, k×m.
	timesCoefficients(dst, v *mat.Dense)
	// ratioBasis writes v·R, k×m, where R = X/(vᵀu) elementwise, or nothing where dst is nil.
	// Where logs are wanted it returns Σ x·log(x/y) over the entries x > 0, y being those of vᵀu.
	ratioBasis(dst, u, v *mat.Dense, logs bool) float64
	// ratioCoefficients writes u·Rᵀ, k×n.
	ratioCoefficients(dst, u, v *mat.Dense)
	// residual returns ‖X − vᵀu‖².
	residual(u, v *mat.Dense) float64
	// divergence returns Σ x·log(x/y) − x + y, term by term.
	divergence(u, v *mat.Dense) float64
	// condense returns the matrix whose row j is the sum of the rows i with
	// group[i] = j, each times scale[i].
	condense(groups int, group []int, scale []float64) data
	// rows returns the rows from to to-1, dense, not to be changed.
	rows(from, to int) *mat.Dense
	// each calls f with every stored value; the others are 0.
	each(f func(i, j int, x float64))
}

// SampleError says that a sample cannot be used. In its text samples and columns
// count from 1.
type SampleError struct {
	// Sample is its row, from 0.
	Sample int
	// Problem says why.
	Problem string
}

func (e *SampleError) Error() string { return fmt.Sprintf("sample %d: %s", e.Sample+1, e.Problem) }

// The size that the values of a sample, of a kernel, of similarities and of initial
// factors may have. Updates multiply up to five of them: outside it products run over or
// under what a float64 holds.
const (
	largestValue  = 1e60
	smallestValue = 1e-60
)

// The size that weights and widths may have.
const (
	largestNumber  = 1e100
	smallestNumber = 1e-100
)

// checkWeight reports a weight, called what, that cannot be one.
func checkWeight(what string, w float64) error {
	if w >= 0 && w <= largestNumber {
		return nil
	}
	return fmt.Errorf("%s is %v; it must be a number from 0 to %g", what, w, largestNumber)
}

// newData wraps x after checking it: every value finite, and no sample
// without a value other than 0.
func newData(x mat.Matrix) (data, error) {
	if x == nil {
		return nil, errors.New("no data")
	}
	n, m := x.Dims()
	if n == 0 || m == 0 {
		return nil, fmt.Errorf("no data: the matrix is %d×%d", n, m)
	}
	var d data
	switch x := x.(type) {
	case *sparse.CSR:
		d = newSparseData(x)
	case *mat.Dense:
		d = denseData{x}
	default:
		d = denseData{mat.DenseCopyOf(x)}
	}
	peak := make([]float64, n)
	i, j, v, found := firstValue(d, func(i int, values []float64) int {
		var most uint64 // of the bits without the sign, which are in the order of the sizes, NaN last
		for _, v := range values {
			most = max(most, math.Float64bits(v)&math.MaxInt64)
		}
		if peak[i] = math.Float64frombits(most); peak[i] <= largestValue {
			return -1
		}
		return slices.IndexFunc(values, func(v float64) bool { return !(math.Abs(v) <= largestValue) })
	})
	if found {
		return nil, &SampleError{i, fmt.Sprintf("column %d: value %v is not usable (a value must be finite and at most %g)", j+1, v, largestValue)}
	}
	for i, p := range peak {
		if p < smallestValue {
			problem := fmt.Sprintf("all %d values are zero", m)
			if p > 0 {
				problem = fmt.Sprintf("its largest value, %.3g, is not usable (it must be at least %g)", p, smallestValue)
			}
			return nil, &SampleError{i, problem}
		}
	}
	return d, nil
}

// symmetricRows is how many rows of inner products are made at a time, from the diagonal on.
const symmetricRows = 128

// innerProducts returns those of all pairs of samples, n×n, padded. Of dense data those of a sample
// with those before it are copied.
func innerProducts(ctx context.Context, x data) (*mat.Dense, error) {
	n, _ := x.dims()
	out := algebra.Padded(n, n)
	if d, ok := x.(denseData); ok {
		raw := out.RawMatrix()
		return out, panel.Each(ctx, n, symmetricRows, func(from, to int) error {
			algebra.Gemm(out.Slice(from, to, from, n).(*mat.Dense), d.rows(from, to), algebra.NoTrans, d.rows(from, n), algebra.Trans)
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
	return out, eachGram(ctx, x, func(from int, part *mat.Dense) {
		r, _ := part.Dims()
		out.Slice(from, from+r, 0, n).(*mat.Dense).Copy(part)
	})
}

// eachGram calls f with the inner products of one panel of samples after another, from
// the given one on, with all samples. f may overwrite them.
func eachGram(ctx context.Context, x data, f func(from int, part *mat.Dense)) error {
	n, _ := x.dims()
	return eachPanel(ctx, n, n, func(part *mat.Dense, from, to int) { x.timesBasis(part, x.rows(from, to)) }, f)
}

// gramRows is how many samples are compared with others at a time.
const gramRows = 64

// eachPanel calls multiply, which writes what the rows from to to-1 of n make with width
// others, and then f, for one panel of rows after another.
func eachPanel(ctx context.Context, n, width int, multiply func(dst *mat.Dense, from, to int), f func(from int, part *mat.Dense)) error {
	buf := mat.NewDense(min(gramRows, n), width, nil)
	return panel.Each(ctx, n, gramRows, func(from, to int) error {
		part := buf.Slice(0, to-from, 0, width).(*mat.Dense)
		multiply(part, from, to)
		f(from, part)
		return nil
	})
}

// firstNegative returns the place and value of the first negative value.
func firstNegative(d data) (i, j int, value float64, found bool) {
	return firstValue(d, func(_ int, values []float64) int {
		for p, v := range values {
			if v < 0 {
				return p
			}
		}
		return -1
	})
}

// firstValue returns the place and value of the first value that look finds. look gets the
// number of a sample and its stored values, and returns a place among them or −1.
func firstValue(d data, look func(i int, values []float64) int) (i, j int, value float64, found bool) {
	n, _ := d.dims()
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
	return i, places[i], d.matrix().At(i, places[i]), true
}

// eachSample calls f once for each sample, several at once, with its stored values and their
// columns, nil of dense data.
func eachSample(d data, f func(i int, columns []int, values []float64)) {
	n, m := d.dims()
	const work = 4 // multiplications take as long as to read a value
	parallel.DoWork(work*n*m, n, func(i int) {
		switch x := d.matrix().(type) {
		case *sparse.CSR:
			columns, values := x.Row(i)
			f(i, columns, values)
		case *mat.Dense:
			f(i, nil, x.RawRowView(i))
		}
	})
}

// sumOfRows adds up what f returns of each sample: its number and its stored values.
func sumOfRows(d data, f func(i int, values []float64) float64) float64 {
	n, _ := d.dims()
	sums := make([]float64, n)
	eachSample(d, func(i int, _ []int, values []float64) { sums[i] = f(i, values) })
	return elementary.Sum(sums)
}

// negativeError says that a method that needs values ≥ 0 has met one that is not.
func negativeError(i, j int, value float64) error {
	return &SampleError{i, fmt.Sprintf("column %d: value %v is negative, and this method needs values of 0 or more", j+1, value)}
}

// squaredLengths returns ‖x‖² of each sample.
func squaredLengths(x data) []float64 {
	n, _ := x.dims()
	out := make([]float64, n)
	if whole, ok := x.matrix().(*mat.Dense); ok {
		algebra.EachRow(whole, 1, func(i int, row []float64) { out[i] = algebra.Dot(row, row) })
		return out
	}
	x.each(func(i, _ int, v float64) { out[i] += v * v })
	return out
}

func sumSquares(x data) float64 {
	var sum float64
	if whole, ok := x.matrix().(*mat.Dense); ok {
		return algebra.Inner(whole, whole)
	}
	x.each(func(_, _ int, x float64) { sum += x * x })
	return sum
}
