package algebra

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/simd"
)

// An entry of a factor below Floor is set to 0: it contributes nothing, and smaller numbers become denormals, which are
// slow. The denominator of a step, a product of factors, is at least LeastDenominator, so that it is never
// denormal.
const (
	Floor            = 1e-150
	LeastDenominator = 1e-300
)

// SelfGram returns a·aᵀ, k×k.
func SelfGram(a *mat.Dense) *mat.Dense { return CrossGram(a, a) }

// Up to these limits on the rows and the entries of a, CrossGram uses inner products: packing such a small matrix for
// Gemm takes longer than multiplying it.
const (
	mostGramRows    = 32
	mostGramNumbers = 1 << 16
	// Rows are padded to a multiple of GramLanes and multiplied by dotsAtOnce others at a time.
	GramLanes  = 8
	dotsAtOnce = 4
)

// CrossGram returns a·bᵀ, k×k, which the caller knows to be symmetric.
func CrossGram(a, b *mat.Dense) *mat.Dense {
	k, m := a.Dims()
	dst := mat.NewDense(k, k, nil)
	if k > mostGramRows || k*m > mostGramNumbers {
		Gemm(dst, a, NoTrans, b, Trans)
		return dst
	}
	right := wholeRegisters(b)
	left := right
	if a != b {
		left = wholeRegisters(a)
	}
	var (
		at       [mostGramRows + dotsAtOnce - 1]int // repeats the last row up to a multiple of dotsAtOnce
		products [mostGramRows + dotsAtOnce - 1]float64
	)
	for r := range at {
		at[r] = min(r, k-1)
	}
	to, width := dst.RawMatrix(), len(left)/k
	for r := range k {
		others := at[r : r+(k-r+dotsAtOnce-1)/dotsAtOnce*dotsAtOnce]
		simd.Dots(products[:len(others)], left[r*width:][:width], right, others)
		for c, x := range products[:k-r] {
			to.Data[r*to.Stride+r+c], to.Data[(r+c)*to.Stride+r] = x, x
		}
	}
	return dst
}

// wholeRegisters returns the rows of a contiguously, padded with zeros to GramLanes. It copies them only if needed.
func wholeRegisters(a *mat.Dense) []float64 {
	raw := a.RawMatrix()
	width := (raw.Cols + GramLanes - 1) / GramLanes * GramLanes
	if raw.Cols == width && raw.Stride == width {
		return raw.Data[:raw.Rows*width]
	}
	rows := make([]float64, raw.Rows*width)
	for r := range raw.Rows {
		copy(rows[r*width:], a.RawRowView(r))
	}
	return rows
}

// Inner returns Σ a∘b.
func Inner(a, b *mat.Dense) float64 {
	r, _ := a.Dims()
	sums := make([]float64, r)
	EachRow(a, 4, func(i int, row []float64) { sums[i] = Dot(row, b.RawRowView(i)) })
	return elementary.Sum(sums)
}

// RowSums writes the sums of a's rows.
func RowSums(dst []float64, a *mat.Dense) {
	EachRow(a, 2, func(r int, row []float64) { dst[r] = Total(row) })
}

// Total returns Σ x, in four independent sums for speed.
func Total(x []float64) float64 {
	var s0, s1, s2, s3 float64
	for len(x) >= 4 {
		s0 += x[0]
		s1 += x[1]
		s2 += x[2]
		s3 += x[3]
		x = x[4:]
	}
	for _, xi := range x {
		s0 += xi
	}
	return (s0 + s1) + (s2 + s3)
}

// Like returns a matrix of zeros of a's shape.
func Like(a *mat.Dense) *mat.Dense {
	r, c := a.Dims()
	return mat.NewDense(r, c, nil)
}

// Raw returns a as a matrix of internal/blas that shares its memory.
func Raw(a *mat.Dense) blas.Of[float64] { return blas.Of[float64](a.RawMatrix()) }

// Gemm writes op(a)·op(b) to dst, which must not overlap them.
func Gemm(dst, a *mat.Dense, ta blas.Transpose, b *mat.Dense, tb blas.Transpose) {
	blas.Gemm(ta, tb, 1, a.RawMatrix(), b.RawMatrix(), 0, dst.RawMatrix())
}

// Padded returns an r×c matrix of zeros with row stride simd.Width(c).
func Padded(r, c int) *mat.Dense {
	return mat.NewDense(r, simd.Width(c), nil).Slice(0, r, 0, c).(*mat.Dense)
}

// ScaleRow multiplies row r of a by s.
func ScaleRow(a *mat.Dense, r int, s float64) { floats.Scale(s, a.RawRowView(r)) }

const (
	NoTrans = blas.NoTrans
	Trans   = blas.Trans
)

// Axpy adds a·x to y. It is not inlined: the scheduler cannot preempt a loop that calls only assembly, and a signal
// would wait until the loop ends.
//
//go:noinline
func Axpy(a float64, x, y []float64) { floats.AddScaled(y[:len(x)], a, x) }

// Dot returns the inner product of x and y.
func Dot(x, y []float64) float64 { return elementary.Dot(x, y) }

// Transpose returns aᵀ.
func Transpose(a *mat.Dense) *mat.Dense { return mat.DenseCopyOf(a.T()) }

// EachRow calls f for each row of a, in parallel if the matrix is large. work is the cost per entry in multiplications.
func EachRow(a *mat.Dense, work int, f func(r int, row []float64)) {
	r, c := a.Dims()
	parallel.DoWork(work*r*c, r, func(i int) { f(i, a.RawRowView(i)) })
}

// Lengths returns the Euclidean lengths of a's rows, 1 for zero rows.
func Lengths(a *mat.Dense) []float64 {
	k, _ := a.Dims()
	out := make([]float64, k)
	for r := range k {
		row := a.RawRowView(r)
		if out[r] = math.Sqrt(Dot(row, row)); out[r] < Floor {
			out[r] = 1
		}
	}
	return out
}

func DivideRows(a *mat.Dense, scale []float64) {
	for r, s := range scale {
		row := a.RawRowView(r)
		for i := range row {
			row[i] /= s
		}
	}
}

// Parts returns the matrices of max(x, 0) and of max(−x, 0) for the entries x of a.
func Parts(a *mat.Dense) (positive, negative *mat.Dense) {
	positive, negative = Like(a), Like(a)
	positive.Apply(func(_, _ int, x float64) float64 { return max(x, 0) }, a)
	negative.Apply(func(_, _ int, x float64) float64 { return max(-x, 0) }, a)
	return positive, negative
}

func Finite(a *mat.Dense) bool {
	r, _ := a.Dims()
	for i := range r {
		if slices.ContainsFunc(a.RawRowView(i), func(x float64) bool { return !FiniteNumber(x) }) {
			return false
		}
	}
	return true
}

func FiniteNumber(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// Times returns a·b.
func Times(a, b *mat.Dense) *mat.Dense {
	r, _ := a.Dims()
	_, c := b.Dims()
	out := mat.NewDense(r, c, nil)
	Gemm(out, a, NoTrans, b, NoTrans)
	return out
}

// FlooredProduct returns x·by, or 0 if the product is below Floor.
func FlooredProduct(x, by float64) float64 {
	if y := x * by; x > 0 && !(y < Floor) {
		return y
	}
	return 0
}
