package factor

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/simd"
)

// denseData is a data whose matrix is stored whole.
type denseData struct{ x *mat.Dense }

// panel is how many samples the divergence takes at a time, so that their part
// of vᵀu stays in the cache.
const panel = 32

func (d denseData) dims() (n, m int) { return d.x.Dims() }

func (d denseData) matrix() mat.Matrix { return d.x }

func (d denseData) timesBasis(dst, u *mat.Dense) {
	gemm(dst, u, noTrans, d.x, trans)
}

func (d denseData) timesCoefficients(dst, v *mat.Dense) {
	gemm(dst, v, noTrans, d.x, noTrans)
}

// products calls f for one panel of samples after another with y = vᵀu of
// the panel (samples × m), which f may overwrite, the panel's part of v and its
// rows of X.
func (d denseData) products(u, v *mat.Dense, f func(from int, vPanel, y blas.Matrix, x [][]float64)) {
	n, m := d.x.Dims()
	k, _ := v.Dims()
	buf := make([]float64, min(panel, n)*m)
	rows := make([][]float64, panel)
	rawV := v.RawMatrix()
	for from := 0; from < n; from += panel {
		size := min(panel, n-from)
		y := blas.Matrix{Rows: size, Cols: m, Stride: m, Data: buf[:size*m]}
		vp := blas.Matrix{Rows: k, Cols: size, Stride: rawV.Stride, Data: rawV.Data[from:]}
		blas.Gemm(trans, noTrans, 1, vp, u.RawMatrix(), 0, y)
		for i := range size {
			rows[i] = d.x.RawRowView(from + i)
		}
		f(from, vp, y, rows[:size])
	}
}

func (d denseData) ratioBasis(dst, u, v *mat.Dense) float64 {
	var sum float64
	dst.Zero()
	d.products(u, v, func(_ int, vp, y blas.Matrix, x [][]float64) {
		for i, row := range x {
			yr := y.Data[i*y.Stride : i*y.Stride+len(row)]
			sum += simd.DivideSum(yr, row, floor)
		}
		blas.Gemm(noTrans, noTrans, 1, vp, y, 1, dst.RawMatrix())
	})
	return sum
}

func (d denseData) ratioCoefficients(dst, u, v *mat.Dense) {
	raw := dst.RawMatrix()
	d.products(u, v, func(from int, _, y blas.Matrix, x [][]float64) {
		for i, row := range x {
			yr := y.Data[i*y.Stride : i*y.Stride+len(row)]
			simd.Divide(yr, row, floor)
		}
		part := blas.Matrix{Rows: raw.Rows, Cols: y.Rows, Stride: raw.Stride, Data: raw.Data[from:]}
		blas.Gemm(noTrans, trans, 1, u.RawMatrix(), y, 0, part)
	})
}

func (d denseData) residual(u, v *mat.Dense) float64 {
	var sum float64
	d.products(u, v, func(_ int, _, y blas.Matrix, x [][]float64) {
		for i, row := range x {
			yr := y.Data[i*y.Stride : i*y.Stride+len(row)]
			for j, xij := range row {
				e := xij - yr[j]
				sum += e * e
			}
		}
	})
	return sum
}

func (d denseData) divergence(u, v *mat.Dense) float64 {
	var sum float64
	d.products(u, v, func(_ int, _, y blas.Matrix, x [][]float64) {
		for i, row := range x {
			yr := y.Data[i*y.Stride : i*y.Stride+len(row)]
			for j, xij := range row {
				sum += divergenceTerm(xij, yr[j])
			}
		}
	})
	return sum
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

func (d denseData) gram(dst *mat.Dense, from int) {
	r, _ := dst.Dims()
	_, m := d.x.Dims()
	gemm(dst, d.x.Slice(from, from+r, 0, m).(*mat.Dense), noTrans, d.x, trans)
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
