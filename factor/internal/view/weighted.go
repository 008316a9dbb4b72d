package view

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/matrix"
)

// Weighted is a matrix of samples, n×m, with weights in the cost. An entry that is NaN, or has weight 0, is missing. The
// weight of an entry is the product of its weights.
type Weighted struct {
	mat.Matrix            // a *mat.Dense, or, without weights of entries, a *CSR
	Entries    *mat.Dense // the weights of entries, n×m; nil means 1
	Samples    []float64  // the weights of samples, above 0; nil means 1
}

// Missing reports whether the entry in row i and column j is missing.
func (x *Weighted) Missing(i, j int) bool {
	return math.IsNaN(x.At(i, j)) || x.Entries != nil && x.Entries.At(i, j) == 0
}

// SelectRows returns the given rows with their weights, a *Weighted.
func (x *Weighted) SelectRows(rows []int) mat.Matrix {
	out := &Weighted{Matrix: matrix.SelectRows(x.Matrix, rows), Samples: matrix.Take(x.Samples, rows)}
	if x.Entries != nil {
		out.Entries = matrix.SelectRows(x.Entries, rows).(*mat.Dense)
	}
	return out
}

// Unweighted returns the samples of x and their weights, which are nil if x is not a [Weighted] or all are 1. The mean
// of a column's observed entries, by weight, replaces its missing entries, or 0 if none is observed, which is an error
// if columns is set.
func Unweighted(x mat.Matrix, columns bool) (plain mat.Matrix, entries *mat.Dense, samples []float64, err error) {
	of, ok := x.(*Weighted)
	if !ok {
		return x, nil, nil, nil
	}
	n, m := of.Dims()
	if of.Samples != nil && len(of.Samples) != n {
		return nil, nil, nil, fmt.Errorf("weights of %d samples; expected %d", len(of.Samples), n)
	}
	if i := slices.IndexFunc(of.Samples, func(w float64) bool { return w == 0 || !usable(w) }); i >= 0 {
		return nil, nil, nil, &SampleError{i, fmt.Sprintf("weight %v; expected %g to %g", of.Samples[i], SmallestValue, LargestValue)}
	}
	values, dense := of.Matrix.(*mat.Dense)
	if of.Entries != nil {
		if r, c := of.Entries.Dims(); !dense || r != n || c != m {
			return nil, nil, nil, fmt.Errorf("%d×%d weights of the entries of a %d×%d %T; expected a *mat.Dense of the same size", r, c, n, m, of.Matrix)
		}
	}
	if !dense {
		return of.Matrix, nil, of.Samples, nil
	}

	filled := mat.DenseCopyOf(values)
	entries = mat.NewDense(n, m, nil)
	sums, totals, equal := make([]float64, m), make([]float64, m), true
	for i := range n {
		weights := entries.RawRowView(i)
		for j, v := range values.RawRowView(i) {
			w := 1.0
			if of.Entries != nil {
				w = of.Entries.At(i, j)
			}
			switch {
			case !usable(w):
				return nil, nil, nil, &SampleError{i, fmt.Sprintf("column %d: weight %v; expected 0, or %g to %g", j+1, w, SmallestValue, LargestValue)}
			case math.IsNaN(v):
				w = 0
			case w > 0 && !(math.Abs(v) <= LargestValue):
				return nil, nil, nil, unusableValue(i, j, v)
			}
			equal = equal && w == 1
			if weights[j] = w; w > 0 {
				sums[j] += w * v
				totals[j] += w
			}
		}
		if slices.Max(weights) == 0 {
			return nil, nil, nil, &SampleError{i, "all values are missing"}
		}
	}
	if j := slices.Index(totals, 0); j >= 0 && columns {
		return nil, nil, nil, fmt.Errorf("column %d: all values are missing", j+1)
	}
	if equal {
		return values, nil, of.Samples, nil
	}
	filled.Apply(func(i, j int, x float64) float64 {
		if entries.At(i, j) == 0 {
			return sums[j] / max(totals[j], SmallestValue)
		}
		return x
	}, filled)
	return filled, entries, of.Samples, nil
}

// Means returns the weighted means of each group's rows of x, and the sums of their weights.
func (t *Condensation) Means(x Dense, weights *mat.Dense) (means Data, sums *mat.Dense) {
	if t.None {
		return x, weights
	}
	products := algebra.Like(weights)
	products.MulElem(x.X, weights)
	condense := func(a *mat.Dense) *mat.Dense {
		return Dense{a}.Condense(t.Groups, t.Group, slices.Repeat([]float64{1}, len(t.Group))).(Dense).X
	}
	out, sums := condense(products), condense(weights)
	out.Apply(func(g, j int, x float64) float64 { return x / max(sums.At(g, j), SmallestNumber) }, out)
	return Dense{out}, sums
}

// A Split replaces the entries y of vᵀu by the positive part of the gradient of weighted costs w·d(x, y) in y, and
// writes the negative part.
type Split func(negative, y, x, w []float64)

// Parts writes the two parts of the gradient of a cost in u, k×m, if basis is set, else in v, k×n. weights may be nil.
func (d Dense) Parts(negative, positive, u, v, weights *mat.Dense, basis bool, split Split) {
	row := d.weightsOf(weights)
	d.Walk(u, v, basis, func(t Tile, first bool) float64 {
		room := tileBuffers.Get()
		defer tileBuffers.Put(room)
		*room = slices.Grow((*room)[:0], len(t.Y.Data))[:len(t.Y.Data)]
		part := t.Y
		part.Data = *room
		i := 0
		t.Each(func(x, y []float64) float64 {
			w := row(t.Sample + i)[t.At:][:len(x)]
			split(part.Data[i*t.Y.Stride:][:len(x)], y, x, w)
			i++
			return 0
		})
		for i, dst := range []*mat.Dense{negative, positive} {
			from := []blas.Of[float64]{part, t.Y}[i]
			if basis {
				Add(first, algebra.NoTrans, t.V, from, ColumnsOf(algebra.Raw(dst), t.At, t.At+t.Y.Cols))
			} else {
				Add(first, algebra.Trans, t.U, from, ColumnsOf(algebra.Raw(dst), t.Sample, t.Sample+t.Y.Rows))
			}
		}
		return 0
	})
}

// weightsOf returns the function of the rows of weights, or of rows of ones if weights is nil.
func (d Dense) weightsOf(weights *mat.Dense) func(i int) []float64 {
	if weights != nil {
		return weights.RawRowView
	}
	ones := slices.Repeat([]float64{1}, d.X.RawMatrix().Cols)
	return func(int) []float64 { return ones }
}

// usable reports whether w is a weight: 0, or from SmallestValue to LargestValue.
func usable(w float64) bool { return w == 0 || w >= SmallestValue && w <= LargestValue }
