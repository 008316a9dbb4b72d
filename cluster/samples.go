package cluster

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/freelist"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/panel"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/simd"
	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// A rowReader reads a matrix by rows. Sums keep the order of columns, so that dense and sparse matrices with the same
// values give identical results, except in dots.
type rowReader interface {
	Dims() (r, c int)
	// row returns row i, either a view or in buf, which has length c.
	row(i int, buf []float64) []float64
	// values returns the stored values of row i.
	values(i int) []float64
	// addTo adds w times row i to dst.
	addTo(dst []float64, w float64, i int)
	// dots writes the inner products of the given rows, in increasing order, with the points to out, rows×points.
	dots(out []float64, rows []int, points blas.Matrix)
}

// samples are rows with their lengths.
type samples struct {
	rowReader
	n, m     int
	all      []int // 0, …, n−1
	distance Distance
	norms    []float64 // ‖x_i‖
	// weights are the factors of rows in comparisons: 1, or under the cosine distance 1/‖x_i‖, and 0 for a row of
	// zeros.
	weights   []float64
	first, by []float64 // the cost of a sample with a point is first + by·score
}

const (
	largestNorm  = 1e300  // largest length whose inverse has full precision
	smallestNorm = 1e-150 // smallest length whose square has full precision
)

// readSamples reads x. It returns an error for values that are not finite, and for rows so long or so short that
// distances overflow or underflow.
func readSamples(x mat.Matrix, d Distance) (_ *samples, err error) {
	defer guard.Catch(&err)
	guard.FailIf(d != DistanceEuclidean && d != DistanceCosine, "unknown %v", d)
	n, m := x.Dims()
	guard.FailIf(n == 0 || m == 0, "the %d×%d matrix is empty", n, m)
	s := &samples{rowReader: readRows(x), n: n, m: m, all: matrix.Range(n), distance: d}
	s.norms, s.weights, s.first, s.by = make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	var total float64
	longest := 0
	for i := range n {
		values := s.values(i)
		length := norm(values)
		for _, v := range values {
			if !(length <= math.MaxFloat64) && !(math.Abs(v) <= math.MaxFloat64) {
				return nil, fmt.Errorf("row %d: value %v is not finite", i+1, v)
			}
		}
		s.norms[i], s.weights[i], s.first[i], s.by[i] = length, 1, length*length, 2
		if d == DistanceEuclidean {
			total += 4 * length * length
		} else {
			if s.weights[i] = 0; length > 0 {
				s.weights[i] = 1 / length
			}
			s.first[i], s.by[i] = 1, s.weights[i]
		}
		switch {
		case math.IsInf(total+length, 0) || d == DistanceCosine && length > largestNorm:
			return nil, fmt.Errorf("row %d: the values are too large: distances overflow", i+1)
		case d == DistanceCosine && length > 0 && length < 1/largestNorm:
			return nil, tooSmall(i)
		case length > s.norms[longest]:
			longest = i
		}
	}
	if most := s.norms[longest]; d == DistanceEuclidean && most > 0 && most < smallestNorm {
		return nil, tooSmall(longest)
	}
	return s, nil
}

func readRows(x mat.Matrix) rowReader {
	switch x := x.(type) {
	case *mat.Dense:
		return dense{x}
	case *sparse.CSR:
		return csr{x}
	}
	return dense{mat.DenseCopyOf(x)}
}

func tooSmall(row int) error {
	return fmt.Errorf("row %d: the values are too small: distances underflow", row+1)
}

type dense struct{ *mat.Dense }

func (x dense) row(i int, _ []float64) []float64      { return x.RawRowView(i) }
func (x dense) values(i int) []float64                { return x.RawRowView(i) }
func (x dense) addTo(dst []float64, w float64, i int) { floats.AddScaled(dst, w, x.RawRowView(i)) }

// rowBuffers are buffers for contiguous dense rows, or transposed points.
var rowBuffers = freelist.List[*[]float64]{New: func() *[]float64 { return new([]float64) }}

func resizeBuffer(room *[]float64, n int) []float64 {
	*room = slices.Grow((*room)[:0], n)[:n]
	return *room
}

func (x dense) dots(out []float64, rows []int, points blas.Matrix) {
	if first := rows[0]; rows[len(rows)-1]-first == len(rows)-1 {
		panel.Dots(out, blas.Of[float64](x.RawMatrix()), first, first+len(rows), blas.Of[float64](points))
		return
	}
	room := rowBuffers.Get()
	defer rowBuffers.Put(room)
	_, m := x.Dims()
	laid := resizeBuffer(room, len(rows)*m)
	for a, i := range rows {
		copy(laid[a*m:][:m], x.RawRowView(i))
	}
	panel.Dots(out, blas.Of[float64]{Rows: len(rows), Cols: m, Stride: m, Data: laid}, 0, len(rows), blas.Of[float64](points))
}

type csr struct{ *sparse.CSR }

func (x csr) row(i int, buf []float64) []float64 {
	clear(buf)
	columns, values := x.Row(i)
	for p, j := range columns {
		buf[j] = values[p]
	}
	return buf
}

func (x csr) values(i int) []float64 {
	_, values := x.Row(i)
	return values
}

func (x csr) addTo(dst []float64, w float64, i int) {
	columns, values := x.Row(i)
	for p, j := range columns {
		dst[j] += w * values[p]
	}
}

// pointsAtOnce is the number of points that are transposed at a time for products with sparse rows, to fit a cache.
const pointsAtOnce = 32

func (x csr) dots(out []float64, rows []int, points blas.Matrix) {
	stored := 0
	for _, i := range rows {
		stored += len(x.values(i))
	}
	room := rowBuffers.Get()
	defer rowBuffers.Put(room)
	for first := 0; first < points.Rows; first += pointsAtOnce {
		count := min(pointsAtOnce, points.Rows-first)
		width := simd.Width(count)
		laid := resizeBuffer(room, points.Cols*width)
		clear(laid)
		for r := range count {
			for j, v := range points.Data[(first+r)*points.Stride:][:points.Cols] {
				laid[j*width+r] = v
			}
		}
		const rowsAtOnce = 16
		parallel.DoWork(stored*count, parallel.Count(len(rows), rowsAtOnce), func(part int) {
			var sums [pointsAtOnce]float64
			for a := part * rowsAtOnce; a < min((part+1)*rowsAtOnce, len(rows)); a++ {
				columns, values := x.Row(rows[a])
				sum := sums[:width]
				clear(sum)
				simd.AddRows(sum, values, laid, columns)
				copy(out[a*points.Rows+first:], sum[:count])
			}
		})
	}
}

// norm returns ‖v‖, without intermediate overflow or underflow.
func norm(v []float64) float64 {
	var sum, largest float64
	for _, a := range v {
		sum += a * a
	}
	if sum > 1e-280 && !math.IsInf(sum, 0) {
		return math.Sqrt(sum)
	}
	for _, a := range v {
		largest = max(largest, math.Abs(a))
	}
	if largest == 0 {
		return 0
	}
	sum = 0
	for _, a := range v {
		sum += (a / largest) * (a / largest)
	}
	return largest * math.Sqrt(sum)
}
