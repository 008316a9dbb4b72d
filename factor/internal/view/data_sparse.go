package view

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/simd"
	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// Sparse is a data of stored values. A value of a sample selects a feature's k numbers, which lie side by side in
// transposed factors; products along features are those of the transpose. Its buffers are for one caller at a time.
type Sparse struct {
	X         *sparse.CSR
	Samples   *inParts
	features  *inParts // the transpose, once it is needed
	u, v, out byColumn
}

func NewSparse(x *sparse.CSR) *Sparse { return &Sparse{X: x, Samples: newInParts(x)} }

// ByFeature returns X by features, m×n.
func (d *Sparse) ByFeature() *inParts {
	if d.features == nil {
		d.features = newInParts(d.X.Transpose())
	}
	return d.features
}

// inParts is a sparse matrix whose rows are divided into parts of about the same number of values.
type inParts struct {
	*sparse.CSR
	starts []int // the first row of each part, and the number of rows
}

func newInParts(x *sparse.CSR) *inParts {
	const mostParts, leastValues = 64, 1 << 13
	p := &inParts{x, []int{0}}
	n, _ := x.Dims()
	size := max(x.NNZ()/mostParts, leastValues)
	values := 0
	for i := range n {
		cols, _ := x.Row(i)
		if values += len(cols) + 1; values >= size || i == n-1 { // a row without values is some work too
			p.starts, values = append(p.starts, i+1), 0
		}
	}
	return p
}

// Each calls f with a row's number and a chunk of its columns and values, and space for as many numbers; a value
// takes k multiplications. Parts run at once. It returns the sum of f.
func (p *inParts) Each(k int, f func(i int, cols []int, vals, y []float64) float64) float64 {
	sums := make([]float64, len(p.starts)-1)
	parallel.DoWork(p.NNZ()*k, len(sums), func(part int) {
		y := make([]float64, chunk)
		for i := p.starts[part]; i < p.starts[part+1]; i++ {
			cols, vals := p.Row(i)
			for len(cols) > 0 {
				size := min(chunk, len(cols))
				sums[part] += f(i, cols[:size], vals[:size], y[:size])
				cols, vals = cols[size:], vals[size:]
			}
		}
	})
	return elementary.Sum(sums)
}

// chunk is how many values of a row are used at a time: the rows of a factor that they select stay in the cache.
const chunk = 128

func (d *Sparse) Dims() (n, m int)                    { return d.X.Dims() }
func (d *Sparse) Matrix() mat.Matrix                  { return d.X }
func (d *Sparse) TimesBasis(dst, u *mat.Dense)        { d.times(dst, d.Samples, u) }
func (d *Sparse) TimesCoefficients(dst, v *mat.Dense) { d.times(dst, d.ByFeature(), v) }

func (d *Sparse) times(dst *mat.Dense, x *inParts, b *mat.Dense) {
	d.v.read(b)
	n, _ := x.Dims()
	k, _ := b.Dims()
	d.out.zero(n, k)
	x.Each(k, func(i int, cols []int, vals, _ []float64) float64 {
		simd.AddRows(d.out.row(i), vals, d.v.data, cols)
		return 0
	})
	d.out.write(dst)
}

func (d *Sparse) RatioBasis(dst, u, v *mat.Dense, logs bool) float64 {
	return d.Along(dst, d.ByFeature(), u, v, func(sum, a, rows []float64, at []int, x, y []float64) float64 {
		if dst == nil {
			simd.Dots(y, a, rows, at)
			return simd.DivideSum(y, x, algebra.Floor)
		}
		simd.Ratios(sum, a, rows, at, x, y, algebra.Floor)
		if !logs {
			return 0
		}
		return simd.LogSum(y, x)
	})
}

func (d *Sparse) RatioCoefficients(dst, u, v *mat.Dense) {
	d.Along(dst, d.Samples, v, u, func(sum, a, rows []float64, at []int, x, y []float64) float64 {
		simd.Ratios(sum, a, rows, at, x, y, algebra.Floor)
		return 0
	})
}

