package pipeline

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// standard brings the columns of samples to mean 0 and standard deviation 1 (divided by n),
// as learned from some of them. Sparse samples are divided only, so that they stay sparse. A
// column that does not vary is 0.
type standard struct {
	mean, factor []float64
}

// newStandard learns from the rows of x, n×m.
func newStandard(x mat.Matrix) standard {
	n, m := x.Dims()
	most, mean := make([]float64, m), make([]float64, m)
	rows := allRows(x)
	eachValue(x, rows, func(_, j int, v float64) { most[j] = max(most[j], math.Abs(v)) })
	// Values are divided by the largest before they are added or squared.
	eachValue(x, rows, func(_, j int, v float64) {
		if most[j] > 0 {
			mean[j] += v / most[j] / float64(n)
		}
	})
	square, stored := make([]float64, m), make([]int, m)
	eachValue(x, rows, func(_, j int, v float64) {
		if most[j] > 0 {
			d := v/most[j] - mean[j]
			square[j] += d * d
			stored[j]++
		}
	})
	s := standard{mean, make([]float64, m)}
	for j := range m {
		zeros := float64(n - stored[j]) // which a sparse row does not store
		deviation := math.Sqrt((square[j] + zeros*mean[j]*mean[j]) / float64(n))
		s.mean[j] *= most[j]
		if factor := 1 / deviation / most[j]; deviation > 1e-12 && !math.IsInf(factor, 0) {
			s.factor[j] = factor
		}
	}
	return s
}

// of returns the rows of x, standardised.
func (s standard) of(x mat.Matrix) mat.Matrix {
	if x, ok := x.(*sparse.CSR); ok {
		out := x.Clone()
		n, _ := out.Dims()
		for i := range n {
			columns, values := out.Row(i)
			for p, j := range columns {
				values[p] *= s.factor[j]
			}
		}
		return out
	}
	out := mat.DenseCopyOf(x)
	n, _ := out.Dims()
	for i := range n {
		row := out.RawRowView(i)
		for j, v := range row {
			row[j] = (v - s.mean[j]) * s.factor[j]
		}
	}
	return out
}
