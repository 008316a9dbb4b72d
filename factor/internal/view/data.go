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

// Data is the n×m data matrix X with its products. Factors are transposed: u is k×m, v is k×n.
type Data interface {
	Dims() (n, m int)
	// Matrix returns X.
	Matrix() mat.Matrix
	// TimesBasis writes u·Xᵀ, k×n.
	TimesBasis(dst, u *mat.Dense)
	// TimesCoefficients writes v·X, k×m.
	TimesCoefficients(dst, v *mat.Dense)
	// RatioBasis writes v·R, k×m, where R = X/(vᵀu) elementwise, unless dst is nil. With logs it returns
	// Σ x·log(x/y) over the entries x > 0, with y the entries of vᵀu.
	RatioBasis(dst, u, v *mat.Dense, logs bool) float64
	// RatioCoefficients writes u·Rᵀ, k×n.
	RatioCoefficients(dst, u, v *mat.Dense)
	// Residual returns ‖X − vᵀu‖².
	Residual(u, v *mat.Dense) float64
	// Divergence returns Σ x·log(x/y) − x + y, term by term.
	Divergence(u, v *mat.Dense) float64
	// Condense returns the matrix whose row j is the sum of scale[i]·x_i over the rows i with group[i] = j.
	Condense(groups int, group []int, scale []float64) Data
	// Rows returns the rows from, …, to−1, dense and read-only.
	Rows(from, to int) *mat.Dense
	// Each calls f with every stored value.
	Each(f func(i, j int, x float64))
}

// SampleError reports an unusable sample: its row, counted from 0, and the problem. The error text counts rows from 1.
type SampleError struct {
	Sample  int
	Problem string
}

func (e *SampleError) Error() string { return fmt.Sprintf("sample %d: %s", e.Sample+1, e.Problem) }

// Bounds on values of samples, kernels, similarities and initial factors. Updates multiply up to five of them, which
// must not overflow.
const (
	LargestValue  = 1e60
	SmallestValue = 1e-60
)

// Bounds on weights and widths.
const (
	LargestNumber  = 1e100
	SmallestNumber = 1e-100
)

// CheckWeight returns an error unless the weight w, which what names, is from 0 to LargestNumber.
func CheckWeight(what string, w float64) error {
	if w >= 0 && w <= LargestNumber {
		return nil
	}
	return fmt.Errorf("%s is %v; expected a number from 0 to %g", what, w, LargestNumber)
}

// ErrWeighted is the error of a method that does not support a [Weighted].
var ErrWeighted = errors.New("the method supports no missing values or weights; use one such as nmf")

// New validates x and wraps it: every value must be finite, and no sample may be all zeros.
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
	case *Weighted:
		return nil, ErrWeighted
	default:
		d = Dense{mat.DenseCopyOf(x)}
	}
	if bad := firstProblem(d, func(columns []int, values []float64) string {
		peak := elementary.Largest(values)
		switch {
		case !(peak <= LargestValue):
			at := slices.IndexFunc(values, func(v float64) bool { return !(math.Abs(v) <= LargestValue) })
			return unusableValue(0, column(columns, at)-1, values[at]).Problem
		case peak == 0:
			return fmt.Sprintf("all %d values are zero", m)
		case peak < SmallestValue:
			return fmt.Sprintf("the largest value is %.3g; expected at least %g", peak, SmallestValue)
		}
		return ""
	}); bad != nil {
		return nil, bad
	}
	return d, nil
}

// unusableValue reports a value that is not finite or too large.
func unusableValue(i, j int, v float64) *SampleError {
	return &SampleError{i, fmt.Sprintf("column %d: value %v; expected a finite value up to %g", j+1, v, LargestValue)}
}

// InnerProducts returns the Gram matrix of the samples, n×n, with padded rows.
func InnerProducts(ctx context.Context, x Data) (*mat.Dense, error) {
	n, _ := x.Dims()
	out := algebra.Padded(n, n)
	return out, EachGram(ctx, x, func(from int, part *mat.Dense) {
		r, _ := part.Dims()
		out.Slice(from, from+r, 0, n).(*mat.Dense).Copy(part)
	})
}

// EachGram calls f with successive panels of the Gram matrix: part holds the rows from the given sample on. f may
// overwrite part.
func EachGram(ctx context.Context, x Data, f func(from int, part *mat.Dense)) error {
	n, _ := x.Dims()
	return EachPanel(ctx, n, n, func(part *mat.Dense, from, to int) { x.TimesBasis(part, x.Rows(from, to)) }, f)
}

