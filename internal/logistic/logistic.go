// Package logistic fits multinomial logistic regression with an L2 penalty.
package logistic

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// Regression holds the settings of multinomial logistic regression: the probability of class c for a sample x is
// proportional to exp(w_c·x + b_c). Fit minimises
//
//	½ Σ_c ‖w_c‖² − C Σ_i log p(label of i | x_i)
//
// by L-BFGS from 0. The offsets b are not penalised, and features are not scaled.
type Regression struct {
	C          float64 // inverse strength of the penalty; 0 means 1
	Tolerance  float64 // largest component of the gradient divided by n·C; 0 means 1e-6
	Iterations int     // largest number of iterations; 0 means 1000
}

// Model is a fitted regression.
type Model struct {
	Weights *mat.Dense // k×m
	Offsets []float64  // k
}

// Fit fits the model to the rows of x, n×m, dense or a *sparse.CSR, with labels from 0 to k−1. It is an error if a
// class has no samples or a value is not finite.
func (r Regression) Fit(ctx context.Context, x mat.Matrix, labels []int, k int) (_ *Model, err error) {
	defer func() {
		if err != nil && ctx.Err() == nil {
			err = fmt.Errorf("logistic regression: %w", err)
		}
	}()
	data := newRows(x)
	n, m := x.Dims()
	if err := checkLabelled(n, labels, k); err != nil {
		return nil, err
	}
	longest := 0.0 // not finite if a value is not
	matrix.EachRow(data, matrix.Range(n), func(_ int, _ []int, values []float64) { longest = max(longest, elementary.Norm(values)) })
	// Samples are scaled so that the longest has length 1, and the penalty accordingly, for well-scaled numbers.
	scale := cmp.Or(longest, 1)
	r.C, r.Tolerance, r.Iterations = cmp.Or(r.C, 1), cmp.Or(r.Tolerance, 1e-6), cmp.Or(r.Iterations, 1000)
	f := &loss{data: data, labels: labels, k: k, m: m, scale: 1 / scale, penalty: 1 / (r.C * float64(n)) / scale / scale, scores: make([]float64, n*k)}
	switch {
	case longest-longest != 0:
		return nil, errors.New("a value is not finite")
	case math.IsNaN(r.C) || r.C < 0 || math.IsInf(r.C, 1):
		return nil, fmt.Errorf("regularisation C is %v; expected more than 0", r.C)
	case f.penalty > 1e300 || f.penalty < 1e-300:
		return nil, fmt.Errorf("norms of samples up to %g and C = %g are out of range", scale, r.C)
	}
	theta := make([]float64, k*(m+1))
	if err := descend(ctx, f, theta, r.Tolerance, r.Iterations); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(theta, func(v float64) bool { return v-v != 0 }) {
		return nil, errors.New("the weights overflow")
	}
	model := &Model{Weights: mat.NewDense(k, m, theta[:k*m]), Offsets: theta[k*m:]}
	model.Weights.Scale(1/scale, model.Weights)
	return model, nil
}

// LogProbabilities returns the log probabilities of the classes, n×k, for the rows of x, n×m.
func (m *Model) LogProbabilities(x mat.Matrix) *mat.Dense {
	n, _ := x.Dims()
	k := len(m.Offsets)
	out := mat.NewDense(n, k, nil)
	setScores(out.RawMatrix().Data, newRows(x), m.Weights.RawMatrix().Data, k)
	for i := range n {
		row := out.RawRowView(i)
		floats.Add(row, m.Offsets)
		floats.AddConst(-elementary.LogSumExp(row), row)
	}
	return out
}

// Classify returns the most probable class of each row of x; ties go to the lower class.
func (m *Model) Classify(x mat.Matrix) []int {
	scores := m.LogProbabilities(x)
	out := make([]int, scores.RawMatrix().Rows)
	for i := range out {
		out[i] = floats.MaxIdx(scores.RawRowView(i))
	}
	return out
}

