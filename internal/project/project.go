// Package project reduces the dimension of samples: to coordinates along principal directions, and to codes of one
// byte per direction for fast similarity search.
package project

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/eigen"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/rng"
)

// Points are N points with D coordinates, stored by points.
type Points struct {
	N, D int
	Data []float32
}

// At returns point i.
func (p *Points) At(i int) []float32 { return p.Data[i*p.D : (i+1)*p.D : (i+1)*p.D] }

const (
	// extra is the oversampling, and iterations the number of power iterations, of the randomised subspace iteration
	// (Halko, Martinsson and Tropp 2011).
	extra      = 8
	iterations = 4
	// Directions are computed from about learnedNumbers values, in fewest to most samples.
	learnedNumbers = 1 << 22
	fewest, most   = 128, 4096
	negligible     = 1e-12 // directions with less variance, relative to the largest, are rounding errors
	rounding       = 1e-28 // less variation, relative to the sum of squares, is rounding error

	rowsAtOnce = 256
)

// Rows returns the coordinates of the n rows of x along their first d principal directions, or fewer if the rows have lower
// rank. With unit, rows are scaled to unit length first. The directions are computed from at most a few thousand equally
// spaced rows by subspace iteration. Values must be finite. Rows are rescaled, so coordinates do not overflow.
func Rows(ctx context.Context, x *mat.Dense, unit bool, d int) (*Points, error) {
	n, m := x.Dims()
	if n == 0 || m == 0 || d < 1 {
		return &Points{N: n}, ctx.Err()
	}
	scales := rowScales(x, unit)
	s := min(n, max(fewest, min(most, learnedNumbers/m)))
	learned := mat.NewDense(s, m, nil)
	mean := make([]float64, m)
	for a := range s {
		row := learned.RawRowView(a)
		i := a * n / s
		floats.ScaleTo(row, scales[i], x.RawRowView(i))
		floats.Add(mean, row)
	}
	floats.Scale(1/float64(s), mean)
	before, after := 0.0, 0.0 // sums of squares
	for a := range s {
		row := learned.RawRowView(a)
		before += elementary.Dot(row, row)
		floats.Sub(row, mean)
		after += elementary.Dot(row, row)
	}
	if after <= rounding*before {
		return &Points{N: n}, nil
	}
	directions, err := principal(ctx, learned, min(d, s, m))
	if err != nil || directions == nil {
		return &Points{N: n}, err
	}
	_, d = directions.Dims()
	middle := mat.NewVecDense(d, nil)
	middle.MulVec(directions.T(), mat.NewVecDense(m, mean))
	out := &Points{N: n, D: d, Data: make([]float32, n*d)}
	err = parallel.Blocks(ctx, 0, n, rowsAtOnce, func(_, lo, hi int) {
		part := mat.NewDense(hi-lo, d, nil)
		blas.MultiplyAlone(blas.NoTrans, blas.NoTrans, 1, blas.Of[float64](x.Slice(lo, hi, 0, m).(*mat.Dense).RawMatrix()),
			blas.Of[float64](directions.RawMatrix()), 0, blas.Of[float64](part.RawMatrix()))
		for i := lo; i < hi; i++ {
			for j, v := range part.RawRowView(i - lo) {
				out.Data[i*d+j] = float32(scales[i]*v - middle.AtVec(j))
			}
		}
	})
	return out, err
}

// rowScales returns factors that scale all values to [−1, 1], or with unit the rows to unit length. The factor of
// negligible rows is then 0.
func rowScales(x *mat.Dense, unit bool) []float64 {
	n, _ := x.Dims()
	largest, scales := make([]float64, n), make([]float64, n)
	parallel.Do(n, func(i int) {
		for _, v := range x.RawRowView(i) {
			largest[i] = max(largest[i], math.Abs(v))
		}
	})
	most := max(floats.Max(largest), 1e-300)
	parallel.Do(n, func(i int) {
		switch {
		case !unit:
			scales[i] = 1 / most
		case largest[i] > 1e-150*most && largest[i] >= 1e-290:
			square := 0.0
			for _, v := range x.RawRowView(i) {
				square += (v / largest[i]) * (v / largest[i])
			}
			scales[i] = 1 / (math.Sqrt(square) * largest[i])
		}
	})
	return scales
}

// principal returns up to d principal directions of the centred rows of x as columns, or nil if all rows are equal. The
// largest entry of each direction is positive.
func principal(ctx context.Context, x *mat.Dense, d int) (*mat.Dense, error) {
	s, m := x.Dims()
	p := min(d+extra, s, m)
	random := rng.New(0, "project", m)
	basis := mat.NewDense(m, p, nil)
	for i := range basis.RawMatrix().Data {
		basis.RawMatrix().Data[i] = random.NormFloat64()
	}
	for range iterations {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		left, err := orthonormal(ctx, product(blas.NoTrans, x, basis), p)
		if left == nil || err != nil {
			return nil, err
		}
		basis = product(blas.Trans, x, left)
	}
	directions, err := orthonormal(ctx, basis, d)
	if directions == nil || err != nil {
		return nil, err
	}
	return matrix.PositiveColumns(directions), nil
}

func product(t blas.Transpose, a, b *mat.Dense) *mat.Dense {
	r, c := a.Dims()
	if t == blas.Trans {
		r = c
	}
	_, q := b.Dims()
	out := mat.NewDense(r, q, nil)
	blas.Gemm(t, blas.NoTrans, 1, a.RawMatrix(), b.RawMatrix(), 0, out.RawMatrix())
	return out
}

// orthonormal returns up to d leading left singular vectors of a, or nil if all singular values are negligible.
func orthonormal(ctx context.Context, a *mat.Dense, d int) (*mat.Dense, error) {
	_, p := a.Dims()
	values, vectors, err := eigen.Smallest(ctx, mat.NewSymDense(p, product(blas.Trans, a, a).RawMatrix().Data), p)
	if err != nil {
		return nil, err
	}
	kept := 0
	for kept < min(d, p) && values[p-1-kept] > max(negligible*values[p-1], 1e-290) {
		kept++
	}
	if kept == 0 {
		return nil, nil
	}
	to := mat.NewDense(p, kept, nil)
	for j := range kept {
		for i := range p {
			to.Set(i, j, vectors.At(i, p-1-j)/math.Sqrt(values[p-1-j]))
		}
	}
	return product(blas.NoTrans, a, to), nil
}

// Codes returns the first min(d, D) coordinates of each point as bytes with a common scale, so that distances of
// codes are nearly proportional to distances of points. Values beyond four standard deviations of the first
// coordinate are clipped.
func (p *Points) Codes(d int) (codes []int8, of int) {
	of = min(d, p.D)
	first := 0.0
	for i := range p.N {
		if of > 0 {
			first += float64(p.At(i)[0]) * float64(p.At(i)[0])
		}
	}
	scale := 0.0
	if first > 0 {
		scale = 127 / (4 * math.Sqrt(first/float64(p.N)))
	}
	codes = make([]int8, 0, p.N*of)
	for i := range p.N {
		for _, v := range p.At(i)[:of] {
			codes = append(codes, int8(math.Round(max(-127, min(127, scale*float64(v))))))
		}
	}
	return codes, of
}