// GramRows is the number of rows of a panel.
const GramRows = 64

// EachPanel calls f with successive panels of an n×width matrix, which multiply computes.
func EachPanel(ctx context.Context, n, width int, multiply func(dst *mat.Dense, from, to int), f func(from int, part *mat.Dense)) error {
	buf := mat.NewDense(min(GramRows, n), width, nil)
	return panel.Each(ctx, n, GramRows, func(from, to int) error {
		part := buf.Slice(0, to-from, 0, width).(*mat.Dense)
		multiply(part, from, to)
		f(from, part)
		return nil
	})
}

// Negative returns a [SampleError] for the first negative value, or nil if there is none.
func Negative(d Data) *SampleError {
	return firstValue(d, func(v float64) bool { return v < 0 }, "is negative")
}

// Zero returns a [SampleError] for the first value that is not above 0, or nil if there is none.
func Zero(d Dense) *SampleError {
	return firstValue(d, func(v float64) bool { return !(v > 0) }, "is not above 0")
}

// firstValue returns an error for the first value that is bad, or nil.
func firstValue(d Data, bad func(float64) bool, problem string) *SampleError {
	return firstProblem(d, func(columns []int, values []float64) string {
		at := slices.IndexFunc(values, bad)
		if at < 0 {
			return ""
		}
		return fmt.Sprintf("column %d: value %v %s", column(columns, at), values[at], problem)
	})
}

// AsDense returns d in dense storage.
func AsDense(d Data) Dense {
	if x, ok := d.(Dense); ok {
		return x
	}
	return Dense{mat.DenseCopyOf(d.Matrix())}
}

// Needing returns e with the reason added: what needs values of 0 or more.
func (e *SampleError) Needing(what string) *SampleError {
	return &SampleError{e.Sample, e.Problem + ", and " + what + " needs non-negative values"}
}

// NonNegative returns an error for the first negative value, if any. what names the user of the data that rejects it.
func NonNegative(d Data, what string) error {
	if negative := Negative(d); negative != nil {
		return negative.Needing(what)
	}
	return nil
}

// firstProblem returns an error for the first sample for which look returns a problem, or nil.
func firstProblem(d Data, look func(columns []int, values []float64) string) *SampleError {
	n, _ := d.Dims()
	problems := make([]string, n)
	eachSample(d, func(i int, columns []int, values []float64) { problems[i] = look(columns, values) })
	if i := slices.IndexFunc(problems, func(problem string) bool { return problem != "" }); i >= 0 {
		return &SampleError{i, problems[i]}
	}
	return nil
}

// column returns the number, from 1, of the column of the stored value at position at. columns is nil if dense.
func column(columns []int, at int) int {
	if columns == nil {
		return at + 1
	}
	return columns[at] + 1
}

// eachSample calls f for all samples, concurrently, with the stored values and their columns, nil if dense.
func eachSample(d Data, f func(i int, columns []int, values []float64)) {
	n, m := d.Dims()
	const work = 4 // cost of a value, in multiplications
	parallel.DoWork(work*n*m, n, func(i int) {
		columns, values := storedRow(d.Matrix(), i)
		f(i, columns, values)
	})
}

// storedRow returns the stored values of row i of x, a *mat.Dense or a *sparse.CSR, and their columns, nil if dense.
func storedRow(x mat.Matrix, i int) (columns []int, values []float64) {
	if s, ok := x.(*sparse.CSR); ok {
		return s.Row(i)
	}
	return nil, x.(*mat.Dense).RawRowView(i)
}

// SumOfRows returns the sum of f over the samples; f gets a sample's row and its stored values.
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

// CheckMemory returns an error if that many rows×columns matrices exceed the memory limit of ctx. what names them.
func CheckMemory(ctx context.Context, what string, matrices, rows, columns int) error {
	need := Bytes(8 * float64(matrices) * float64(rows) * float64(columns))
	return memory.FromContext(ctx).Check(need, what)
}

// Bytes converts a number of bytes to int64 and caps it to avoid overflow.
func Bytes(need float64) int64 { return int64(min(need, math.MaxInt64/2)) }

// Condensation is the change of variables that implements ties and weights: it condenses the data before a fit and
// expands V after it. With c_j the weight of group j, β the cost's degree and E = C^(-1/β), V = A·E·Ṽ. The costs of
// the data and of the condensed data differ by a constant, so the multiplicative steps are the same.
type Condensation struct {
	Group  []int     // group of each sample
	Groups int       // number of groups
	Expand []float64 // E of each group: a sample's coefficients are its group's times E
	Weight []float64 // γ of each sample
	C      []float64 // weight of each group
	degree float64   // β of the cost
	None   bool      // every sample is a group of its own with weight 1

	members [][]int
}

