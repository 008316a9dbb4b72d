package factor

import (
	"slices"

	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/freelist"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/simd"
)

// The entries of vᵀu are made tile by tile, of about so many samples and features, so
// that each is still in the cache when it is used.
const (
	tileSamples  = 128
	tileFeatures = 240
)

// tiled is X, n×m, with what is computed of it and vᵀu in one precision.
type tiled[T blas.Number] struct {
	x blas.Of[T]
	arithmetic[T]
}

// arithmetic is what the divergence takes of one precision, see internal/simd.
type arithmetic[T blas.Number] struct {
	floor     T   // the least y in a ratio x/y
	columns   int // of a tile of a product
	divide    func(y, x []T, floor T)
	divideSum func(y, x []T, floor T) float64
	rooms     *freelist.List[*[]T] // which hold a tile each
}

var (
	inDouble = arithmetic[float64]{floor, 24, simd.Divide, simd.DivideSum, rooms[float64]()}
	inSingle = arithmetic[float32]{floorSingle, 48, simd.Divide32, simd.DivideSum32, rooms[float32]()}
)

// divideAlone is divide with the sum of no logarithms.
func (a arithmetic[T]) divideAlone(y, x []T, floor T) float64 {
	a.divide(y, x, floor)
	return 0
}

// floorSingle is so much that the ratios of as many samples as there can be add up to a number.
const floorSingle = 0x1p-90

func rooms[T blas.Number]() *freelist.List[*[]T] {
	return &freelist.List[*[]T]{New: func() *[]T { return new([]T) }}
}

// tile is a part of vᵀu: some samples × some features.
type tile[T blas.Number] struct {
	y          blas.Of[T]
	u, v       blas.Of[T] // the parts of the factors that it is made of
	x          blas.Of[T]
	sample, at int // the first
}

// each calls f for one row of the tile after another, with the same of X.
func (t tile[T]) each(f func(x, y []T) float64) (sum float64) {
	row := func(i int) []T { return t.x.Data[(t.sample+i)*t.x.Stride+t.at:][:t.y.Cols] }
	for i := range t.y.Rows {
		sum += f(row(i), t.y.Data[i*t.y.Stride:][:t.y.Cols])
	}
	return sum
}

// walk calls f with the tiles of one part after another, in order within a part and
// several parts at once, and returns the sum of what it returns. The parts are of
// features or else of samples. f may overwrite the tile. u is k×m, v k×n.
func (d tiled[T]) walk(u, v blas.Of[T], byFeature bool, f func(t tile[T], first bool) float64) (sum float64) {
	samples, features := d.tiles()
	outer, within, groups := samples, features, parallel.Even(samples.Parts(), 1, 1)
	if byFeature {
		outer, within, groups = features, samples, abreast(features)
	}
	sums := make([]float64, outer.Parts())
	parallel.DoWork(d.x.Rows*d.x.Cols*u.Rows, groups.Parts(), func(group int) {
		room := d.rooms.Get()
		defer d.rooms.Put(room)
		first, end := groups.At(group)
		for next := range within.Parts() {
			for part := first; part < end; part++ {
				i, j := part, next
				if byFeature {
					i, j = next, part
				}
				from, to := samples.At(i)
				left, right := features.At(j)
				size := (to - from) * (right - left)
				*room = slices.Grow((*room)[:0], size)[:size]
				t := tile[T]{
					y: blas.Of[T]{Rows: to - from, Cols: right - left, Stride: right - left, Data: *room},
					u: columnsOf(u, left, right), v: columnsOf(v, from, to), x: d.x, sample: from, at: left,
				}
				blas.Multiply(trans, noTrans, 1, t.v, t.u, 0, t.y)
				sums[part] += f(t, next == 0)
			}
		}
	})
	for _, s := range sums {
		sum += s
	}
	return sum
}

// tiles returns how samples and features are cut into tiles.
func (d tiled[T]) tiles() (samples, features parallel.Split) {
	return parallel.Even(d.x.Rows, 8, tileSamples), parallel.Even(d.x.Cols, d.columns, tileFeatures)
}

// abreast groups parts of features. One core walks through as many neighbouring ones side by side as
// leave parts for the others: tiles beside each other have pages of X in common, and tiles below
// each other have none.
func abreast(features parallel.Split) parallel.Split {
	return parallel.Even(features.Parts(), 1, parallel.Count(features.Parts(), parallel.Cores()))
}

// ratioBasis writes v·R, k×m, unless dst is empty, and returns Σ x·log(x/y) if logs are wanted, see data.
func (d tiled[T]) ratioBasis(dst, u, v blas.Of[T], logs bool) (sum float64) {
	divide := d.divideSum
	if !logs {
		divide = d.divideAlone
	}
	return d.walk(u, v, true, func(t tile[T], first bool) float64 {
		sum := t.each(func(x, y []T) float64 { return divide(y, x, d.floor) })
		if dst.Data != nil {
			add(first, noTrans, t.v, t.y, columnsOf(dst, t.at, t.at+t.y.Cols))
		}
		return sum
	})
}

// ratioCoefficients writes u·Rᵀ, k×n.
func (d tiled[T]) ratioCoefficients(dst, u, v blas.Of[T]) {
	d.walk(u, v, false, func(t tile[T], first bool) float64 {
		t.each(func(x, y []T) float64 { return d.divideAlone(y, x, d.floor) })
		add(first, trans, t.u, t.y, columnsOf(dst, t.sample, t.sample+t.y.Rows))
		return 0
	})
}

// add adds a·op(b) to dst, or at first writes it there.
func add[T blas.Number](first bool, tb blas.Transpose, a, b, dst blas.Of[T]) {
	var beta T = 1
	if first {
		beta = 0
	}
	blas.Multiply(noTrans, tb, 1, a, b, beta, dst)
}

// columnsOf returns the columns of a from lo to hi.
func columnsOf[T blas.Number](a blas.Of[T], lo, hi int) blas.Of[T] {
	a.Cols, a.Data = hi-lo, a.Data[lo:]
	return a
}