func checkLabelled(n int, labels []int, k int) error {
	if len(labels) != n {
		return fmt.Errorf("%d labels for %d samples", len(labels), n)
	}
	seen := make([]bool, k)
	for i, l := range labels {
		if l < 0 || l >= k {
			return fmt.Errorf("sample %d has label %d; expected less than the number of classes, %d", i+1, l, k)
		}
		seen[l] = true
	}
	if c := slices.Index(seen, false); c >= 0 {
		return fmt.Errorf("class %d has no sample", c+1)
	}
	if k == 0 {
		return errors.New("no samples")
	}
	return nil
}

// loss is the objective divided by n·C, with its gradient. The parameters are k×m weights followed by k offsets, for
// samples multiplied by scale.
type loss struct {
	data           mat.Matrix
	labels         []int
	k, m           int
	scale, penalty float64
	scores         []float64 // n×k

	gradient []float64
	value    float64
}

func (l *loss) evaluate(theta []float64) *loss {
	if l.gradient == nil {
		l.gradient = make([]float64, len(theta))
	}
	weights, offsets := theta[:l.k*l.m], theta[l.k*l.m:]
	n := len(l.labels)
	share := 1 / float64(n)
	setScores(l.scores, l.data, weights, l.k)
	inOffsets := l.gradient[l.k*l.m:]
	clear(inOffsets)
	l.value = 0
	for i, label := range l.labels {
		row := l.scores[i*l.k : (i+1)*l.k]
		for c := range row {
			row[c] = row[c]*l.scale + offsets[c]
		}
		all := elementary.LogSumExp(row)
		l.value += (all - row[label]) * share
		for c, s := range row {
			row[c] = elementary.Exp(s-all) * share
		}
		row[label] -= share
		floats.Add(inOffsets, row)
		floats.Scale(l.scale, row)
	}
	l.value += 0.5 * l.penalty * elementary.Dot(weights, weights)
	inWeights := l.gradient[:l.k*l.m]
	copy(inWeights, weights)
	floats.Scale(l.penalty, inWeights)
	addProducts(inWeights, l.scores, l.data, l.k)
	return l
}

// newRows returns x, or a dense copy of a matrix that is neither dense nor a *sparse.CSR.
func newRows(x mat.Matrix) mat.Matrix {
	switch x.(type) {
	case *sparse.CSR, *mat.Dense:
		return x
	}
	return mat.DenseCopyOf(x)
}

// setScores sets dst, n×k, to X·Wᵀ for weights W, k×m.
func setScores(dst []float64, x mat.Matrix, weights []float64, k int) {
	n, m := x.Dims()
	if x, ok := x.(*mat.Dense); ok {
		blas.Gemm(blas.NoTrans, blas.Trans, 1, x.RawMatrix(), blas.Matrix{Rows: k, Cols: m, Stride: m, Data: weights}, 0,
			blas.Matrix{Rows: n, Cols: k, Stride: k, Data: dst})
		return
	}
	for i := range n {
		for c := range k {
			dst[i*k+c] = x.(*sparse.CSR).AddDot(0, i, weights[c*m:])
		}
	}
}

// addProducts adds Gᵀ·X to dst, k×m, for G, n×k.
func addProducts(dst, g []float64, x mat.Matrix, k int) {
	n, m := x.Dims()
	if x, ok := x.(*mat.Dense); ok {
		blas.Gemm(blas.Trans, blas.NoTrans, 1, blas.Matrix{Rows: n, Cols: k, Stride: k, Data: g}, x.RawMatrix(), 1,
			blas.Matrix{Rows: k, Cols: m, Stride: m, Data: dst})
		return
	}
	for i := range n {
		columns, values := x.(*sparse.CSR).Row(i)
		for c := range k {
			by, w := g[i*k+c], dst[c*m:(c+1)*m]
			for e, j := range columns {
				w[j] += by * values[e]
			}
		}
	}
}
