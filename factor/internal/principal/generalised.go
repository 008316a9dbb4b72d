package principal

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/eigen"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/simd"
	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// Fewest returns the smallest number of leading directions that hold the share of the variance.
func Fewest(sigma []float64, share float64) int {
	// Relative to the first, because squares of small values would underflow.
	var total, sum float64
	for _, s := range sigma {
		total += (s / sigma[0]) * (s / sigma[0])
	}
	for q, s := range sigma {
		sum += (s / sigma[0]) * (s / sigma[0])
		if sum >= (share-1e-12)*total {
			return q + 1
		}
	}
	return len(sigma)
}

// Scatter returns aᵀa.
func Scatter(a *mat.Dense) *mat.SymDense {
	return SymmetricProduct(a, algebra.Trans, a, algebra.NoTrans)
}

// GraphScatter returns yᵀLy = ½·Σ s_ij·(y_i − y_j)(y_i − y_j)ᵀ, q×q, for a graph s over the rows of y.
func GraphScatter(y *mat.Dense, s *sparse.CSR) *mat.SymDense {
	const most = 256 // rows of L·y at a time, to fit into the cache
	n, q := y.Dims()
	width := simd.Width(q)
	if y.RawMatrix().Stride != width {
		whole := algebra.Padded(n, q)
		whole.Copy(y)
		y = whole
	}
	rows := y.RawMatrix().Data
	ly := make([]float64, min(n, most)*width)
	out := mat.NewSymDense(q, nil)
	var minus []float64
	for lo := 0; lo < n; lo += most {
		hi := min(lo+most, n)
		clear(ly)
		for i := lo; i < hi; i++ {
			cols, vals := s.Row(i)
			var degree float64
			minus = minus[:0]
			for _, v := range vals {
				degree += v
				minus = append(minus, -v)
			}
			row := ly[(i-lo)*width:][:width]
			algebra.Axpy(degree, y.RawRowView(i), row)
			simd.AddRows(row, minus, rows, cols)
		}
		part := y.Slice(lo, hi, 0, q).(*mat.Dense).RawMatrix()
		multiplyUpper(algebra.Trans, algebra.NoTrans, part, blas.Matrix{Rows: hi - lo, Cols: q, Stride: width, Data: ly}, 1, out)
	}
	return out
}

// SymmetricProduct returns op(a)·op(b), which the caller knows to be symmetric.
func SymmetricProduct(a *mat.Dense, ta blas.Transpose, b *mat.Dense, tb blas.Transpose) *mat.SymDense {
	q, c := a.Dims()
	if ta == algebra.Trans {
		q = c
	}
	out := mat.NewSymDense(q, nil)
	multiplyUpper(ta, tb, a.RawMatrix(), b.RawMatrix(), 0, out)
	return out
}

// multiplyUpper is blas.MultiplyUpper without cancellation.
func multiplyUpper(ta, tb blas.Transpose, a, b blas.Matrix, beta float64, out *mat.SymDense) {
	blas.MultiplyUpper(context.Background(), ta, tb, 1, a, b, beta, upperOf(out)) //nolint:errcheck // only cancellation fails
}

// Generalised solves a·v = λ·r·v. It returns the at most count solutions with the largest λ > 0, decreasing, as columns
// with vᵀrv = 1. Values of λ that are 0 up to rounding are left out. If r is singular to rounding, 1e-10 of
// the mean eigenvalue of a + r is added to it, so that its null directions come first.
func Generalised(ctx context.Context, a, r *mat.SymDense, count int) (_ *mat.Dense, err error) {
	defer guard.Catch(&err)
	u := root(r, mat.Trace(a))
	// With w = u·v this is the eigenproblem of u⁻ᵀ·a·u⁻¹.
	white := mat.NewSymDense(u.N, nil)
	white.CopySym(a)
	blas.Whiten(upperOf(white), u)
	_, v := positive(ctx, white, count)
	blas.Trsm(algebra.NoTrans, u, v.RawMatrix())
	return v, nil
}

// Discriminant is Generalised for a = bᵀb; b has few rows.
func Discriminant(ctx context.Context, b *mat.Dense, r *mat.SymDense, count int) (_ *mat.Dense, err error) {
	defer guard.Catch(&err)
	u := root(r, algebra.Inner(b, b))
	// With c = u⁻ᵀ·bᵀ, w is an eigenvector of c·cᵀ: c·z/√λ for z of cᵀ·c, which is small.
	c := algebra.Transpose(b)
	blas.Trsm(algebra.Trans, u, c.RawMatrix())
	lambda, z := positive(ctx, Scatter(c), count)
	z.Apply(func(_, j int, x float64) float64 { return x / math.Sqrt(lambda[j]) }, z)
	v := algebra.Times(c, z)
	blas.Trsm(algebra.NoTrans, u, v.RawMatrix())
	return v, nil
}

// root returns the Cholesky factor of r, with the multiple of I that Generalised adds; trace is a's. It calls guard.Fail.
func root(r *mat.SymDense, trace float64) blas64.Triangular {
	mean := (trace + mat.Trace(r)) / float64(r.SymmetricDim())
	u, ok := cholesky(r, 0)
	if !ok || leastValue(u, mat.Norm(r, 1)) < 1e-13*mean {
		u, ok = cholesky(r, 1e-10*mean)
		guard.FailIf(!ok, "all samples are identical")
	}
	return u
}

// positive returns the at most count largest eigenvalues of a above the rounding error of 0, decreasing, and their
// eigenvectors. It calls guard.Fail.
func positive(ctx context.Context, a *mat.SymDense, count int) ([]float64, *mat.Dense) {
	n := a.SymmetricDim()
	lambda, w, err := eigen.Largest(ctx, a, min(count, n))
	guard.Check(guard.Wrap(err, "the directions of the embedding"))
	count = len(lambda)
	for count > 1 && !(lambda[count-1] > 1e-10*lambda[0]) {
		count--
	}
	return lambda[:count], mat.DenseCopyOf(w.Slice(0, n, 0, count))
}

// cholesky returns the Cholesky factor u, upper triangular, of r + lift·I = uᵀu. ok is false if it is not positive
// definite.
func cholesky(r *mat.SymDense, lift float64) (u blas64.Triangular, ok bool) {
	lifted := mat.NewSymDense(r.SymmetricDim(), nil)
	lifted.CopySym(r)
	for i := range r.SymmetricDim() {
		lifted.SetSym(i, i, r.At(i, i)+lift)
	}
	return blas.Cholesky(upperOf(lifted))
}

// leastValue estimates 1/‖r⁻¹‖₁ for r = uᵀu; norm is ‖r‖₁.
func leastValue(u blas64.Triangular, norm float64) float64 {
	r := blas64.Symmetric{Uplo: u.Uplo, N: u.N, Stride: u.Stride, Data: u.Data}
	return norm * lapack64.Pocon(r, norm, make([]float64, 3*u.N), make([]int, u.N))
}

// upperOf returns a as a matrix of internal/blas that shares its memory and uses the upper triangle.
func upperOf(a *mat.SymDense) blas.Matrix {
	r := a.RawSymmetric()
	return blas.Matrix{Rows: r.N, Cols: r.N, Stride: r.Stride, Data: r.Data}
}
