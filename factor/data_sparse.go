package factor

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/simd"
	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// sparseData is a data of which only the values other than 0 are stored. Each
// value of a sample picks a feature's k numbers, which are to lie side by side,
// so the products are those of transposed factors; transposing costs little beside them.
// What goes along features is done in the same way on the transpose. The buffers
// are kept: only one goroutine may use it at a time.
type sparseData struct {
	x         *sparse.CSR
	byFeature *sparse.CSR // the transpose, from its first use on
	u, v, out byColumn
}

func newSparseData(x *sparse.CSR) *sparseData { return &sparseData{x: x} }

// transposed returns X by features, m×n.
func (d *sparseData) transposed() *sparse.CSR {
	if d.byFeature == nil {
		d.byFeature = d.x.Transpose()
	}
	return d.byFeature
}

func (d *sparseData) dims() (n, m int) { return d.x.Dims() }

func (d *sparseData) matrix() mat.Matrix { return d.x }

func (d *sparseData) timesBasis(dst, u *mat.Dense) { d.times(dst, d.x, u) }

func (d *sparseData) timesCoefficients(dst, v *mat.Dense) { d.times(dst, d.transposed(), v) }

// times writes b·xᵀ.
func (d *sparseData) times(dst *mat.Dense, x *sparse.CSR, b *mat.Dense) {
	d.v.read(b)
	n, _ := x.Dims()
	k, _ := b.Dims()
	d.out.zero(n, k)
	for i := range n {
		cols, vals := x.Row(i)
		simd.AddRows(d.out.row(i), vals, d.v.data, cols)
	}
	d.out.write(dst)
}

func (d *sparseData) ratioBasis(dst, u, v *mat.Dense) float64 {
	return d.ratios(dst, d.transposed(), u, v, simd.DivideSum)
}

func (d *sparseData) ratioCoefficients(dst, u, v *mat.Dense) {
	d.ratios(dst, d.x, v, u, func(y, x []float64, floor float64) float64 {
		simd.Divide(y, x, floor)
		return 0
	})
}

// chunk is how many values of a row the ratios take at a time, so that what
// they pick of the factor is still in the cache when it is added up.
const chunk = 128

// ratios writes b·Rᵀ, R = x/(aᵀb), and returns the sum of what divide returns.
func (d *sparseData) ratios(dst *mat.Dense, x *sparse.CSR, a, b *mat.Dense, divide func(y, x []float64, floor float64) float64) float64 {
	d.u.read(a)
	d.v.read(b)
	n, _ := x.Dims()
	k, _ := a.Dims()
	d.out.zero(n, k)
	y := make([]float64, chunk)
	var sum float64
	for i := range n {
		cols, vals := x.Row(i)
		for len(cols) > 0 {
			size := min(chunk, len(cols))
			simd.Dots(y, d.u.row(i), d.v.data, cols[:size])
			sum += divide(y[:size], vals[:size], floor)
			simd.AddRows(d.out.row(i), y, d.v.data, cols[:size])
			cols, vals = cols[size:], vals[size:]
		}
	}
	d.out.write(dst)
	return sum
}

func (d *sparseData) residual(u, v *mat.Dense) float64 {
	// ‖X − Y‖² = ‖Y‖² + Σ over the stored x of (x − y)² − y².
	sum := inner(selfGram(u), selfGram(v))
	d.products(u, v, func(x, y float64) { sum += x * (x - 2*y) })
	return max(sum, 0)
}

func (d *sparseData) divergence(u, v *mat.Dense) float64 {
	// All y, then for each stored x its term in place of its y.
	k, _ := u.Dims()
	su, sv := make([]float64, k), make([]float64, k)
	rowSums(su, u)
	rowSums(sv, v)
	sum := dot(su, sv)
	d.products(u, v, func(x, y float64) { sum += divergenceTerm(x, y) - y })
	return max(sum, 0)
}

