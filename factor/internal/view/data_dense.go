package view

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/freelist"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/simd"
)

// Dense is a [Data] with a dense matrix.
type Dense struct{ X *mat.Dense }

func (d Dense) Dims() (n, m int)   { return d.X.Dims() }
func (d Dense) Matrix() mat.Matrix { return d.X }

func (d Dense) TimesBasis(dst, u *mat.Dense) {
	algebra.Gemm(dst, u, algebra.NoTrans, d.X, algebra.Trans)
}

func (d Dense) TimesCoefficients(dst, v *mat.Dense) {
	algebra.Gemm(dst, v, algebra.NoTrans, d.X, algebra.NoTrans)
}

func (d Dense) RatioBasis(dst, u, v *mat.Dense, logs bool) (sum float64) {
	return d.Walk(u, v, true, func(t Tile, first bool) float64 {
		sum := t.Each(func(x, y []float64) float64 { return ratios(y, x, logs) })
		if dst != nil {
			Add(first, algebra.NoTrans, t.V, t.Y, ColumnsOf(algebra.Raw(dst), t.At, t.At+t.Y.Cols))
		}
		return sum
	})
}

func (d Dense) RatioCoefficients(dst, u, v *mat.Dense) {
	d.Walk(u, v, false, func(t Tile, first bool) float64 {
		t.Each(func(x, y []float64) float64 { return ratios(y, x, false) })
		Add(first, algebra.Trans, t.U, t.Y, ColumnsOf(algebra.Raw(dst), t.Sample, t.Sample+t.Y.Rows))
		return 0
	})
}

// ratios sets y to x/y. It returns Σ x·log(x/y) if logs is set, else 0.
func ratios(y, x []float64, logs bool) float64 {
	if logs {
		return simd.DivideSum(y, x, algebra.Floor)
	}
	simd.Divide(y, x, algebra.Floor)
	return 0
}

func (d Dense) Residual(u, v *mat.Dense) float64 {
	return d.Value(u, v, nil, func(x, y float64) float64 { return (x - y) * (x - y) })
}

func (d Dense) Divergence(u, v *mat.Dense) float64 { return d.Value(u, v, nil, DivergenceTerm) }

// Value returns Σ w·f(x, y) over the entries x of X and y of vᵀu. weights may be nil, for 1.
func (d Dense) Value(u, v, weights *mat.Dense, f func(x, y float64) float64) float64 {
	return d.Walk(u, v, false, func(t Tile, _ bool) float64 {
		i := t.Sample
		return t.Each(func(x, y []float64) (sum float64) {
			for j, xij := range x {
				if weights == nil {
					sum += f(xij, y[j])
				} else if w := weights.At(i, t.At+j); w > 0 {
					sum += w * f(xij, y[j])
				}
			}
			i++
			return sum
		})
	})
}

// DivergenceTerm returns x·log(x/y) − x + y, accurate also for x near y.
func DivergenceTerm(x, y float64) float64 {
	y = max(y, algebra.Floor)
	e := (x - y) / y
	if e <= -1 {
		return y
	}
	return max(y*((1+e)*elementary.Log1p(e)-e), 0)
}

func (d Dense) Condense(groups int, group []int, scale []float64) Data {
	n, m := d.X.Dims()
	out := mat.NewDense(groups, m, nil)
	for i := range n {
		algebra.Axpy(scale[i], d.X.RawRowView(i), out.RawRowView(group[i]))
	}
	return Dense{out}
}

func (d Dense) Rows(from, to int) *mat.Dense {
	_, m := d.X.Dims()
	return d.X.Slice(from, to, 0, m).(*mat.Dense)
}

func (d Dense) Each(f func(i, j int, x float64)) { matrix.EachValue(d.X, matrix.AllRows(d.X), f) }

// vᵀu is computed in tiles of about tileSamples × tileFeatures entries, which fit into the cache. The features of a
// tile are a multiple of tileColumns.
const (
	tileSamples  = 128
	tileFeatures = 240
	tileColumns  = 24
)

var tileBuffers = freelist.List[*[]float64]{New: func() *[]float64 { return new([]float64) }}

// Tile is a block of vᵀu.
type Tile struct {
	Y          blas.Of[float64]
	U, V       blas.Of[float64] // the columns of the factors that give Y
	x          blas.Of[float64] // X, whole
	Sample, At int              // the first sample and feature
}

// Each calls f for each row of the tile, y, with the same entries of X, and returns the sum of f.
func (t Tile) Each(f func(x, y []float64) float64) (sum float64) {
	for i := range t.Y.Rows {
		x := t.x.Data[(t.Sample+i)*t.x.Stride+t.At:][:t.Y.Cols]
		sum += f(x, t.Y.Data[i*t.Y.Stride:][:t.Y.Cols])
	}
	return sum
}

// Walk calls f with all tiles and returns the sum of f. Parts of the features, or else of the samples, run
// concurrently; within a part tiles come in order, and first marks the first one.
func (d Dense) Walk(u, v *mat.Dense, byFeature bool, f func(t Tile, first bool) float64) (sum float64) {
	x, wholeU, wholeV := algebra.Raw(d.X), algebra.Raw(u), algebra.Raw(v)
	samples, features := parallel.Even(x.Rows, 8, tileSamples), parallel.Even(x.Cols, tileColumns, tileFeatures)
	outer, within := samples, features
	if byFeature {
		outer, within = features, samples
	}
	sums := make([]float64, outer.Parts())
	parallel.DoWork(x.Rows*x.Cols*wholeU.Rows, outer.Parts(), func(part int) {
		room := tileBuffers.Get()
		defer tileBuffers.Put(room)
		for next := range within.Parts() {
			i, j := part, next
			if byFeature {
				i, j = next, part
			}
			from, to := samples.At(i)
			left, right := features.At(j)
			size := (to - from) * (right - left)
			*room = slices.Grow((*room)[:0], size)[:size]
			t := Tile{
				Y: blas.Of[float64]{Rows: to - from, Cols: right - left, Stride: right - left, Data: *room},
				U: ColumnsOf(wholeU, left, right), V: ColumnsOf(wholeV, from, to), x: x, Sample: from, At: left,
			}
			blas.Multiply(algebra.Trans, algebra.NoTrans, 1, t.V, t.U, 0, t.Y)
			sums[part] += f(t, next == 0)
		}
	})
	return elementary.Sum(sums)
}

// Add adds a·op(b) to dst, or overwrites dst if first is set.
func Add(first bool, tb blas.Transpose, a, b, dst blas.Of[float64]) {
	beta := 1.0
	if first {
		beta = 0
	}
	blas.Multiply(algebra.NoTrans, tb, 1, a, b, beta, dst)
}

// ColumnsOf returns columns lo to hi−1 of a.
func ColumnsOf(a blas.Of[float64], lo, hi int) blas.Of[float64] {
	a.Cols, a.Data = hi-lo, a.Data[lo:]
	return a
}
