package fitting

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/internal/logistic"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/sparse"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// standard scales columns to mean 0 and standard deviation 1 (divisor n), as learned from some samples. Sparse samples
// are only divided, so that they stay sparse. Constant columns become 0.
type standard struct {
	mean, Factor []float64
}

func newStandard(x mat.Matrix) standard {
	n, m := x.Dims()
	most, mean := make([]float64, m), make([]float64, m)
	rows := matrix.AllRows(x)
	matrix.EachValue(x, rows, func(_, j int, v float64) { most[j] = max(most[j], math.Abs(v)) })
	// Dividing by the largest value keeps sums and squares from overflowing.
	matrix.EachValue(x, rows, func(_, j int, v float64) {
		if most[j] > 0 {
			mean[j] += v / most[j] / float64(n)
		}
	})
	square, stored := make([]float64, m), make([]int, m)
	matrix.EachValue(x, rows, func(_, j int, v float64) {
		if most[j] > 0 {
			d := v/most[j] - mean[j]
			square[j] += d * d
			stored[j]++
		}
	})
	s := standard{mean, make([]float64, m)}
	for j := range m {
		zeros := float64(n - stored[j]) // zeros that a sparse row does not store
		deviation := math.Sqrt((square[j] + zeros*mean[j]*mean[j]) / float64(n))
		s.mean[j] *= most[j]
		if factor := 1 / deviation / most[j]; deviation > 1e-12 && !math.IsInf(factor, 0) {
			s.Factor[j] = factor
		}
	}
	return s
}

// Of returns the standardised rows of x.
func (s standard) Of(x mat.Matrix) mat.Matrix {
	if x, ok := x.(*sparse.CSR); ok {
		out := x.Clone()
		n, _ := out.Dims()
		for i := range n {
			columns, values := out.Row(i)
			for p, j := range columns {
				values[p] *= s.Factor[j]
			}
		}
		return out
	}
	out := mat.DenseCopyOf(x)
	n, _ := out.Dims()
	for i := range n {
		row := out.RawRowView(i)
		for j, v := range row {
			row[j] = (v - s.mean[j]) * s.Factor[j]
		}
	}
	return out
}

// classify trains the classifier of the experiment on train, n×m, with the classes truth, and returns the predicted
// classes of test, t×m.
func classify(ctx context.Context, e *spec.Experiment, train mat.Matrix, truth []int, test mat.Matrix) ([]int, error) {
	if !e.Classifier.Linear() {
		return eval.KNN{K: e.Neighbours.K, Distance: e.Neighbours.Distance}.Classify(ctx, train, truth, test)
	}
	if e.Classifier.Scale != "none" {
		s := newStandard(train)
		train, test = s.Of(train), s.Of(test)
	}
	model, err := logistic.Regression{C: e.Classifier.C}.Fit(ctx, train, truth, slices.Max(truth)+1)
	if err != nil {
		return nil, err
	}
	return model.Classify(test), nil
}
