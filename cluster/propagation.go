package cluster

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/eigen"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/simd"
)

// The settings of [PropagatedKMeans], as defaults of a [Propagation].
const (
	DefaultRidge = whitenedRidge
	DefaultShare = propagatedShare
)

// Propagation whitens samples, averages them over a graph of nearest neighbours, or both: see [PropagatedKMeans]. It
// scales samples to unit length before and after. Samples that are not whitened are not centred, so that non-negative
// ones stay non-negative.
type Propagation struct {
	Ridge float64 // r is Ridge·tr(C)/min(n, m); 0 does not whiten
	Share float64 // the weight of the neighbours, below 1; 0 does not average
	// Clusters is the expected number of clusters, which decides the number of neighbours.
	Clusters int
}

// Propagated represents new samples as a [Propagation] represents the samples from which it was made.
type Propagated struct {
	// Mean and Multiplier whiten a row: it is scaled to unit length, centred, scaled again, multiplied, and scaled again.
	// They are nil without whitening.
	Mean       []float64
	Multiplier *mat.Dense
	// Points are the samples before the average, one a row, Averages after it and before they are scaled, and Degrees
	// their numbers of neighbours in the graph. All are nil for a Share of 0.
	Points, Averages *mat.Dense
	Degrees          []int
	Share            float64
	Neighbours       int // the number of nearest Points of a new sample
}

// Fit returns the propagated rows of x, and what represents new samples. Whitened rows have at most 256 columns.
func (p Propagation) Fit(ctx context.Context, x mat.Matrix) (y *mat.Dense, out *Propagated, err error) {
	defer guard.CatchWithin(&err, "propagation")
	s := guard.Must(readSamples(x, DistanceCosine))
	out = &Propagated{Share: p.Share, Neighbours: min(neighboursOf(s.n, p.Clusters), s.n)}
	columns := s.m
	v := mat.NewDense(s.n, simd.Width(columns), nil) // padded for propagate
	v.Slice(0, s.n, 0, columns).(*mat.Dense).Copy(s.unit())
	if p.Ridge > 0 {
		out.Mean = s.mean()
		leading := principalOf(ctx, s.centredBy(out.Mean))
		v, out.Multiplier = leading.whitened(p.Ridge), leading.multiplier(p.Ridge)
		_, columns = out.Multiplier.Dims()
	}
	if y = v; p.Share > 0 {
		g := nearestGraph(ctx, v, out.Neighbours)
		y = g.propagate(ctx, v, p.Share)
		out.Points, out.Averages = firstColumns(v, columns), firstColumns(y, columns)
		out.Degrees = lists.Map(g, func(list []int) int { return len(list) })
	}
	y = firstColumns(y, columns)
	unitRows(y)
	return y, out, nil
}

func firstColumns(x *mat.Dense, columns int) *mat.Dense {
	n, _ := x.Dims()
	return mat.DenseCopyOf(x.Slice(0, n, 0, columns))
}

// unit returns the rows scaled to unit length.
func (s *samples) unit() *mat.Dense {
	z := mat.NewDense(s.n, s.m, nil)
	for i := range s.n {
		s.addTo(z.RawRowView(i), s.weights[i], i)
	}
	return z
}

// Columns returns the number of columns of a sample and of its result.
func (p *Propagated) Columns() (from, to int) {
	if p.Multiplier != nil {
		return p.Multiplier.Dims()
	}
	_, to = p.Points.Dims()
	return to, to
}

// same is the cosine of samples that are equal up to rounding errors.
const same = 1 - 1e-9

// Transform represents new samples, the rows of x. One step of the average has the nearest stored neighbours j of a
// row v, with degrees d_j, and d of them with a positive cosine:
//
//	y = α·Σ_j Y_j/√(d·d_j) + (1 − α)·v
//
// A row that equals a stored one gets its average.
func (p *Propagated) Transform(ctx context.Context, x mat.Matrix) (_ *mat.Dense, err error) {
	defer guard.CatchWithin(&err, "propagation")
	s := guard.Must(readSamples(x, DistanceCosine))
	if from, _ := p.Columns(); s.m != from {
		return nil, fmt.Errorf("%d columns; expected %d", s.m, from)
	}
	y := s.unit()
	if p.Multiplier != nil {
		z := s.centredBy(p.Mean)
		_, columns := p.Multiplier.Dims()
		y = mat.NewDense(s.n, columns, nil)
		blas.Gemm(blas.NoTrans, blas.NoTrans, 1, z.RawMatrix(), p.Multiplier.RawMatrix(), 0, y.RawMatrix())
		unitRows(y)
	}
	if p.Share == 0 {
		return y, nil
	}
	nearest := guard.Must(Nearest(ctx, DistanceCosine, y, p.Points, p.Neighbours))
	for i, list := range nearest {
		v := y.RowView(i)
		cosines := make([]float64, len(list))
		near := 0
		for at, j := range list {
			if cosines[at] = mat.Dot(v, p.Points.RowView(j)); cosines[at] > 0 {
				near++
			}
		}
		row := y.RawRowView(i)
		if cosines[0] >= same {
			copy(row, p.Averages.RawRowView(list[0]))
		} else {
			floats.Scale(1-p.Share, row)
			for at, j := range list {
				if cosines[at] > 0 {
					floats.AddScaled(row, p.Share/math.Sqrt(float64(near*max(p.Degrees[j], 1))), p.Averages.RawRowView(j))
				}
			}
		}
		toUnit(row)
	}
	return y, nil
}

// Columns returns the number of columns of n propagated samples with m features.
func (p Propagation) Columns(n, m int) int {
	if p.Ridge == 0 {
		return m
	}
	return min(n, m, whitenedDirections)
}

// Memory estimates the bytes that Fit takes for n samples of m features.
func (p Propagation) Memory(n, m int) float64 {
	rows, columns, d := float64(n), float64(m), float64(min(n, m))
	total := 8 * 4 * rows * columns
	if p.Ridge > 0 {
		total += 8*(d*d+(4*rows+columns)*whitenedDirections) + eigen.Memory(int(d), min(int(d), whitenedDirections))
	}
	return total + 500*rows
}
