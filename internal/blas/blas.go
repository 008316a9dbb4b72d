// Package blas implements matrix products, triangular solves and the Cholesky factorisation. Results are
// bit-identical for any number of cores and on every processor: each entry of a product is summed in a fixed order,
// in blocks of 256 terms, with fused multiply-adds.
package blas

import (
	"context"
	"math"

	"github.com/seed4492f2cd/partwise/internal/freelist"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/simd"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// Matrix is a row-major matrix, as returned by mat.Dense.RawMatrix.
type Matrix = blas64.General

// Transpose selects a matrix or its transpose.
type Transpose = blas.Transpose

// Values of Transpose.
const (
	NoTrans = blas.NoTrans
	Trans   = blas.Trans
)

// Number is the element type of matrices.
type Number = simd.Number

// Of is a row-major matrix in single or double precision. A Matrix converts to Of[float64].
type Of[T Number] struct {
	Rows, Cols int
	Data       []T
	Stride     int
}

// Multiply computes c = alpha·op(a)·op(b) + beta·c, in parallel if it is large. c must not overlap a or b.
func Multiply[T Number](tA, tB Transpose, alpha T, a, b Of[T], beta T, c Of[T]) {
	multiply(parallel.Few, operand[T]{tA, a}, operand[T]{tB, b}, alpha, beta, c)
}

// MultiplyAlone is Multiply on one core, for callers that split the work themselves.
func MultiplyAlone[T Number](tA, tB Transpose, alpha T, a, b Of[T], beta T, c Of[T]) {
	multiply(math.MaxInt, operand[T]{tA, a}, operand[T]{tB, b}, alpha, beta, c)
}

// Gemm is Multiply in double precision.
func Gemm(tA, tB Transpose, alpha float64, a, b Matrix, beta float64, c Matrix) {
	Multiply(tA, tB, alpha, Of[float64](a), Of[float64](b), beta, Of[float64](c))
}

// operand is a factor of a product, possibly transposed.
type operand[T Number] struct {
	t Transpose
	x Of[T]
}

// rows returns the operand's rows lo to hi−1.
func (o operand[T]) rows(lo, hi int) operand[T] {
	if o.t == NoTrans {
		o.x.Data, o.x.Rows = o.x.Data[min(lo*o.x.Stride, len(o.x.Data)):], hi-lo
	} else {
		o.x.Data, o.x.Cols = o.x.Data[min(lo, len(o.x.Data)):], hi-lo
	}
	return o
}

func (o operand[T]) columns(lo, hi int) operand[T] { return o.transposed().rows(lo, hi).transposed() }

func (o operand[T]) transposed() operand[T] {
	if o.t == NoTrans {
		o.t = Trans
	} else {
		o.t = NoTrans
	}
	return o
}

func (o operand[T]) depth() int {
	if o.t == NoTrans {
		return o.x.Cols
	}
	return o.x.Rows
}

// A product of parallel.Few multiplications or more is split into parts of at least partMultiplications, independent of
// the number of cores: ranges of columns of c, or of rows if it is taller than wide. For a small c and long factors the
// parts are ranges of the depth, whose results are added in order.
const (
	partMultiplications   = 1 << 18
	mostParts             = 32
	leastRows, rowUnit    = 64, 8
	leastColumns          = 192
	leastDepth, depthUnit = 1024, packDepth
	small                 = 1 << 16
)

// ColumnUnit is a number of columns that is a multiple of the tile width in both precisions.
const ColumnUnit = simd.MostTileColumns

// multiply computes c = alpha·a·b + beta·c, on one core if it takes fewer than few multiplications.
func multiply[T Number](few int, a, b operand[T], alpha, beta T, c Of[T]) {
	m, n, k := c.Rows, c.Cols, a.depth()
	if m*n*k < few {
		gemm(a, b, alpha, beta, c)
		return
	}
	parts := min(m*n*k/partMultiplications, mostParts)
	switch {
	case m*n <= small && k >= 2*leastDepth:
		split := parallel.Even(k, depthUnit, max(k/parts, leastDepth))
		sums := make([]T, split.Parts()*m*n)
		parallel.Do(split.Parts(), func(i int) {
			lo, hi := split.At(i)
			gemm(a.columns(lo, hi), b.rows(lo, hi), alpha, 0, Of[T]{Rows: m, Cols: n, Stride: n, Data: sums[i*m*n:]})
		})
		for r := range m {
			row := c.Data[r*c.Stride:][:n]
			scale(row, beta)
			for i := range split.Parts() {
				for j, x := range sums[(i*m+r)*n:][:n] {
					row[j] += x
				}
			}
		}
	case n >= m:
		split := parallel.Even(n, ColumnUnit, max(n/parts, leastColumns))
		parallel.Do(split.Parts(), func(i int) {
			lo, hi := split.At(i)
			gemm(a, b.columns(lo, hi), alpha, beta, operand[T]{NoTrans, c}.columns(lo, hi).x)
		})
	default:
		split := parallel.Even(m, rowUnit, max(m/parts, leastRows))
		parallel.Do(split.Parts(), func(i int) {
			lo, hi := split.At(i)
			gemm(a.rows(lo, hi), b, alpha, beta, operand[T]{NoTrans, c}.rows(lo, hi).x)
		})
	}
}

// Sizes of packed blocks: packRows×packDepth of a, and packDepth×packColumns of b, a multiple of the tile width.
const (
	packRows    = 128
	packColumns = 5 * ColumnUnit
	packDepth   = 256
)

// panels are packed blocks of both factors in the layout of simd.Tile, which fit the caches (Goto and van de Geijn 2008).
type panels[T Number] struct {
	a [packRows * packDepth]T
	b [packColumns * packDepth]T
	c [packRows * fewRows]T // a block of cᵀ
}

var (
	doubles = freelist.List[*panels[float64]]{New: func() *panels[float64] { return new(panels[float64]) }}
	singles = freelist.List[*panels[float32]]{New: func() *panels[float32] { return new(panels[float32]) }}
)

func panelsOf[T Number]() *freelist.List[*panels[T]] {
	if list, ok := any(&doubles).(*freelist.List[*panels[T]]); ok {
		return list
	}
	return any(&singles).(*freelist.List[*panels[T]])
}

// gemm computes c = alpha·a·b + beta·c on one core.
func gemm[T Number](a, b operand[T], alpha, beta T, c Of[T]) {
	m, n, k := c.Rows, c.Cols, a.depth()
	if m == 0 || n == 0 {
		return
	}
	if k == 0 || alpha == 0 || beta != 0 && beta != 1 {
		for i := range m {
			scale(c.Data[i*c.Stride:][:n], beta)
		}
		if k == 0 || alpha == 0 {
			return
		}
	}
	list := panelsOf[T]()
	p := list.Get()
	defer list.Put(p)
	if m <= fewRows && n > fewRows && b.t != NoTrans && alpha == 1 {
		p.multiplyTransposed(a, b, beta, c)
		return
	}
	tile := simd.TileColumns[T]()
	for j := 0; j < n; j += packColumns {
		columns := min(packColumns, n-j)
		for d := 0; d < k; d += packDepth {
			depth := min(packDepth, k-d)
			var inPlace Of[T] // columns of b that are not packed
			if b.t == NoTrans && m <= fewRows {
				inPlace = b.rows(d, d+depth).columns(j, j+columns/tile*tile).x
			}
			whole := inPlace.Cols
			b.transposed().pack(p.b[whole*depth:], j+whole, columns-whole, d, depth, tile)
			part := c
			part.Cols, part.Data = columns, c.Data[j:]
			p.multiplyAdd(beta != 0 || d > 0, a, alpha, d, depth, inPlace, part)
		}
	}
}

// fewRows is the largest number of rows of c for which packing b would take as long as the product.
const fewRows = 48

// multiplyTransposed computes c = a·b + beta·c, with beta 0 or 1, as blocks of cᵀ = bᵀ·aᵀ + beta·cᵀ.
func (p *panels[T]) multiplyTransposed(a, b operand[T], beta T, c Of[T]) {
	for lo := 0; lo < c.Cols; lo += packRows {
		columns := min(packRows, c.Cols-lo)
		t := Of[T]{Rows: columns, Cols: c.Rows, Stride: c.Rows, Data: p.c[:]}
		for r := range c.Rows {
			for j, x := range c.Data[r*c.Stride+lo:][:columns] {
				t.Data[j*t.Stride+r] = x
			}
		}
		gemm(b.columns(lo, lo+columns).transposed(), a.transposed(), 1, beta, t)
		for r := range c.Rows {
			to := c.Data[r*c.Stride+lo:][:columns]
			for j := range to {
				to[j] = t.Data[j*t.Stride+r]
			}
		}
	}
}

// multiplyAdd computes c = alpha·a·b, plus c if add is set, for the columns deep, …, deep+depth−1 of a, the first columns of
// b in place, and the others packed. For few columns of c the rows of a are not packed.
func (p *panels[T]) multiplyAdd(add bool, a operand[T], alpha T, deep, depth int, inPlace, c Of[T]) {
	tile, group := simd.TileColumns[T](), simd.TileRows()
	asItLies := a.t == NoTrans && alpha == 1 && c.Cols <= fewRows
	for i := 0; i < c.Rows; i += packRows {
		rows := min(packRows, c.Rows-i)
		left, across, row, down := p.a[:], depth, 1, group // across: distance between rows of groups; down: between columns
		if asItLies {
			left, across, row, down = a.x.Data[i*a.x.Stride+deep:], a.x.Stride, a.x.Stride, 1
		} else {
			a.pack(left, i, rows, deep, depth, group)
			scale(left[:(rows+group-1)/group*group*depth], alpha)
		}
		for at := 0; at < c.Cols; at += tile {
			right, stride := p.b[at*depth:], tile
			if at < inPlace.Cols {
				right, stride = inPlace.Data[at:], inPlace.Stride
			}
			for r := 0; r < rows; r += group {
				simd.Tile(add, c.Data[(i+r)*c.Stride+at:], c.Stride, left[r*across:], row, down, right, stride, depth, min(group, rows-r), min(tile, c.Cols-at))
			}
		}
	}
}

// scale multiplies x by s. For s = 0 the result is 0, even for NaN.
func scale[T Number](x []T, s T) {
	switch s {
	case 0:
		clear(x)
	case 1:
	default:
		for i := range x {
			x[i] *= s
		}
	}
}

// pack copies the rows from, …, from+count−1 of the operand to tiles: for each tile its rows' entries at depth deep, then
// at deep+1, and so on. Entries of a tile beyond the last row are undefined and unused.
func (o operand[T]) pack(to []T, from, count, deep, depth, tile int) {
	x, stride := o.x.Data, o.x.Stride
	step := packDeep
	if o.t != NoTrans {
		step = packAcross
	}
	for d := 0; d < depth; d += step {
		deepest := min(step, depth-d)
		for at := 0; at < count; at += tile {
			out, rows := to[at*depth+d*tile:], min(tile, count-at)
			if o.t == NoTrans {
				packRowsOf(out, x[(from+at)*stride+deep+d:], stride, rows, deepest, tile)
				continue
			}
			for r := range deepest {
				copy(out[r*tile:][:rows], x[(deep+d+r)*stride+from+at:])
			}
		}
	}
}

// packDeep is the depth that is packed at a time, so that a tile's rows stay in the L1 cache. packAcross is the number of
// rows of a transposed operand that are read in parallel.
const packDeep, packAcross = 64, 16

// packRowsOf is pack for an operand that is not transposed, four rows at a time.
func packRowsOf[T Number](out, x []T, stride, rows, depth, tile int) {
	r := 0
	for ; r+4 <= rows; r += 4 {
		x0, x1, x2, x3 := x[r*stride:][:depth], x[(r+1)*stride:][:depth], x[(r+2)*stride:][:depth], x[(r+3)*stride:][:depth]
		for d, v := range x0 {
			to := (*[4]T)(out[d*tile+r:])
			to[0], to[1], to[2], to[3] = v, x1[d], x2[d], x3[d]
		}
	}
	for ; r < rows; r++ {
		for d, v := range x[r*stride:][:depth] {
			out[d*tile+r] = v
		}
	}
}

// MultiplyUpper computes the upper triangle of c = alpha·op(a)·op(b) + beta·c, in parallel, in whole blocks of 192 rows
// and columns. Other entries below the diagonal are undefined. It returns the error of ctx soon after ctx ends. c must
// not overlap a or b.
func MultiplyUpper(ctx context.Context, tA, tB Transpose, alpha float64, a, b Matrix, beta float64, c Matrix) error {
	const width = 192 // columns at a time
	parallel.Do(parallel.Count(c.Cols, width), func(i int) {
		if ctx.Err() != nil {
			return
		}
		lo, hi := i*width, min((i+1)*width, c.Cols)
		left, right := operand[float64]{tA, Of[float64](a)}, operand[float64]{tB, Of[float64](b)}
		gemm(left.rows(0, hi), right.columns(lo, hi), alpha, beta, operand[float64]{NoTrans, Of[float64](c)}.rows(0, hi).columns(lo, hi).x)
	})
	return ctx.Err()
}

// Mirror copies the upper triangle of a, n×n, to the lower triangle.
func Mirror(a Matrix) {
	for i := range a.Rows {
		for j := range i {
			a.Data[i*a.Stride+j] = a.Data[j*a.Stride+i]
		}
	}
}
