package factor

import (
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/freelist"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/simd"
)

// denseData is a data whose matrix is stored whole.
type denseData struct{ x *mat.Dense }

func (d denseData) dims() (n, m int) { return d.x.Dims() }

func (d denseData) matrix() mat.Matrix { return d.x }

func (d denseData) timesBasis(dst, u *mat.Dense) {
	gemm(dst, u, noTrans, d.x, trans)
}

func (d denseData) timesCoefficients(dst, v *mat.Dense) {
	gemm(dst, v, noTrans, d.x, noTrans)
}

// tiled returns the data for computing with vᵀu.
func (d denseData) tiled() tiled { return tiled{raw(d.x)} }

func (d denseData) ratioBasis(dst, u, v *mat.Dense, logs bool) float64 {
	return d.tiled().ratioBasis(rawOrNone(dst), raw(u), raw(v), logs)
}

func (d denseData) ratioCoefficients(dst, u, v *mat.Dense) {
	d.tiled().ratioCoefficients(raw(dst), raw(u), raw(v))
}

func (d denseData) residual(u, v *mat.Dense) float64 {
	return d.terms(u, v, func(x, y float64) float64 { return (x - y) * (x - y) })
}

func (d denseData) divergence(u, v *mat.Dense) float64 { return d.terms(u, v, divergenceTerm) }

// terms returns the sum of f over the entries of X and vᵀu.
func (d denseData) terms(u, v *mat.Dense, f func(x, y float64) float64) float64 {
	return d.tiled().walk(raw(u), raw(v), false, func(t tile, _ bool) float64 {
		return t.each(func(x, y []float64) (sum float64) {
			for j, xij := range x {
				sum += f(xij, y[j])
			}
			return sum
		})
	})
}

// divergenceTerm is x·log(x/y) − x + y in a form that keeps its digits where x
// is near y.
func divergenceTerm(x, y float64) float64 {
	y = max(y, floor)
	e := (x - y) / y
	if e <= -1 {
		return y
	}
	return max(y*((1+e)*elementary.Log1p(e)-e), 0)
}

func (d denseData) condense(groups int, group []int, scale []float64) data {
	n, m := d.x.Dims()
	out := mat.NewDense(groups, m, nil)
	for i := range n {
		axpy(scale[i], d.x.RawRowView(i), out.RawRowView(group[i]))
	}
	return denseData{out}
}

func (d denseData) rows(from, to int) *mat.Dense {
	_, m := d.x.Dims()
	return d.x.Slice(from, to, 0, m).(*mat.Dense)
}

func (d denseData) each(f func(i, j int, x float64)) {
	n, _ := d.x.Dims()
	for i := range n {
		for j, x := range d.x.RawRowView(i) {
			f(i, j, x)
		}
	}
}

// gemm writes op(a)·op(b) to dst, which shares no memory with them.
func gemm(dst, a *mat.Dense, ta blas.Transpose, b *mat.Dense, tb blas.Transpose) {
	blas.Gemm(ta, tb, 1, a.RawMatrix(), b.RawMatrix(), 0, dst.RawMatrix())
}

// keptData is dense data that is laid out once for the products with factors, in either
// order of which it holds a copy, once one is asked for.
type keptData struct {
	denseData
	basis, coefficients func() *blas.Kept[float64]
}

// mostKept is how many numbers a matrix has at most that is laid out once. Of larger ones it
// takes less to lay out a part anew, while it is in the cache, than to hold it twice.
const mostKept = 1 << 21

// kept says whether an n×m matrix is laid out once.
func kept(n, m int) bool { return n <= mostKept/m }

func newKeptData(d denseData) keptData {
	x := raw(d.x)
	return keptData{d, laidOut(x, trans), laidOut(x, noTrans)}
}

// laidOut returns what lays out op(x) when it is called first.
func laidOut[T blas.Number](x blas.Of[T], t blas.Transpose) func() *blas.Kept[T] {
	return sync.OnceValue(func() *blas.Kept[T] { return blas.Keep(t, x) })
}

func (d keptData) timesBasis(dst, u *mat.Dense) { timesKept(dst, u, d.basis()) }

func (d keptData) timesCoefficients(dst, v *mat.Dense) { timesKept(dst, v, d.coefficients()) }

// timesKept writes a·b to dst.
func timesKept(dst, a *mat.Dense, b *blas.Kept[float64]) {
	b.Multiply(noTrans, raw(a), raw(dst))
}

