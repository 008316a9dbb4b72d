package factor

import (
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/simd"
	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// selectedRows are the samples that [fastSelected] selects, in blocks of blockSamples, and
// the products with them.
type selectedRows interface {
	// take takes the samples in place of those before.
	take(samples []int)
	// products returns those of the samples of a block with each other. Blocks may be asked
	// for side by side.
	products(at int) *mat.Dense
	// times writes the products of all samples with the rows of a, k×m: samples × k.
	times(dst, a *mat.Dense)
	// add adds by·weightᵀ·rows to dst, k×m.
	add(dst *mat.Dense, by float64, weight *mat.Dense)
	// follow begins with U, k×m, that addOf changes; finish writes it.
	follow(u *mat.Dense)
	finish(u *mat.Dense)
	// timesOf writes the products of the samples of a block with the rows of U.
	timesOf(dst *mat.Dense, at int)
	// addOf adds to U what changes of the weights of some samples of a block make.
	addOf(at int, samples []int, change *mat.Dense)
}

// selectedDense has copies of the samples. It follows U in place.
type selectedDense struct {
	x, rows *mat.Dense
	u       *mat.Dense
	some    *mat.Dense // of a block
}

func (s *selectedDense) take(samples []int) {
	_, m := s.x.Dims()
	s.rows = resized(s.rows, len(samples), m)
	eachRow(s.rows, 1, func(a int, row []float64) { copy(row, s.x.RawRowView(samples[a])) })
}

func (s *selectedDense) products(at int) *mat.Dense { return selfGram(part(s.rows, at)) }

func (s *selectedDense) times(dst, a *mat.Dense) { gemm(dst, s.rows, noTrans, a, trans) }

func (s *selectedDense) add(dst *mat.Dense, by float64, weight *mat.Dense) {
	blas.Gemm(trans, noTrans, by, weight.RawMatrix(), s.rows.RawMatrix(), 1, dst.RawMatrix())
}

func (s *selectedDense) follow(u *mat.Dense) { s.u = u }

func (s *selectedDense) finish(*mat.Dense) {}

func (s *selectedDense) timesOf(dst *mat.Dense, at int) {
	gemm(dst, part(s.rows, at), noTrans, s.u, trans)
}

func (s *selectedDense) addOf(at int, samples []int, change *mat.Dense) {
	s.some = gathered(s.some, part(s.rows, at), samples)
	blas.Gemm(trans, noTrans, 1, change.RawMatrix(), s.some.RawMatrix(), 1, s.u.RawMatrix())
}

// selectedSparse has factors by features, so that a value of a sample meets numbers side by
// side.
type selectedSparse struct {
	x       *sparse.CSR
	samples []int
	u       byColumn
}

func (s *selectedSparse) take(samples []int) { s.samples = samples }

// block returns the samples of a block.
func (s *selectedSparse) block(at int) []int {
	return s.samples[at*blockSamples : min((at+1)*blockSamples, len(s.samples))]
}

func (s *selectedSparse) products(at int) *mat.Dense {
	block := s.block(at)
	_, m := s.x.Dims()
	sample, out := make([]float64, m), mat.NewDense(len(block), len(block), nil)
	for a, i := range block {
		cols, vals := s.x.Row(i)
		for p, j := range cols {
			sample[j] = vals[p]
		}
		for b := range a + 1 {
			var sum float64
			others, values := s.x.Row(block[b])
			for p, j := range others {
				sum += values[p] * sample[j]
			}
			out.Set(a, b, sum)
			out.Set(b, a, sum)
		}
		for _, j := range cols {
			sample[j] = 0
		}
	}
	return out
}

func (s *selectedSparse) times(dst, a *mat.Dense) {
	var columns byColumn
	columns.read(a)
	blocks := parallel.Count(len(s.samples), blockSamples)
	parallel.Do(blocks, func(at int) { s.timesBy(part(dst, at), at, &columns) })
}

func (s *selectedSparse) timesBy(dst *mat.Dense, at int, columns *byColumn) {
	sum := make([]float64, columns.width)
	for a, i := range s.block(at) {
		cols, vals := s.x.Row(i)
		clear(sum)
		simd.AddRows(sum, vals, columns.data, cols)
		copy(dst.RawRowView(a), sum)
	}
}

func (s *selectedSparse) add(dst *mat.Dense, by float64, weight *mat.Dense) {
	var columns byColumn
	columns.read(dst)
	for a, i := range s.samples {
		s.addTo(&columns, by, weight.RawRowView(a), i)
	}
	columns.write(dst)
}

// addTo adds what weights of a sample make to a factor.
func (s *selectedSparse) addTo(columns *byColumn, by float64, weight []float64, sample int) {
	cols, vals := s.x.Row(sample)
	for p, j := range cols {
		axpy(by*vals[p], weight, columns.row(j))
	}
}

func (s *selectedSparse) follow(u *mat.Dense) { s.u.read(u) }

func (s *selectedSparse) finish(u *mat.Dense) { s.u.write(u) }

func (s *selectedSparse) timesOf(dst *mat.Dense, at int) { s.timesBy(dst, at, &s.u) }

func (s *selectedSparse) addOf(at int, samples []int, change *mat.Dense) {
	block := s.block(at)
	for row, a := range samples {
		s.addTo(&s.u, 1, change.RawRowView(row), block[a])
	}
}
