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

// The entries of vᵀu are made tile by tile, of about so many samples and features, so
// that each is still in the cache when it is used.
const (
	tileSamples  = 128
	tileFeatures = 240
	tileAhead    = 2 // rows by which X is brought into the cache before it is used
)

// tiles returns how samples and features are cut into tiles.
func (d denseData) tiles() (samples, features parallel.Split) {
	n, m := d.x.Dims()
	return parallel.Even(n, 8, tileSamples), parallel.Even(m, 24, tileFeatures)
}

// tileRooms hold a tile each.
var tileRooms = freelist.List[*[]float64]{New: func() *[]float64 { return new([]float64) }}

// tile is a part of vᵀu: some samples × some features.
type tile struct {
	y          blas.Matrix
	u, v       blas.Matrix // the parts of the factors that it is made of
	x          *mat.Dense
	sample, at int // the first
}

// each calls f for one row of the tile after another, with the same of X.
func (t tile) each(f func(x, y []float64) float64) (sum float64) {
	for i := range t.y.Rows {
		if next := i + tileAhead; next < t.y.Rows {
			simd.Prefetch(t.x.RawRowView(t.sample + next)[t.at:][:t.y.Cols])
		}
		sum += f(t.x.RawRowView(t.sample + i)[t.at:][:t.y.Cols], t.y.Data[i*t.y.Stride:][:t.y.Cols])
	}
	return sum
}

// walk calls f with the tiles of one part after another, in order within a part and
// several parts at once, and returns the sum of what it returns. The parts are of
// features or else of samples. f may overwrite the tile.
func (d denseData) walk(u, v *mat.Dense, byFeature bool, f func(t tile, first bool) float64) (sum float64) {
	n, m := d.x.Dims()
	k, _ := u.Dims()
	samples, features := d.tiles()
	outer, within, groups := samples, features, parallel.Even(samples.Parts(), 1, 1)
	if byFeature {
		outer, within, groups = features, samples, abreast(features)
	}
	sums := make([]float64, outer.Parts())
	parallel.DoWork(n*m*k, groups.Parts(), func(group int) {
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
					y: blas.Matrix{Rows: to - from, Cols: right - left, Stride: right - left, Data: *room},
					u: columnsOf(u, left, right), v: columnsOf(v, from, to), x: d.x, sample: from, at: left,
				}
				blas.Gemm(trans, noTrans, 1, t.v, t.u, 0, t.y)
				sums[part] += f(t, next == 0)
			}
		}
	})
	for _, s := range sums {
		sum += s
	}
	return sum
}

// abreast groups parts of features. One core walks through as many neighbouring ones side by side as
// leave parts for the others: tiles beside each other have pages of X in common, and tiles below
// each other have none.
func abreast(features parallel.Split) parallel.Split {
	return parallel.Even(features.Parts(), 1, parallel.Count(features.Parts(), parallel.Cores()))
}

// samplesOf returns the rows of x from lo to hi.
func samplesOf(x *mat.Dense, lo, hi int) blas.Matrix {
	raw := x.RawMatrix()
	raw.Rows, raw.Data = hi-lo, raw.Data[lo*raw.Stride:]
	return raw
}

// columnsOf returns the columns of a from lo to hi.
func columnsOf(a *mat.Dense, lo, hi int) blas.Matrix {
	raw := a.RawMatrix()
	raw.Cols, raw.Data = hi-lo, raw.Data[lo:]
	return raw
}

func (d denseData) ratioBasis(dst, u, v *mat.Dense) (logs float64) {
	samples, features := d.tiles()
	r := blas.NewRatios(u.RawMatrix(), samples, features, floor, false)
	if r == nil {
		return d.walk(u, v, true, func(t tile, first bool) float64 {
			sum := t.each(func(x, y []float64) float64 { return simd.DivideSum(y, x, floor) })
			if dst != nil {
				add(first, noTrans, t.v, t.y, columnsOf(dst, t.at, t.at+t.y.Cols))
			}
			return sum
		})
	}
	defer r.Put()
	n, m := d.x.Dims()
	k, _ := u.Dims()
	sums := make([]float64, features.Parts())
	var to blas.Matrix
	if dst != nil {
		to = dst.RawMatrix()
	}
	groups := abreast(features)
	parallel.DoWork(n*m*k, groups.Parts(), func(group int) {
		first, end := groups.At(group)
		for i := range samples.Parts() {
			lo, hi := samples.At(i)
			r.AddToBasis(i == 0, columnsOf(v, lo, hi), samplesOf(d.x, lo, hi), to, first, end, sums[first:end])
		}
	})
	for _, s := range sums {
		logs += s
	}
	return logs
}

func (d denseData) ratioCoefficients(dst, u, v *mat.Dense) {
	samples, features := d.tiles()
	r := blas.NewRatios(u.RawMatrix(), samples, features, floor, true)
	if r == nil {
		d.walk(u, v, false, func(t tile, first bool) float64 {
			t.each(func(x, y []float64) float64 { simd.Divide(y, x, floor); return 0 })
			add(first, trans, t.u, t.y, columnsOf(dst, t.sample, t.sample+t.y.Rows))
			return 0
		})
		return
	}
	defer r.Put()
	n, m := d.x.Dims()
	k, _ := u.Dims()
	parallel.DoWork(n*m*k, samples.Parts(), func(i int) {
		from, to := samples.At(i)
		r.Coefficients(columnsOf(v, from, to), samplesOf(d.x, from, to), columnsOf(dst, from, to))
	})
}

// add adds a·op(b) to dst, or at first writes it there.
func add(first bool, tb blas.Transpose, a, b, dst blas.Matrix) {
	beta := 1.0
	if first {
		beta = 0
	}
	blas.Gemm(noTrans, tb, 1, a, b, beta, dst)
}

func (d denseData) residual(u, v *mat.Dense) float64 {
	return d.terms(u, v, func(x, y float64) float64 { return (x - y) * (x - y) })
}

func (d denseData) divergence(u, v *mat.Dense) float64 { return d.terms(u, v, divergenceTerm) }

// terms returns the sum of f over the entries of X and vᵀu.
func (d denseData) terms(u, v *mat.Dense, f func(x, y float64) float64) float64 {
	return d.walk(u, v, false, func(t tile, _ bool) float64 {
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
	return max(y*((1+e)*math.Log1p(e)-e), 0)
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