// Along writes to dst, of the shape of a, or nil, what f adds to the sums of each row of x: f gets the row of aᵀ, all
// rows of bᵀ, the numbers of those that a chunk of values x selects, and space for a number y of each. It returns the
// sum of f.
func (d *Sparse) Along(dst *mat.Dense, x *inParts, a, b *mat.Dense, f func(sum, a, rows []float64, at []int, x, y []float64) float64) float64 {
	d.u.read(a)
	d.v.read(b)
	n, _ := x.Dims()
	k, _ := a.Dims()
	if dst != nil {
		d.out.zero(n, k)
	}
	total := x.Each(2*k, func(i int, cols []int, vals, y []float64) float64 {
		var sums []float64
		if dst != nil {
			sums = d.out.row(i)
		}
		return f(sums, d.u.row(i), d.v.data, cols, vals, y)
	})
	if dst != nil {
		d.out.write(dst)
	}
	return total
}

func (d *Sparse) Residual(u, v *mat.Dense) float64 {
	// ‖X − Y‖² = ‖Y‖² + Σ over the stored x of (x − y)² − y².
	return max(algebra.Inner(algebra.SelfGram(u), algebra.SelfGram(v))+d.terms(u, v, func(x, y float64) float64 { return x * (x - 2*y) }), 0)
}

func (d *Sparse) Divergence(u, v *mat.Dense) float64 {
	// All y, then for each stored x its term in place of its y.
	k, _ := u.Dims()
	su, sv := make([]float64, k), make([]float64, k)
	algebra.RowSums(su, u)
	algebra.RowSums(sv, v)
	return max(algebra.Dot(su, sv)+d.terms(u, v, func(x, y float64) float64 { return DivergenceTerm(x, y) - y }), 0)
}

// terms returns the sum of f over the stored values and their y.
func (d *Sparse) terms(u, v *mat.Dense, f func(x, y float64) float64) float64 {
	return d.Along(nil, d.Samples, v, u, func(_, a, rows []float64, at []int, x, y []float64) (sum float64) {
		simd.Dots(y, a, rows, at)
		for p, x := range x {
			sum += f(x, y[p])
		}
		return sum
	})
}

func (d *Sparse) Condense(groups int, group []int, scale []float64) Data {
	n, m := d.X.Dims()
	entries := make([]sparse.Entry, 0, d.X.NNZ())
	for i := range n {
		cols, vals := d.X.Row(i)
		for p, j := range cols {
			entries = append(entries, sparse.Entry{Row: group[i], Col: j, Value: scale[i] * vals[p]})
		}
	}
	return NewSparse(sparse.FromEntries(groups, m, entries))
}

func (d *Sparse) Rows(from, to int) *mat.Dense {
	_, m := d.X.Dims()
	out := mat.NewDense(to-from, m, nil)
	for i := from; i < to; i++ {
		CopyRow(out.RawRowView(i-from), d.X, i)
	}
	return out
}

func (d *Sparse) Each(f func(i, j int, x float64)) {
	n, _ := d.X.Dims()
	for i := range n {
		cols, vals := d.X.Row(i)
		for p, j := range cols {
			f(i, j, vals[p])
		}
	}
}

// byColumn holds a factor, k×n, column by column, each with zeros up to the width of the kernels.
type byColumn struct {
	width int
	data  []float64
}

func (s *byColumn) row(i int) []float64 { return s.data[i*s.width : (i+1)*s.width] }

func (s *byColumn) zero(n, k int) {
	s.width = simd.Width(k)
	s.data = slices.Grow(s.data[:0], n*s.width)[:n*s.width]
	clear(s.data)
}

func (s *byColumn) read(from *mat.Dense) {
	k, n := from.Dims()
	s.zero(n, k)
	s.Each(from, func(at int, row []float64) {
		for _, x := range row {
			s.data[at] = x
			at += s.width
		}
	})
}

func (s *byColumn) write(dst *mat.Dense) {
	s.Each(dst, func(at int, row []float64) {
		for i := range row {
			row[i] = s.data[at]
			at += s.width
		}
	})
}

// Each calls f with parts of the rows of a, and the places of their first numbers in data.
func (s *byColumn) Each(a *mat.Dense, f func(at int, row []float64)) {
	const columns = 512 // which stay in the cache
	k, n := a.Dims()
	parallel.DoWork(16*n*s.width, parallel.Count(n, columns), func(part int) {
		lo := part * columns
		for r := range k {
			f(lo*s.width+r, a.RawRowView(r)[lo:min(lo+columns, n)])
		}
	})
}

// CopyRow writes row i of a, a *mat.Dense or a *sparse.CSR.
func CopyRow(dst []float64, a mat.Matrix, i int) {
	if s, ok := a.(*sparse.CSR); ok {
		clear(dst)
		cols, vals := s.Row(i)
		for p, j := range cols {
			dst[j] = vals[p]
		}
		return
	}
	mat.Row(dst, i, a)
}
