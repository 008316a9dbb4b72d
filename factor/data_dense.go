package factor

import (
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/elementary"
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
func (d denseData) tiled() tiled[float64] { return tiled[float64]{raw(d.x), inDouble} }

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
	return d.tiled().walk(raw(u), raw(v), false, func(t tile[float64], _ bool) float64 {
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
