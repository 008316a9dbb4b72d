package eigen

import (
	"cmp"
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/elementary"
)

// mostSweeps bounds the sweeps over all pairs of rows; a few suffice.
const mostSweeps = 60

// Singular returns the thin singular value decomposition of a, n×m: the min(n, m) singular values in decreasing
// order, and the singular vectors as the columns of u, n×min(n, m), and v, m×min(n, m).
//
// Rows are rotated until they are orthogonal (Hestenes 1958). The start in the eigenvectors of aaᵀ makes them
// orthogonal up to rounding, so that few rotations remain.
func Singular(ctx context.Context, a *mat.Dense) (sigma []float64, u, v *mat.Dense, err error) {
	n, m := a.Dims()
	if n > m {
		sigma, v, u, err = Singular(ctx, mat.DenseCopyOf(a.T()))
		return sigma, u, v, err
	}
	scale, err := scaleOf(n, a.RawRowView)
	if err != nil {
		return nil, nil, nil, err
	}
	var scaled mat.Dense
	scaled.Apply(func(_, _ int, x float64) float64 { return x / scale }, a)
	gram := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			gram.SetSym(i, j, elementary.Dot(scaled.RawRowView(i), scaled.RawRowView(j)))
		}
	}
	_, first, err := Smallest(ctx, gram, n)
	if err != nil {
		return nil, nil, nil, err
	}
	left := mat.DenseCopyOf(first.T())
	Orthonormalise(left)
	right := mat.NewDense(n, m, nil)
	blas.Gemm(blas.NoTrans, blas.NoTrans, 1, left.RawMatrix(), scaled.RawMatrix(), 0, right.RawMatrix())
	if err := orthogonalise(ctx, right, left); err != nil {
		return nil, nil, nil, err
	}
	sigma = make([]float64, n)
	lengths := make([]float64, n)
	for i := range n {
		lengths[i] = elementary.Norm(right.RawRowView(i))
	}
	order := elementary.Order(n, func(i, j int) int { return cmp.Compare(lengths[j], lengths[i]) })
	rows, columns := mat.NewDense(n, n, nil), mat.NewDense(n, m, nil)
	for at, i := range order {
		sigma[at] = lengths[i]
		copy(rows.RawRowView(at), left.RawRowView(i))
		copy(columns.RawRowView(at), right.RawRowView(i))
	}
	Orthonormalise(columns) // changes only directions of negligible values
	return sigma, mat.DenseCopyOf(rows.T()), mat.DenseCopyOf(columns.T()), rescale(sigma, scale)
}

// orthogonalise makes the rows of x orthogonal by rotations of pairs, and applies the rotations to the rows of y.
func orthogonalise(ctx context.Context, x, y *mat.Dense) error {
	n, m := x.Dims()
	squares := make([]float64, n)
	for range mostSweeps {
		largest, rotated := 0.0, false
		for i := range n {
			row := x.RawRowView(i)
			squares[i] = elementary.Dot(row, row)
			largest = max(largest, squares[i])
		}
		for i := range n {
			if err := ctx.Err(); err != nil {
				return err
			}
			for j := i + 1; j < n; j++ {
				p, q := x.RawRowView(i), x.RawRowView(j)
				product := elementary.Dot(p, q)
				if math.Abs(product) <= float64(m)*eps*(math.Sqrt(squares[i]*squares[j])+eps*largest) {
					continue
				}
				rotated = true
				zeta := (squares[j] - squares[i]) / (2 * product)
				t := math.Copysign(1, zeta) / (math.Abs(zeta) + math.Sqrt(1+float64(zeta*zeta)))
				c := 1 / math.Sqrt(1+float64(t*t))
				rotate(q, p, c, c*t)
				rotate(y.RawRowView(j), y.RawRowView(i), c, c*t)
				squares[i], squares[j] = elementary.Dot(p, p), elementary.Dot(q, q)
			}
		}
		if !rotated {
			return nil
		}
	}
	return ErrNoConvergence
}

// Orthonormalise orthonormalises the rows of a by Gram-Schmidt; a must not have more rows than columns. A row that
// depends on earlier rows is replaced by a new direction.
func Orthonormalise(a *mat.Dense) {
	n, m := a.Dims()
	next := 0 // the next coordinate vector to try for a dependent row
	for i := range n {
		row := a.RawRowView(i)
		for before := elementary.Norm(row); ; before = 1 {
			for range 2 { // twice is enough for orthogonality to working precision
				for j := range i {
					addScaled(row, -elementary.Dot(row, a.RawRowView(j)), a.RawRowView(j))
				}
			}
			if length := elementary.Norm(row); length > float64(m)*4*eps*before {
				floats.Scale(1/length, row)
				break
			}
			clear(row)
			row[next%m] = 1
			next++
		}
	}
}
