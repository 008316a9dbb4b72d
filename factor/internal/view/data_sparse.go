package view

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/simd"
	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// Sparse is a [Data] with a sparse matrix. A stored value selects a feature's k entries, which are contiguous in a
// factor stored by columns; products along features use the transpose. It is not safe for concurrent use.
type Sparse struct {
	X         *sparse.CSR
	Samples   *partitioned
	features  *partitioned // the transpose, made on first use
	u, v, out byColumn
}

func NewSparse(x *sparse.CSR) *Sparse { return &Sparse{X: x, Samples: newPartitioned(x)} }

// ByFeature returns Xᵀ, m×n.
func (d *Sparse) ByFeature() *partitioned {
	if d.features == nil {
		d.features = newPartitioned(d.X.Transpose())
	}
	return d.features
}

// partitioned is a sparse matrix whose rows are divided into parts with about the same number of values.
type partitioned struct {
	*sparse.CSR
	starts []int // the first row of each part, and the number of rows
}

func newPartitioned(x *sparse.CSR) *partitioned {
	const mostParts, leastValues = 64, 1 << 13
	p := &partitioned{x, []int{0}}
	n, _ := x.Dims()
	size := max(x.NNZ()/mostParts, leastValues)
	values := 0
	for i := range n {
		cols, _ := x.Row(i)
		if values += len(cols) + 1; values >= size || i == n-1 { // an empty row also costs time
			p.starts, values = append(p.starts, i+1), 0
		}
	}
	return p
}

// Each calls f with chunks of all rows: the row i, the columns and values, and a buffer y of their length. It returns the
// sum of f. Parts run concurrently; a value costs k multiplications.
func (p *partitioned) Each(k int, f func(i int, cols []int, vals, y []float64) float64) float64 {
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

// chunk is the number of values of a row used at a time, so that the rows of a factor that they select stay cached.
const chunk = 128

func (d *Sparse) Dims() (n, m int)                    { return d.X.Dims() }
func (d *Sparse) Matrix() mat.Matrix                  { return d.X }
func (d *Sparse) TimesBasis(dst, u *mat.Dense)        { d.times(dst, d.Samples, u) }
func (d *Sparse) TimesCoefficients(dst, v *mat.Dense) { d.times(dst, d.ByFeature(), v) }

func (d *Sparse) times(dst *mat.Dense, x *partitioned, b *mat.Dense) {
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

// Along calls f for chunks of each row of x and returns the sum of f. f gets the row of aᵀ, all rows of bᵀ, the indices
// of the rows that the chunk selects, its values x and a buffer y of their length. If dst, of the shape of a, is not
// nil, f adds to sum, which becomes the column of dst.
func (d *Sparse) Along(dst *mat.Dense, x *partitioned, a, b *mat.Dense, f func(sum, a, rows []float64, at []int, x, y []float64) float64) float64 {
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
	// ‖X − Y‖² = ‖Y‖² + Σ (x − y)² − y² over the stored x.
	return max(algebra.Inner(algebra.SelfGram(u), algebra.SelfGram(v))+d.terms(u, v, func(x, y float64) float64 { return x * (x - 2*y) }), 0)
}

func (d *Sparse) Divergence(u, v *mat.Dense) float64 {
	// The sum of all y, then for each stored x its term minus y.
	k, _ := u.Dims()
	su, sv := make([]float64, k), make([]float64, k)
	algebra.RowSums(su, u)
	algebra.RowSums(sv, v)
	return max(algebra.Dot(su, sv)+d.terms(u, v, func(x, y float64) float64 { return DivergenceTerm(x, y) - y }), 0)
}

// terms returns the sum of f(x, y) over the stored values x, with y the entries of vᵀu.
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
	_, m := d.X.Dims()
	entries := make([]sparse.Entry, 0, d.X.NNZ())
	d.Each(func(i, j int, x float64) {
		entries = append(entries, sparse.Entry{Row: group[i], Col: j, Value: scale[i] * x})
	})
	return NewSparse(sparse.FromEntries(groups, m, entries))
}

func (d *Sparse) Rows(from, to int) *mat.Dense {
	_, m := d.X.Dims()
	out := mat.NewDense(to-from, m, nil)
	for i := from; i < to; i++ {
		d.X.CopyRow(out.RawRowView(i-from), i)
	}
	return out
}

func (d *Sparse) Each(f func(i, j int, x float64)) { matrix.EachValue(d.X, matrix.AllRows(d.X), f) }

// byColumn holds a factor, k×n, by columns, each padded with zeros to simd.Width.
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

// Each calls f with parts of the rows of a and the index in data of their first entry.
func (s *byColumn) Each(a *mat.Dense, f func(at int, row []float64)) {
	const columns = 512 // which fit into the cache
	k, n := a.Dims()
	parallel.DoWork(16*n*s.width, parallel.Count(n, columns), func(part int) {
		lo := part * columns
		for r := range k {
			f(lo*s.width+r, a.RawRowView(r)[lo:min(lo+columns, n)])
		}
	})
}
