package factor

import (
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// sparseData is a data of which only the values other than 0 are stored. Its
// kernels want a sample's (a feature's) k numbers side by side, so they work on
// factors stood up, which costs little beside the products.
type sparseData struct{ x *sparse.CSR }

func newSparseData(x *sparse.CSR) sparseData { return sparseData{x} }

func (d sparseData) dims() (n, m int) { return d.x.Dims() }

func (d sparseData) timesBasis(dst, u *mat.Dense) {
	n, _ := d.x.Dims()
	up := stand(u)
	out := mat.NewDense(n, up.RawMatrix().Cols, nil)
	for i := range n {
		sum := out.RawRowView(i)
		cols, vals := d.x.Row(i)
		for p, j := range cols {
			axpy(vals[p], up.RawRowView(j), sum)
		}
	}
	lay(dst, out)
}

func (d sparseData) timesCoefficients(dst, v *mat.Dense) {
	n, m := d.x.Dims()
	vp := stand(v)
	out := mat.NewDense(m, vp.RawMatrix().Cols, nil)
	for i := range n {
		vi := vp.RawRowView(i)
		cols, vals := d.x.Row(i)
		for p, j := range cols {
			axpy(vals[p], vi, out.RawRowView(j))
		}
	}
	lay(dst, out)
}

func (d sparseData) ratioBasis(dst, u, v *mat.Dense) float64 {
	n, m := d.x.Dims()
	up, vp := stand(u), stand(v)
	out := mat.NewDense(m, up.RawMatrix().Cols, nil)
	var sum float64
	for i := range n {
		vi := vp.RawRowView(i)
		cols, vals := d.x.Row(i)
		for p, j := range cols {
			r := vals[p] / max(dot(vi, up.RawRowView(j)), floor)
			if vals[p] > 0 {
				sum += vals[p] * logarithm(r)
			}
			axpy(r, vi, out.RawRowView(j))
		}
	}
	lay(dst, out)
	return sum
}

func (d sparseData) ratioCoefficients(dst, u, v *mat.Dense) {
	n, _ := d.x.Dims()
	up, vp := stand(u), stand(v)
	out := mat.NewDense(n, up.RawMatrix().Cols, nil)
	for i := range n {
		vi, sum := vp.RawRowView(i), out.RawRowView(i)
		cols, vals := d.x.Row(i)
		for p, j := range cols {
			uj := up.RawRowView(j)
			axpy(vals[p]/max(dot(vi, uj), floor), uj, sum)
		}
	}
	lay(dst, out)
}

func (d sparseData) residual(u, v *mat.Dense) float64 {
	// ‖X − Y‖² = ‖Y‖² + Σ over the stored x of (x − y)² − y².
	gu, gv := selfGram(u), selfGram(v)
	sum := inner(gu, gv)
	up, vp := stand(u), stand(v)
	n, _ := d.x.Dims()
	for i := range n {
		vi := vp.RawRowView(i)
		cols, vals := d.x.Row(i)
		for p, j := range cols {
			sum += vals[p] * (vals[p] - 2*dot(vi, up.RawRowView(j)))
		}
	}
	return max(sum, 0)
}

func (d sparseData) divergence(u, v *mat.Dense) float64 {
	// All y, then for each stored x its term in place of its y.
	k, _ := u.Dims()
	su, sv := make([]float64, k), make([]float64, k)
	rowSums(su, u)
	rowSums(sv, v)
	sum := dot(su, sv)
	up, vp := stand(u), stand(v)
	n, _ := d.x.Dims()
	for i := range n {
		vi := vp.RawRowView(i)
		cols, vals := d.x.Row(i)
		for p, j := range cols {
			y := dot(vi, up.RawRowView(j))
			sum += divergenceTerm(vals[p], y) - y
		}
	}
	return max(sum, 0)
}

func (d sparseData) condense(groups int, group []int, scale []float64) data {
	n, m := d.x.Dims()
	entries := make([]sparse.Entry, 0, d.x.NNZ())
	for i := range n {
		cols, vals := d.x.Row(i)
		for p, j := range cols {
			entries = append(entries, sparse.Entry{Row: group[i], Col: j, Value: scale[i] * vals[p]})
		}
	}
	return sparseData{sparse.FromEntries(groups, m, entries)}
}

func (d sparseData) gram(dst *mat.Dense, from int) {
	r, n := dst.Dims()
	_, m := d.x.Dims()
	one := make([]float64, m)
	for a := range r {
		cols, vals := d.x.Row(from + a)
		for p, j := range cols {
			one[j] = vals[p]
		}
		out := dst.RawRowView(a)
		for b := range n {
			var sum float64
			bc, bv := d.x.Row(b)
			for p, j := range bc {
				sum += bv[p] * one[j]
			}
			out[b] = sum
		}
		for _, j := range cols {
			one[j] = 0
		}
	}
}

func (d sparseData) each(f func(i, j int, x float64)) {
	n, _ := d.x.Dims()
	for i := range n {
		cols, vals := d.x.Row(i)
		for p, j := range cols {
			f(i, j, vals[p])
		}
	}
}

// stand returns the transpose of a factor that lies down, and lay writes the
// transpose of one that stands.
func stand(lying *mat.Dense) *mat.Dense { return mat.DenseCopyOf(lying.T()) }

func lay(dst, standing *mat.Dense) { dst.Copy(standing.T()) }
