package cluster

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/freelist"
	"github.com/seed4492f2cd/partwise/internal/panel"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/simd"
	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// A rowReader is a matrix that can be read by rows. Sums over a row skip nothing but zeros and keep the
// columns' order, so that a dense and a sparse matrix of the same values give the same bits, but for dots.
type rowReader interface {
	Dims() (r, c int)
	// row returns row i. It may be written to buf, of length c.
	row(i int, buf []float64) []float64
	// values returns the values of row i that may differ from zero.
	values(i int) []float64
	// addTo adds w times row i to dst.
	addTo(dst []float64, w float64, i int)
	// dots writes the (hi−lo)×points.Rows products of the rows from lo to hi with those of points to out.
	dots(out []float64, lo, hi int, points blas.Matrix)
	// dotsOf is dots of rows, in rising order.
	dotsOf(out []float64, rows []int, points blas.Matrix)
}

// samples are rows with their lengths.
type samples struct {
	rowReader
	n, m     int
	distance Distance
	norms    []float64 // ‖x_i‖
	// weights are what a row is multiplied by before it is compared with others: 1, or under the cosine
	// distance 1/‖x_i‖ and 0 for a row of zeros.
	weights []float64
	// A sample costs first + by·score with a point.
	first, by []float64
}

const (
	// largestNorm is the length of a row whose inverse keeps its digits, and so is the inverse of it.
	largestNorm = 1e300
	// smallestNorm is what the longest row must have for squared distances to keep their digits.
	smallestNorm = 1e-150
)

// readSamples reads x, which is not changed. It copies nothing but matrices that are neither *mat.Dense nor
// *sparse.CSR. A value that is not finite, or so large that distances overflow, is an error that names its row,
// and so are rows so small that nothing is left of distances, but for zeros.
func readSamples(x mat.Matrix, d Distance) (*samples, error) {
	if d != DistanceEuclidean && d != DistanceCosine {
		return nil, fmt.Errorf("there is no %v", d)
	}
	n, m := x.Dims()
	if n == 0 || m == 0 {
		return nil, fmt.Errorf("a %d×%d matrix holds no samples", n, m)
	}
	s := &samples{rowReader: readRows(x), n: n, m: m, distance: d, norms: make([]float64, n), weights: make([]float64, n), first: make([]float64, n), by: make([]float64, n)}
	var total float64
	longest := 0
	for i := range n {
		values := s.values(i)
		for _, v := range values {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("row %d holds the value %v", i+1, v)
			}
		}
		s.norms[i] = norm(values)
		s.weights[i], s.first[i], s.by[i] = 1, s.norms[i]*s.norms[i], 2
		if d == DistanceCosine {
			s.weights[i] = 1 / s.norms[i]
			if s.norms[i] == 0 {
				s.weights[i] = 0
			}
			s.first[i], s.by[i] = 1, s.weights[i]
		} else {
			total += 4 * s.norms[i] * s.norms[i]
		}
		switch length := s.norms[i]; {
		case math.IsInf(total+length, 0) || d == DistanceCosine && length > largestNorm:
			return nil, fmt.Errorf("row %d: the values are too large, distances overflow", i+1)
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

// readRows reads x, which it copies where it is neither a *mat.Dense nor a *sparse.CSR.
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
	return fmt.Errorf("row %d: the values are too small, nothing is left of distances", row+1)
}

// dense reads the rows of a dense matrix.
type dense struct{ *mat.Dense }

func (x dense) row(i int, _ []float64) []float64 { return x.RawRowView(i) }

func (x dense) values(i int) []float64 { return x.RawRowView(i) }

func (x dense) addTo(dst []float64, w float64, i int) { floats.AddScaled(dst, w, x.RawRowView(i)) }

func (x dense) dots(out []float64, lo, hi int, points blas.Matrix) {
	panel.Dots(out, blas.Of[float64](x.RawMatrix()), lo, hi, blas.Of[float64](points))
}

// rowRooms hold dense rows side by side, or points that are laid out.
var rowRooms = freelist.List[*[]float64]{New: func() *[]float64 { return new([]float64) }}

// ofLength returns so much of the room, which holds anything.
func ofLength(room *[]float64, n int) []float64 {
	*room = slices.Grow((*room)[:0], n)[:n]
	return *room
}

func (x dense) dotsOf(out []float64, rows []int, points blas.Matrix) {
	if first := rows[0]; rows[len(rows)-1]-first == len(rows)-1 {
		x.dots(out, first, first+len(rows), points)
		return
	}
	room := rowRooms.Get()
	defer rowRooms.Put(room)
	_, m := x.Dims()
	laid := ofLength(room, len(rows)*m)
	for a, i := range rows {
		copy(laid[a*m:][:m], x.RawRowView(i))
	}
	panel.Dots(out, blas.Of[float64]{Rows: len(rows), Cols: m, Stride: m, Data: laid}, 0, len(rows), blas.Of[float64](points))
}

// csr reads the rows of a sparse matrix.
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

func (x csr) dots(out []float64, lo, hi int, points blas.Matrix) {
	x.products(out, hi-lo, func(a int) int { return lo + a }, points)
}

func (x csr) dotsOf(out []float64, rows []int, points blas.Matrix) {
	x.products(out, len(rows), func(a int) int { return rows[a] }, points)
}

// pointsAtOnce are laid out side by side for the products of sparse rows, so that they fit a cache.
const pointsAtOnce = 32

// products writes the n×points.Rows products of n rows, which row numbers, with the points.
func (x csr) products(out []float64, n int, row func(a int) int, points blas.Matrix) {
	stored := 0
	for a := range n {
		stored += len(x.values(row(a)))
	}
	room := rowRooms.Get()
	defer rowRooms.Put(room)
	for first := 0; first < points.Rows; first += pointsAtOnce {
		count := min(pointsAtOnce, points.Rows-first)
		width := simd.Width(count)
		laid := ofLength(room, points.Cols*width)
		clear(laid)
		for r := range count {
			for j, v := range points.Data[(first+r)*points.Stride:][:points.Cols] {
				laid[j*width+r] = v
			}
		}
		const rowsAtOnce = 16
		parallel.DoWork(stored*count, parallel.Count(n, rowsAtOnce), func(part int) {
			var sums [pointsAtOnce]float64
			for a := part * rowsAtOnce; a < min((part+1)*rowsAtOnce, n); a++ {
				columns, values := x.Row(row(a))
				sum := sums[:width]
				clear(sum)
				simd.AddRows(sum, values, laid, columns)
				copy(out[a*points.Rows+first:], sum[:count])
			}
		})
	}
}

// norm returns ‖v‖, without overflow or underflow on the way.
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
