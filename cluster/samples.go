package cluster

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// A rowReader is a matrix that can be read by rows. Sums over a row skip
// nothing but zeros and keep the columns' order, so that a dense and a sparse
// matrix of the same values give the same bits, but for dots.
type rowReader interface {
	Dims() (r, c int)
	// row returns row i. It may be written to buf, of length c.
	row(i int, buf []float64) []float64
	// values returns the values of row i that may differ from zero.
	values(i int) []float64
	// addTo adds w times row i to dst.
	addTo(dst []float64, w float64, i int)
	// dots writes the (hi−lo)×points.Rows products of the rows from lo to hi
	// with those of points to out.
	dots(out []float64, lo, hi int, points blas.Matrix)
}

// samples are rows with their lengths.
type samples struct {
	rowReader
	n, m  int
	norms []float64 // ‖x_i‖
	// weights are what a row is multiplied by before it is compared with
	// others: 1, or under the cosine distance 1/‖x_i‖ and 0 for a row of zeros.
	weights []float64
}

const (
	// largestNorm is the length of a row whose inverse keeps its digits, and so is the
	// inverse of it.
	largestNorm = 1e300
	// smallestNorm is what the longest row must have for squared distances to keep
	// their digits.
	smallestNorm = 1e-150
)

// readSamples reads x, which is not changed. It copies nothing but matrices
// that are neither *mat.Dense nor *sparse.CSR. A value that is not finite, or
// so large that distances overflow, is an error that names its row, and so are rows
// so small that nothing is left of distances, but for zeros.
func readSamples(x mat.Matrix, d Distance) (*samples, error) {
	if d != DistanceEuclidean && d != DistanceCosine {
		return nil, fmt.Errorf("there is no %v", d)
	}
	n, m := x.Dims()
	if n == 0 || m == 0 {
		return nil, fmt.Errorf("a %d×%d matrix holds no samples", n, m)
	}
	s := &samples{n: n, m: m, norms: make([]float64, n), weights: make([]float64, n)}
	switch x := x.(type) {
	case *mat.Dense:
		s.rowReader = dense{x}
	case *sparse.CSR:
		s.rowReader = csr{x}
	default:
		s.rowReader = dense{mat.DenseCopyOf(x)}
	}
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
		s.weights[i] = 1
		if d == DistanceCosine {
			s.weights[i] = 1 / s.norms[i]
			if s.norms[i] == 0 {
				s.weights[i] = 0
			}
		} else {
			total += 4 * s.norms[i] * s.norms[i]
		}
		if math.IsInf(total+s.norms[i], 0) || d == DistanceCosine && s.norms[i] > largestNorm {
			return nil, fmt.Errorf("row %d: the values are too large, distances overflow", i+1)
		}
		if d == DistanceCosine && s.norms[i] > 0 && s.norms[i] < 1/largestNorm {
			return nil, tooSmall(i)
		}
		if s.norms[i] > s.norms[longest] {
			longest = i
		}
	}
	if most := s.norms[longest]; d == DistanceEuclidean && most > 0 && most < smallestNorm {
		return nil, tooSmall(longest)
	}
	return s, nil
}

func tooSmall(row int) error {
	return fmt.Errorf("row %d: the values are too small, nothing is left of distances", row+1)
}

// dense reads the rows of a dense matrix.
type dense struct{ *mat.Dense }

func (x dense) row(i int, _ []float64) []float64 { return x.RawRowView(i) }

func (x dense) values(i int) []float64 { return x.RawRowView(i) }

func (x dense) addTo(dst []float64, w float64, i int) {
	row := x.RawRowView(i)
	for j := range dst {
		dst[j] += w * row[j]
	}
}

func (x dense) dots(out []float64, lo, hi int, points blas.Matrix) {
	rows := x.RawMatrix()
	rows.Data = rows.Data[lo*rows.Stride:]
	rows.Rows = hi - lo
	blas.Gemm(blas.NoTrans, blas.Trans, 1, rows, points, 0,
		blas.Matrix{Rows: hi - lo, Cols: points.Rows, Stride: points.Rows, Data: out})
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
	for i := lo; i < hi; i++ {
		columns, values := x.Row(i)
		for r := range points.Rows {
			point := points.Data[r*points.Stride : r*points.Stride+points.Cols]
			var sum float64
			for p, j := range columns {
				sum += values[p] * point[j]
			}
			out[(i-lo)*points.Rows+r] = sum
		}
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
