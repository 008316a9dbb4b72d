package factor

import (
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/freelist"
	"github.com/seed4492f2cd/partwise/internal/simd"
)

// singleData is dense data with its products with factors, and the ratios of the divergence,
// in single precision. The data and each row of a factor are brought near 1 by powers of 2, so that
// numbers of any scale keep their digits.
type singleData struct {
	denseData
	single              blas.Of[float32] // X / 2^exponent
	exponent            int
	sum                 func() float64             // Σ of single
	basis, coefficients func() *blas.Kept[float32] // as in keptData
	kept                bool                       // X is laid out once for products of any rank
}

func newSingleData(d denseData) singleData {
	n, m := d.dims()
	s := singleData{denseData: d, single: blas.Of[float32]{Rows: n, Cols: m, Stride: m, Data: make([]float32, n*m)}}
	largest := make([]float64, n)
	eachRow(d.x, 1, func(i int, row []float64) { largest[i] = simd.Largest(row) })
	s.exponent = exponentOf(slices.Max(largest))
	eachRow(d.x, 1, func(i int, row []float64) { simd.ToSingle(s.single.Data[i*m:][:m], row, powerOf2(-s.exponent)) })
	s.sum = sync.OnceValue(func() (sum float64) {
		for _, x := range s.single.Data {
			sum += float64(x)
		}
		return sum
	})
	s.basis, s.coefficients, s.kept = laidOut(s.single, trans), laidOut(s.single, noTrans), kept(n, m)
	return s
}

// singleRoom holds both factors, or one, and a product.
type singleRoom struct{ u, v, product singleFactor }

var singleRooms = freelist.List[*singleRoom]{New: func() *singleRoom { return new(singleRoom) }}

// mostLaidRank is of how many vectors a basis is at most for which X of any size is laid out once: where it
// lies, each sample's product has a whole register of these vectors, and that many take no longer than few.
const mostLaidRank = 16

func (d singleData) timesBasis(dst, u *mat.Dense) {
	k, _ := u.Dims()
	d.times(dst, u, trans, d.basis, d.kept || k <= mostLaidRank)
}

func (d singleData) timesCoefficients(dst, v *mat.Dense) {
	d.times(dst, v, noTrans, d.coefficients, d.kept)
}

// times writes a·op(X), which is laid out once, or else read where it lies.
func (d singleData) times(dst, a *mat.Dense, t blas.Transpose, laid func() *blas.Kept[float32], once bool) {
	room := singleRooms.Get()
	defer singleRooms.Put(room)
	room.u.measure(a)
	room.u.read(a)
	room.product.size(dst)
	if once {
		laid().Multiply(noTrans, room.u.Of, room.product.Of)
	} else {
		blas.Multiply(noTrans, t, 1, room.u.Of, d.single, 0, room.product.Of)
	}
	copy(room.product.exponents, room.u.exponents)
	room.product.write(dst, d.exponent)
}

// With u = 2^a·u' in each row, vᵀu = 2^b·v'ᵀu' and X = 2^e·X', R is 2^(e−b)·R', v·R is
// 2^(e−a)·v'·R' and u·Rᵀ is 2^(a+e−b)·u'·R'ᵀ.

func (d singleData) ratioBasis(dst, u, v *mat.Dense, logs bool) float64 {
	room := singleRooms.Get()
	defer singleRooms.Put(room)
	b := room.pair(u, v)
	var product blas.Of[float32]
	if dst != nil {
		room.product.size(dst)
		product = room.product.Of
	}
	sum := d.tiled().ratioBasis(product, room.u.Of, room.v.Of, logs)
	if dst != nil {
		for r, a := range room.u.exponents {
			room.product.exponents[r] = -a
		}
		room.product.write(dst, d.exponent)
	}
	return powerOf2(d.exponent) * (sum + float64(d.exponent-b)*math.Ln2*d.sum())
}

func (d singleData) ratioCoefficients(dst, u, v *mat.Dense) {
	room := singleRooms.Get()
	defer singleRooms.Put(room)
	b := room.pair(u, v)
	room.product.size(dst)
	d.tiled().ratioCoefficients(room.product.Of, room.u.Of, room.v.Of)
	copy(room.product.exponents, room.u.exponents)
	room.product.write(dst, d.exponent-b)
}

func (d singleData) tiled() tiled[float32] { return tiled[float32]{d.single, inSingle} }

// pair reads both factors and returns the exponent of vᵀu, to which the row with the largest
// product of entries comes nearest.
func (s *singleRoom) pair(u, v *mat.Dense) int {
	s.u.measure(u)
	s.v.measure(v)
	exponent := math.MinInt
	for r, a := range s.u.exponents {
		exponent = max(exponent, a+s.v.exponents[r])
	}
	for r, a := range s.u.exponents {
		s.v.exponents[r] = exponent - a
	}
	s.u.read(u)
	s.v.read(v)
	return exponent
}

// singleFactor is a k-row matrix in single precision; row r stands for 2^exponents[r] times
// what it holds.
type singleFactor struct {
	blas.Of[float32]
	exponents []int
}

// size makes room for a matrix of a's shape.
func (s *singleFactor) size(a *mat.Dense) {
	k, n := a.Dims()
	s.Rows, s.Cols, s.Stride = k, n, n
	s.Data = slices.Grow(s.Data[:0], k*n)[:k*n]
	s.exponents = slices.Grow(s.exponents[:0], k)[:k]
}

// measure makes room for a and finds the exponents that bring the largest entry of each row near 1.
func (s *singleFactor) measure(a *mat.Dense) {
	s.size(a)
	eachRow(a, 4, func(r int, row []float64) { s.exponents[r] = exponentOf(simd.Largest(row)) })
}

// read takes over a.
func (s *singleFactor) read(a *mat.Dense) {
	eachRow(a, 4, func(r int, row []float64) {
		simd.ToSingle(s.Data[r*s.Stride:][:s.Cols], row, powerOf2(-s.exponents[r]))
	})
}

// write writes 2^by times the matrix.
func (s *singleFactor) write(dst *mat.Dense, by int) {
	eachRow(dst, 4, func(r int, row []float64) {
		simd.ToDouble(row, s.Data[r*s.Stride:][:s.Cols], powerOf2(s.exponents[r]+by))
	})
}

// exponentOf returns the exponent of the power of 2 that x is divided by to lie within ½ and
// 1, or nearly so where powers of 2 end; of 0 it is the least.
func exponentOf(x float64) int {
	_, exponent := math.Frexp(x)
	if x == 0 {
		exponent = -mostExponent
	}
	return min(max(exponent, -mostExponent), mostExponent)
}

// mostExponent bounds exponents, so that the sum of two is one of a power of 2.
const mostExponent = 500

// powerOf2 returns 2^exponent, or the nearest that the sum of two exponents can be.
func powerOf2(exponent int) float64 {
	return math.Ldexp(1, min(max(exponent, -2*mostExponent), 2*mostExponent))
}
