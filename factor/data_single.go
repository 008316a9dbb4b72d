package factor

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/freelist"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/simd"
)

// singleData is dense data with its products with a factor in single precision. The data and
// each row of a factor are brought near 1 by powers of 2, so that numbers of any scale
// keep their digits.
type singleData struct {
	denseData
	single              blas.Of[float32] // X / 2^exponent
	exponent            int
	basis, coefficients func() *blas.Kept[float32] // as in keptData, or nil where X is not laid out once
}

func newSingleData(d denseData) singleData {
	n, m := d.dims()
	s := singleData{denseData: d, single: blas.Of[float32]{Rows: n, Cols: m, Stride: m, Data: make([]float32, n*m)}}
	largest := make([]float64, n)
	eachRow(d.x, 1, func(i int, row []float64) { largest[i] = simd.Largest(row) })
	s.exponent = exponentOf(slices.Max(largest))
	scale := powerOf2(-s.exponent)
	eachRow(d.x, 1, func(i int, row []float64) { simd.ToSingle(s.single.Data[i*m:][:m], row, scale) })
	if kept(n, m) {
		s.basis, s.coefficients = laidOut(s.single, trans), laidOut(s.single, noTrans)
	}
	return s
}

func (d singleData) timesBasis(dst, u *mat.Dense) { d.times(dst, u, trans, d.basis) }

func (d singleData) timesCoefficients(dst, v *mat.Dense) { d.times(dst, v, noTrans, d.coefficients) }

// singleRoom holds a factor, the exponents of its rows and a product with it.
type singleRoom struct {
	a, product []float32
	exponents  []int
}

var singleRooms = freelist.List[*singleRoom]{New: func() *singleRoom { return new(singleRoom) }}

// times writes a·op(X), which laid lays out once if it is not nil.
func (d singleData) times(dst, a *mat.Dense, t blas.Transpose, laid func() *blas.Kept[float32]) {
	room := singleRooms.Get()
	defer singleRooms.Put(room)
	k, width := a.Dims()
	_, columns := dst.Dims()
	room.a = slices.Grow(room.a[:0], k*width)[:k*width]
	room.product = slices.Grow(room.product[:0], k*columns)[:k*columns]
	room.exponents = slices.Grow(room.exponents[:0], k)[:k]
	parallel.DoWork(4*k*width, k, func(r int) {
		row := a.RawRowView(r)
		room.exponents[r] = exponentOf(simd.Largest(row))
		simd.ToSingle(room.a[r*width:][:width], row, powerOf2(-room.exponents[r]))
	})
	left := blas.Of[float32]{Rows: k, Cols: width, Stride: width, Data: room.a}
	product := blas.Of[float32]{Rows: k, Cols: columns, Stride: columns, Data: room.product}
	if laid != nil {
		laid().Multiply(noTrans, left, product)
	} else {
		blas.Multiply(noTrans, t, 1, left, d.single, 0, product)
	}
	parallel.DoWork(4*k*columns, k, func(r int) {
		simd.ToDouble(dst.RawRowView(r), room.product[r*columns:][:columns], powerOf2(d.exponent+room.exponents[r]))
	})
}

// exponentOf returns the exponent of the power of 2 that x is divided by to lie within ½ and
// 1, or nearly so where powers of 2 end.
func exponentOf(x float64) int {
	_, exponent := math.Frexp(x)
	return min(max(exponent, -500), 500)
}

// powerOf2 returns 2^exponent, or one nearer to 1 where that is no number above 0.
func powerOf2(exponent int) float64 { return math.Ldexp(1, min(max(exponent, -1000), 1000)) }
