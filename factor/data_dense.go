package factor

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
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
	algebra.Gemm(dst, u, algebra.NoTrans, d.x, algebra.Trans)
}

func (d denseData) timesCoefficients(dst, v *mat.Dense) {
	algebra.Gemm(dst, v, algebra.NoTrans, d.x, algebra.NoTrans)
}

func (d denseData) ratioBasis(dst, u, v *mat.Dense, logs bool) (sum float64) {
	return d.walk(u, v, true, func(t tile, first bool) float64 {
		sum := t.each(func(x, y []float64) float64 { return ratios(y, x, logs) })
		if dst != nil {
			add(first, algebra.NoTrans, t.v, t.y, columnsOf(algebra.Raw(dst), t.at, t.at+t.y.Cols))
		}
		return sum
	})
}

func (d denseData) ratioCoefficients(dst, u, v *mat.Dense) {
	d.walk(u, v, false, func(t tile, first bool) float64 {
		t.each(func(x, y []float64) float64 { return ratios(y, x, false) })
		add(first, algebra.Trans, t.u, t.y, columnsOf(algebra.Raw(dst), t.sample, t.sample+t.y.Rows))
		return 0
	})
}

// ratios sets y to x/y and returns Σ x·log(x/y) if logs are wanted.
func ratios(y, x []float64, logs bool) float64 {
	if logs {
		return simd.DivideSum(y, x, algebra.Floor)
	}
	simd.Divide(y, x, algebra.Floor)
	return 0
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

// divergenceTerm is x·log(x/y) − x + y in a form that keeps its digits where x is near y.
func divergenceTerm(x, y float64) float64 {
	y = max(y, algebra.Floor)
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
		algebra.Axpy(scale[i], d.x.RawRowView(i), out.RawRowView(group[i]))
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

// The entries of vᵀu are computed in tiles of about this many samples and features, which
// stay in the cache. The features of a tile are a multiple of tileColumns.
const (
	tileSamples  = 128
	tileFeatures = 240
	tileColumns  = 24
)

var tileRooms = freelist.List[*[]float64]{New: func() *[]float64 { return new([]float64) }}

// tile is vᵀu for some samples × some features.
type tile struct {
	y          blas.Of[float64]
	u, v       blas.Of[float64] // the parts of the factors
	x          blas.Of[float64] // X, whole
	sample, at int              // the first sample and feature
}

// each calls f for one row of the tile after another, with the same of X.
func (t tile) each(f func(x, y []float64) float64) (sum float64) {
	for i := range t.y.Rows {
		x := t.x.Data[(t.sample+i)*t.x.Stride+t.at:][:t.y.Cols]
		sum += f(x, t.y.Data[i*t.y.Stride:][:t.y.Cols])
	}
	return sum
}

// walk calls f with the tiles of one part of the features, or else of the samples, after
// another: in order within a part, several parts at once. It returns the sum of what f returns.
func (d denseData) walk(u, v *mat.Dense, byFeature bool, f func(t tile, first bool) float64) (sum float64) {
	x, wholeU, wholeV := algebra.Raw(d.x), algebra.Raw(u), algebra.Raw(v)
	samples, features := parallel.Even(x.Rows, 8, tileSamples), parallel.Even(x.Cols, tileColumns, tileFeatures)
	outer, within := samples, features
	if byFeature {
		outer, within = features, samples
	}
	sums := make([]float64, outer.Parts())
	parallel.DoWork(x.Rows*x.Cols*wholeU.Rows, outer.Parts(), func(part int) {
		room := tileRooms.Get()
		defer tileRooms.Put(room)
		for next := range within.Parts() {
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
				u: columnsOf(wholeU, left, right), v: columnsOf(wholeV, from, to), x: x, sample: from, at: left,
			}
			blas.Multiply(algebra.Trans, algebra.NoTrans, 1, t.v, t.u, 0, t.y)
			sums[part] += f(t, next == 0)
		}
	})
	return elementary.Sum(sums)
}

// add adds a·op(b) to dst, or at first writes it there.
func add(first bool, tb blas.Transpose, a, b, dst blas.Of[float64]) {
	beta := 1.0
	if first {
		beta = 0
	}
	blas.Multiply(algebra.NoTrans, tb, 1, a, b, beta, dst)
}

// columnsOf returns the columns of a from lo to hi.
func columnsOf(a blas.Of[float64], lo, hi int) blas.Of[float64] {
	a.Cols, a.Data = hi-lo, a.Data[lo:]
	return a
}