// The entries of vᵀu are made tile by tile, of about so many samples and features, so
// that each is still in the cache when it is used.
const (
	tileSamples  = 128
	tileFeatures = 240
)

// tiled is dense X, n×m, for computing with vᵀu tile by tile.
type tiled struct{ x blas.Of[float64] }

// tileColumns is what the features of a tile are a multiple of.
const tileColumns = 24

var tileRooms = freelist.List[*[]float64]{New: func() *[]float64 { return new([]float64) }}

// tile is a part of vᵀu: some samples × some features.
type tile struct {
	y          blas.Of[float64]
	u, v       blas.Of[float64] // the parts of the factors that it is made of
	x          blas.Of[float64]
	sample, at int // the first
}

// each calls f for one row of the tile after another, with the same of X.
func (t tile) each(f func(x, y []float64) float64) (sum float64) {
	row := func(i int) []float64 { return t.x.Data[(t.sample+i)*t.x.Stride+t.at:][:t.y.Cols] }
	for i := range t.y.Rows {
		sum += f(row(i), t.y.Data[i*t.y.Stride:][:t.y.Cols])
	}
	return sum
}

// walk calls f with the tiles of one part after another, in order within a part and
// several parts at once, and returns the sum of what it returns. The parts are of
// features or else of samples. f may overwrite the tile. u is k×m, v k×n.
func (d tiled) walk(u, v blas.Of[float64], byFeature bool, f func(t tile, first bool) float64) (sum float64) {
	samples, features := d.tiles()
	outer, within, groups := samples, features, parallel.Even(samples.Parts(), 1, 1)
	if byFeature {
		outer, within, groups = features, samples, abreast(features)
	}
	sums := make([]float64, outer.Parts())
	parallel.DoWork(d.x.Rows*d.x.Cols*u.Rows, groups.Parts(), func(group int) {
		room := tileRooms.Get()
		defer tileRooms.Put(room)
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
				t := tile{
					y: blas.Of[float64]{Rows: to - from, Cols: right - left, Stride: right - left, Data: *room},
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
func (d tiled) tiles() (samples, features parallel.Split) {
	return parallel.Even(d.x.Rows, 8, tileSamples), parallel.Even(d.x.Cols, tileColumns, tileFeatures)
}

// abreast groups parts of features. One core walks through as many neighbouring ones side by side as
// leave parts for the others: tiles beside each other have pages of X in common, and tiles below
// each other have none.
func abreast(features parallel.Split) parallel.Split {
	return parallel.Even(features.Parts(), 1, parallel.Count(features.Parts(), parallel.Cores()))
}

// ratioBasis writes v·R, k×m, unless dst is empty, and returns Σ x·log(x/y) if logs are wanted, see data.
func (d tiled) ratioBasis(dst, u, v blas.Of[float64], logs bool) (sum float64) {
	return d.walk(u, v, true, func(t tile, first bool) float64 {
		sum := t.each(func(x, y []float64) float64 { return ratios(y, x, logs) })
		if dst.Data != nil {
			add(first, noTrans, t.v, t.y, columnsOf(dst, t.at, t.at+t.y.Cols))
		}
		return sum
	})
}

// ratioCoefficients writes u·Rᵀ, k×n.
func (d tiled) ratioCoefficients(dst, u, v blas.Of[float64]) {
	d.walk(u, v, false, func(t tile, first bool) float64 {
		t.each(func(x, y []float64) float64 { return ratios(y, x, false) })
		add(first, trans, t.u, t.y, columnsOf(dst, t.sample, t.sample+t.y.Rows))
		return 0
	})
}

// ratios sets y to x/y and returns Σ x·log(x/y) if logs are wanted.
func ratios(y, x []float64, logs bool) float64 {
	if logs {
		return simd.DivideSum(y, x, floor)
	}
	simd.Divide(y, x, floor)
	return 0
}

// add adds a·op(b) to dst, or at first writes it there.
func add(first bool, tb blas.Transpose, a, b, dst blas.Of[float64]) {
	beta := 1.0
	if first {
		beta = 0
	}
	blas.Multiply(noTrans, tb, 1, a, b, beta, dst)
}

// columnsOf returns the columns of a from lo to hi.
func columnsOf(a blas.Of[float64], lo, hi int) blas.Of[float64] {
	a.Cols, a.Data = hi-lo, a.Data[lo:]
	return a
}
