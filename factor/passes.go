package factor

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/eigen"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/matrix"
)

// A pass over samples that are spread over machines returns sums, which are added number by number and then update the
// basis. Sums depend on the samples and the basis alone, because each pass minimises over the coefficients again.

// Sums returns the sums of the samples of x at the basis vectors u, m×k. The last one is the cost at u and the
// coefficients that minimise it.
func (b MiniBatch) Sums(ctx context.Context, u *mat.Dense, x Blocks) (sums []float64, err error) {
	defer guard.Catch(&err)
	parts := b.parts()
	m, k := u.Dims()
	online, first := parts.online(algebra.Transpose(u))
	cost := 0.0
	guard.Check(EachBlock(ctx, x, m, func(from int, rows *mat.Dense) error {
		p, _ := rows.Dims()
		block, v := &block{x: rows}, mat.NewDense(k, p, slices.Repeat([]float64{first}, k*p))
		for i := range p {
			block.samples = append(block.samples, from+i)
		}
		block.check(&parts)
		cost += online.represent(ctx, block, v, ofSums)
		online.add(1)
		return nil
	}))
	sums = append(slices.Concat(online.statistics()...), cost)
	guard.FailIf(!finite(sums), "the sums of the samples overflow")
	return sums, nil
}

// Update returns the basis vectors, m×k, that minimise the cost, or a bound of it, given the sums of all samples at u.
func (b MiniBatch) Update(ctx context.Context, u *mat.Dense, sums []float64) (_ *mat.Dense, err error) {
	defer guard.Catch(&err)
	parts := b.parts()
	next := algebra.Transpose(u)
	online, _ := parts.online(next)
	for _, statistics := range online.statistics() {
		sums = sums[copy(statistics, sums):]
	}
	guard.FailIf(len(sums) != 1, "the sums do not fit %v basis vectors", next.RawMatrix().Rows)
	guard.Check(online.minimise(ctx))
	guard.FailIf(!algebra.Finite(next), "the basis vectors overflow")
	return algebra.Transpose(next), nil
}

// Moments returns the number of samples of x, and the sums of x − about, m values, and of its outer products, m×m.
func (PCA) Moments(ctx context.Context, about []float64, x Blocks) ([]float64, error) {
	m := len(about)
	sums := make([]float64, 1+m+m*m)
	products := blas.Matrix{Rows: m, Cols: m, Stride: m, Data: sums[1+m:]}
	err := EachBlock(ctx, x, m, func(_ int, rows *mat.Dense) error {
		for i := range rows.RawMatrix().Rows {
			row := rows.RawRowView(i)
			for j := range row {
				row[j] -= about[j]
				sums[1+j] += row[j]
			}
			sums[0]++
		}
		blas.Gemm(blas.Trans, blas.NoTrans, 1, rows.RawMatrix(), rows.RawMatrix(), 1, products)
		return nil
	})
	if err == nil && !finite(sums) {
		err = errors.New("the sums of the samples overflow")
	}
	return sums, err
}

// FromMoments returns the rank leading directions of the samples with these moments, and the squared error that they leave.
func (PCA) FromMoments(ctx context.Context, rank int, about, sums []float64) (*Linear, float64, error) {
	m, n := len(about), sums[0]
	if most := min(int(n)-1, m); rank < 1 || rank > most {
		return nil, 0, fmt.Errorf("rank %d: expected 1 to %d, the smaller of the number of samples less 1 and of features", rank, most)
	}
	mean, scatter := slices.Clone(about), mat.NewSymDense(m, slices.Clone(sums[1+m:]))
	left := 0.0
	for j, a := range sums[1 : 1+m] {
		mean[j] += a / n
		for l, b := range sums[1+j : 1+m] {
			scatter.SetSym(j, j+l, scatter.At(j, j+l)-a*b/n)
		}
		left += scatter.At(j, j)
	}
	values, directions, err := eigen.Largest(ctx, scatter, rank)
	if err != nil {
		return nil, 0, err
	}
	return &Linear{Mean: mean, Projection: matrix.PositiveColumns(directions)}, max(0, left-elementary.Sum(values)), nil
}

// EachBlock calls f with successive blocks of x, which must have m features, and the first sample of each.
func EachBlock(ctx context.Context, x Blocks, m int, f func(from int, rows *mat.Dense) error) error {
	n, features := x.Dims()
	if features != m {
		return fmt.Errorf("the samples have %d features; expected %d, as in the basis vectors", features, m)
	}
	buffer := mat.NewDense(max(1, min(n, DefaultBlock)), m, nil)
	for from := 0; from < n; from += DefaultBlock {
		rows := buffer.Slice(0, min(DefaultBlock, n-from), 0, m).(*mat.Dense)
		err := ctx.Err()
		if err == nil {
			err = x.Read(ctx, from, rows)
		}
		if err == nil {
			err = f(from, rows)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func finite(values []float64) bool {
	return !slices.ContainsFunc(values, func(x float64) bool { return !algebra.FiniteNumber(x) })
}