// NewCondensation makes one group of all samples with the same label ≥ 0, and one of each other sample. labels and
// weight may be nil.
func NewCondensation(n int, labels []int, weight []float64, degree float64) *Condensation {
	t := &Condensation{Group: make([]int, n), Weight: weight, None: labels == nil && weight == nil, degree: degree}
	if weight == nil {
		t.Weight = slices.Repeat([]float64{1}, n)
	}
	of := map[int]int{}
	for i := range n {
		g := t.Groups
		if labels != nil && labels[i] >= 0 {
			if have, ok := of[labels[i]]; ok {
				g = have
			} else {
				of[labels[i]] = g
			}
		}
		if g == t.Groups {
			t.Groups++
			t.C = append(t.C, 0)
		}
		t.Group[i] = g
		t.C[g] += t.Weight[i]
	}
	t.Expand = make([]float64, t.Groups)
	for j, c := range t.C {
		t.Expand[j] = 1 / math.Pow(c, 1/t.degree)
	}
	return t
}

// Data returns the condensed data: row j is c_j^(1/β)·Σ γ_i·x_i/c_j.
func (t *Condensation) Data(d Data) Data {
	if t.None {
		return d
	}
	scale := make([]float64, len(t.Group))
	for i, g := range t.Group {
		scale[i] = t.Weight[i] * math.Pow(t.C[g], 1/t.degree-1)
	}
	return d.Condense(t.Groups, t.Group, scale)
}

// Rows returns the rows of a, n×p, condensed as Data condenses the rows of X.
func (t *Condensation) Rows(a *mat.Dense) *mat.Dense { return t.Data(Dense{a}).(Dense).X }

// Columns condenses the columns of a, k×n, as Data condenses the rows of X.
func (t *Condensation) Columns(dst, a *mat.Dense) {
	if t.None {
		dst.Copy(a)
	} else {
		t.addColumns(dst, a, func(i int) float64 { return t.Weight[i] * t.Expand[t.Group[i]] })
	}
}

// addColumns writes, for each group, the sum of its columns i of a times by(i).
func (t *Condensation) addColumns(dst, a *mat.Dense, by func(i int) float64) {
	k, _ := a.Dims()
	for r := range k {
		out := dst.RawRowView(r)
		clear(out)
		for i, x := range a.RawRowView(r) {
			out[t.Group[i]] += by(i) * x
		}
	}
}

// Expanded returns V, k×n, from the condensed coefficients. With None or if t is nil it returns its argument.
func (t *Condensation) Expanded(condensed *mat.Dense) *mat.Dense {
	if t == nil || t.None {
		return condensed
	}
	k, _ := condensed.Dims()
	out := mat.NewDense(k, len(t.Group), nil)
	for r := range k {
		from, to := condensed.RawRowView(r), out.RawRowView(r)
		for i, g := range t.Group {
			to[i] = from[g] * t.Expand[g]
		}
	}
	return out
}

// PullBack applies the transpose of Expanded to a gradient in V, k×n.
func (t *Condensation) PullBack(dst, a *mat.Dense) {
	t.addColumns(dst, a, func(i int) float64 { return t.Expand[t.Group[i]] })
}

// Condensed returns the condensed coefficients of V, k×n: the mean of each group, or with first its first sample.
func (t *Condensation) Condensed(v *mat.Dense, first bool) *mat.Dense {
	if t.None {
		return mat.DenseCopyOf(v)
	}
	k, _ := v.Dims()
	size := make([]float64, t.Groups)
	out := mat.NewDense(k, t.Groups, nil)
	for i, g := range t.Group {
		if first && size[g] > 0 {
			continue
		}
		size[g]++
		for r := range k {
			out.Set(r, g, out.At(r, g)+v.At(r, i))
		}
	}
	for r := range k {
		row := out.RawRowView(r)
		for g := range row {
			row[g] /= size[g] * t.Expand[g]
		}
	}
	return out
}

// Members returns the samples of each group.
func (t *Condensation) Members() [][]int {
	if t.members == nil {
		t.members = make([][]int, t.Groups)
		for i, g := range t.Group {
			t.members[g] = append(t.members[g], i)
		}
	}
	return t.members
}