// products calls f with each stored value and its y.
func (d *sparseData) products(u, v *mat.Dense, f func(x, y float64)) {
	d.u.read(u)
	d.v.read(v)
	n, m := d.x.Dims()
	y := make([]float64, m)
	for i := range n {
		cols, vals := d.x.Row(i)
		simd.Dots(y, d.v.row(i), d.u.data, cols)
		for p, x := range vals {
			f(x, y[p])
		}
	}
}

func (d *sparseData) condense(groups int, group []int, scale []float64) data {
	n, m := d.x.Dims()
	entries := make([]sparse.Entry, 0, d.x.NNZ())
	for i := range n {
		cols, vals := d.x.Row(i)
		for p, j := range cols {
			entries = append(entries, sparse.Entry{Row: group[i], Col: j, Value: scale[i] * vals[p]})
		}
	}
	return newSparseData(sparse.FromEntries(groups, m, entries))
}

func (d *sparseData) gram(dst *mat.Dense, from int) {
	// u·Xᵀ where u is a panel of the rows, made dense.
	r, n := dst.Dims()
	_, m := d.x.Dims()
	for at := 0; at < r; at += panel {
		size := min(panel, r-at)
		u := mat.NewDense(size, m, nil)
		for a := range size {
			row := u.RawRowView(a)
			cols, vals := d.x.Row(from + at + a)
			for p, j := range cols {
				row[j] = vals[p]
			}
		}
		d.timesBasis(dst.Slice(at, at+size, 0, n).(*mat.Dense), u)
	}
}

func (d *sparseData) each(f func(i, j int, x float64)) {
	n, _ := d.x.Dims()
	for i := range n {
		cols, vals := d.x.Row(i)
		for p, j := range cols {
			f(i, j, vals[p])
		}
	}
}

// byColumn holds a factor, k×n or k×m, column by column: the k numbers of one sample
// or feature after another, each with zeros up to the width that the kernels want.
type byColumn struct {
	width int
	data  []float64
}

func (s *byColumn) row(i int) []float64 { return s.data[i*s.width : (i+1)*s.width] }

// size makes it n×k, of any numbers.
func (s *byColumn) size(n, k int) {
	s.width = simd.Width(k)
	s.data = slices.Grow(s.data[:0], n*s.width)[:n*s.width]
}

func (s *byColumn) zero(n, k int) {
	s.size(n, k)
	clear(s.data)
}

// read reads a factor, and write writes one. Four rows of it at a time are quicker.
func (s *byColumn) read(from *mat.Dense) {
	k, n := from.Dims()
	s.size(n, k)
	r := 0
	for ; r+4 <= k; r += 4 {
		a, b := from.RawRowView(r), from.RawRowView(r+1)
		c, d := from.RawRowView(r+2), from.RawRowView(r+3)
		b, c, d = b[:len(a)], c[:len(a)], d[:len(a)]
		for i, x := range a {
			to := s.data[i*s.width+r:][:4]
			to[0], to[1], to[2], to[3] = x, b[i], c[i], d[i]
		}
	}
	for ; r < k; r++ {
		for i, x := range from.RawRowView(r) {
			s.data[i*s.width+r] = x
		}
	}
	for ; r < s.width; r++ {
		for i := range n {
			s.data[i*s.width+r] = 0
		}
	}
}

func (s *byColumn) write(dst *mat.Dense) {
	k, _ := dst.Dims()
	r := 0
	for ; r+4 <= k; r += 4 {
		a, b := dst.RawRowView(r), dst.RawRowView(r+1)
		c, d := dst.RawRowView(r+2), dst.RawRowView(r+3)
		b, c, d = b[:len(a)], c[:len(a)], d[:len(a)]
		for i := range a {
			from := s.data[i*s.width+r:][:4]
			a[i], b[i], c[i], d[i] = from[0], from[1], from[2], from[3]
		}
	}
	for ; r < k; r++ {
		row := dst.RawRowView(r)
		for i := range row {
			row[i] = s.data[i*s.width+r]
		}
	}
}

// transpose returns aᵀ.
func transpose(a *mat.Dense) *mat.Dense { return mat.DenseCopyOf(a.T()) }
