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
	return fmt.Errorf("%s is %v; expected a number from 0 to %g", what, w, LargestNumber)
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
				return fmt.Sprintf("column %d: value %v; expected a finite value up to %g", column(columns, at), v, LargestValue)
			}
			peak = max(peak, math.Abs(v))
		}
		switch {
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
	return &SampleError{e.Sample, e.Problem + ", and " + what + " needs non-negative values"}
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

// Condensation is the change of variables by which ties and weights reach the engine: it condenses the data before
// a fit and expands V after it. With c_j the weight of group j, β the cost's degree and E = C^(-1/β), V = A·E·Ṽ,
// and the costs of the data and of the condensed data differ by a constant: the multiplicative steps are the same.
type Condensation struct {
	Group  []int     // of each sample
	Groups int       // how many there are
	Expand []float64 // E of each group: a sample's coefficients are those of its group times this
	Weight []float64 // γ of each sample
	C      []float64 // weight of each group
	degree float64   // of the cost
	None   bool      // every sample is its own group and weighs 1

	members [][]int
}

// NewCondensation numbers the groups and weighs them. Samples of one label of 0 or more are a group, the
// others are alone; labels and weight may be nil.
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

// Data condenses the data: row j is c_j^(1/β)·Σ γ_i·x_i/c_j.
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

// Rows condenses the rows of an n×p matrix as Data does those of X.
func (t *Condensation) Rows(dst, a *mat.Dense) {
	dst.Zero()
	for i, g := range t.Group {
		algebra.Axpy(t.Weight[i]*t.Expand[g], a.RawRowView(i), dst.RawRowView(g))
	}
}

// Columns condenses the columns of a k×n matrix as Data does the rows of X.
func (t *Condensation) Columns(dst, a *mat.Dense) {
	if t.None {
		dst.Copy(a)
	} else {
		t.addColumns(dst, a, func(i int) float64 { return t.Weight[i] * t.Expand[t.Group[i]] })
	}
}

// addColumns adds up the columns i of each group, times by(i).
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

// Expanded returns V, k×n, of condensed coefficients, or these themselves with None.
func (t *Condensation) Expanded(condensed *mat.Dense) *mat.Dense {
	if t.None {
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

// PullBack is the transpose of Expanded, for gradients in V, k×n.
func (t *Condensation) PullBack(dst, a *mat.Dense) {
	t.addColumns(dst, a, func(i int) float64 { return t.Expand[t.Group[i]] })
}

// PullBackDiagonal adds up the diagonal of a quadratic form in V, or nil, to an upper bound of that of the condensed
// form.
func (t *Condensation) PullBackDiagonal(diagonal []float64) []float64 {
	if diagonal == nil {
		return nil
	}
	out := make([]float64, t.Groups)
	for i, q := range diagonal {
		g := t.Group[i]
		out[g] += q * t.Expand[g] * t.Expand[g]
	}
	return out
}

// Condensed returns condensed coefficients of V, k×n: means of groups, or with first those of first samples.
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
