package factor

import (
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/freelist"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/simd"
)

// selfGram returns a·aᵀ, k×k.
func selfGram(a *mat.Dense) *mat.Dense {
	k, _ := a.Dims()
	out := mat.NewDense(k, k, nil)
	gramOf(out, a)
	return out
}

// a·aᵀ of at most so many rows, and numbers, is made of inner products: a product of matrices takes
// longer to lay so few rows out than to multiply them.
const (
	mostGramRows    = 32
	mostGramNumbers = 1 << 16
	// They have whole registers of any processor, and are multiplied by dotsAtOnce others.
	gramLanes  = 8
	dotsAtOnce = 4
)

// gramOf writes a·aᵀ to dst, k×k.
func gramOf(dst, a *mat.Dense) { crossGramOf(dst, a, a) }

// crossGram returns a·bᵀ, k×k, which is symmetric.
func crossGram(a, b *mat.Dense) *mat.Dense {
	k, _ := a.Dims()
	out := mat.NewDense(k, k, nil)
	crossGramOf(out, a, b)
	return out
}

// crossGramOf writes a·bᵀ, which is symmetric, to dst, k×k.
func crossGramOf(dst, a, b *mat.Dense) {
	k, m := a.Dims()
	if k > mostGramRows || k*m > mostGramNumbers {
		gemm(dst, a, noTrans, b, trans)
		return
	}
	room := gramRooms.Get()
	defer gramRooms.Put(room)
	right := wholeRegisters(&room[1], b)
	left := right
	if a != b {
		left = wholeRegisters(&room[0], a)
	}
	var (
		at       [mostGramRows + dotsAtOnce - 1]int // the last row again, so that all are multiplied by so many
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
}

// gramRooms hold rows of both factors of a product.
var gramRooms = freelist.List[*[2][]float64]{New: func() *[2][]float64 { return new([2][]float64) }}

// wholeRegisters returns the rows of a one after another with zeros at their ends up to whole
// registers: as they are, or in room.
func wholeRegisters(room *[]float64, a *mat.Dense) []float64 {
	raw := a.RawMatrix()
	width := (raw.Cols + gramLanes - 1) / gramLanes * gramLanes
	if raw.Cols == width && raw.Stride == width {
		return raw.Data[:raw.Rows*width]
	}
	*room = slices.Grow((*room)[:0], raw.Rows*width)[:raw.Rows*width]
	for r := range raw.Rows {
		row := (*room)[r*width:][:width]
		clear(row[copy(row, raw.Data[r*raw.Stride:][:raw.Cols]):])
	}
	return *room
}

// inner returns Σ a∘b.
func inner(a, b *mat.Dense) float64 {
	var sum float64
	r, c := a.Dims()
	if 4*r*c < parallel.Few { // which allocates nothing
		for i := range r {
			sum += dot(a.RawRowView(i), b.RawRowView(i))
		}
		return sum
	}
	sums := make([]float64, r)
	eachRow(a, 4, func(i int, row []float64) { sums[i] = dot(row, b.RawRowView(i)) })
	return elementary.Sum(sums)
}

// copyOf copies src to dst.
func copyOf(dst, src *mat.Dense) {
	eachRow(dst, 4, func(r int, row []float64) { copy(row, src.RawRowView(r)) })
}

// rowSums writes the sums of a's rows.
func rowSums(dst []float64, a *mat.Dense) {
	eachRow(a, 2, func(r int, row []float64) { dst[r] = total(row) })
}

// total adds up in four sums, which do not wait for each other.
func total(x []float64) float64 {
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

// like returns a matrix of zeros of a's shape.
func like(a *mat.Dense) *mat.Dense {
	r, c := a.Dims()
	return mat.NewDense(r, c, nil)
}

// raw returns a as internal/blas has matrices, the same numbers.
func raw(a *mat.Dense) blas.Of[float64] { return blas.Of[float64](a.RawMatrix()) }

// gemm writes op(a)·op(b) to dst, which shares no memory with them.
func gemm(dst, a *mat.Dense, ta blas.Transpose, b *mat.Dense, tb blas.Transpose) {
	blas.Gemm(ta, tb, 1, a.RawMatrix(), b.RawMatrix(), 0, dst.RawMatrix())
}

// padded returns an r×c matrix of zeros, whose rows lie as far apart as simd.Width says.
func padded(r, c int) *mat.Dense {
	return mat.NewDense(r, simd.Width(c), nil).Slice(0, r, 0, c).(*mat.Dense)
}

// scaleRow multiplies row r of a by s.
func scaleRow(a *mat.Dense, r int, s float64) {
	row := a.RawRowView(r)
	for i := range row {
		row[i] *= s
	}
}

const (
	noTrans = blas.NoTrans
	trans   = blas.Trans
)

// axpy adds a·x to y. It is not inlined, as the scheduler cannot preempt a loop that calls only
// assembly, and a signal would wait until the loop ends.
//
//go:noinline
func axpy(a float64, x, y []float64) { floats.AddScaled(y[:len(x)], a, x) }

// dot returns the inner product of x and y.
func dot(x, y []float64) float64 { return elementary.Dot(x, y) }

// transpose returns aᵀ.
func transpose(a *mat.Dense) *mat.Dense { return mat.DenseCopyOf(a.T()) }
