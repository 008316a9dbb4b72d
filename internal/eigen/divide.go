package eigen

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/parallel"
)

// leaf is the largest size of a tridiagonal matrix that is not divided.
const leaf = 32

// joined is the eigendecomposition of a tridiagonal matrix by divide and conquer: it is split into two smaller matrices
// and a rank-one term (Cuppen 1981). In the basis of their eigenvectors it is diagonal plus rank one. Its eigenvectors are
// computed from its eigenvalues so that they are orthogonal (Gu and Eisenstat 1994; LAPACK's dstedc).
type joined struct {
	values []float64  // eigenvalues, unordered
	halves *mat.Dense // eigenvectors of both halves as rows; for deflated values also eigenvectors of the whole
	roots  *rankOne   // the values that are not deflated
}

// divide computes the eigenvalues of the tridiagonal matrix with diagonal d, which it overwrites, and off-diagonal e.
// Entries must be of magnitude about 1 or less. It writes the eigenvectors of both halves to z, n×n, which must be 0.
func divide(ctx context.Context, d, e []float64, z *mat.Dense) (*joined, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	n, at := len(d), len(d)/2
	if n <= leaf {
		return &joined{d, z, &rankOne{}}, solveLeaf(d, e, z)
	}
	between := e[at-1]
	d[at-1] -= math.Abs(between)
	d[at] -= math.Abs(between)
	var errs [2]error
	parallel.DoWork(n*n*n, 2, func(i int) {
		lo, hi := i*at, at+i*(n-at)
		half, err := divide(ctx, d[lo:hi], e[lo:hi-1], z.Slice(lo, hi, lo, hi).(*mat.Dense))
		if errs[i] = err; err == nil {
			half.finish()
		}
	})
	return &joined{d, z, join(d, z, between)}, cmp.Or(errs[0], errs[1])
}

// vectors returns the eigenvectors of the given values as rows.
func (j *joined) vectors(which []int) *mat.Dense {
	n := len(j.values)
	s, z := mat.NewDense(len(which), n, nil), mat.NewDense(len(which), n, nil)
	parallel.DoWork(8*len(which)*n, len(which), func(p int) {
		if r := slices.Index(j.roots.at, which[p]); r >= 0 {
			j.roots.vector(r, s.RawRowView(p))
		} else {
			s.Set(p, which[p], 1)
		}
	})
	parts := [][2]int{{0, n}}
	if j.roots.apart {
		parts = [][2]int{{0, n / 2}, {n / 2, n}}
	}
	for _, at := range parts {
		part := func(x *mat.Dense, rows int) blas.Matrix {
			return x.Slice(0, rows, at[0], at[1]).(*mat.Dense).RawMatrix()
		}
		half := j.halves.Slice(at[0], n, 0, n).(*mat.Dense)
		blas.Gemm(blas.NoTrans, blas.NoTrans, 1, part(s, len(which)), part(half, at[1]-at[0]), 0, part(z, len(which)))
	}
	return z
}

// finish replaces the eigenvectors of the halves by the eigenvectors of the whole matrix.
func (j *joined) finish() {
	blocks := slices.Collect(slices.Chunk(j.roots.at, blockSize))
	done := lists.Map(blocks, j.vectors)
	for b, which := range blocks {
		for p, i := range which {
			copy(j.halves.RawRowView(i), done[b].RawRowView(p))
		}
	}
}

// join updates d, the eigenvalues of both halves with eigenvectors z, to the eigenvalues of the whole matrix. between
// is the off-diagonal entry between the halves.
func join(d []float64, z *mat.Dense, between float64) *rankOne {
	n, at := len(d), len(d)/2
	weights := make([]float64, n)
	largest := 0.0
	for i := range n {
		if i < at {
			weights[i] = z.At(i, at-1) / math.Sqrt2
		} else {
			weights[i] = math.Copysign(1, between) * z.At(i, at) / math.Sqrt2
		}
		largest = max(largest, math.Abs(d[i]), math.Abs(weights[i]))
	}
	rho := 2 * math.Abs(between)
	m := &rankOne{}
	m.at, m.apart = deflate(d, weights, rho, 8*eps*largest, z)
	for _, i := range m.at {
		m.d, m.z = append(m.d, d[i]), append(m.z, weights[i])
	}
	m.solve(rho)
	for r, i := range m.at {
		d[i] = m.origin[r] + m.tau[r]
	}
	return m
}

// deflate returns the indices, in increasing order of value, of the eigenvalues d that ρzzᵀ changes. For two nearly equal
// values it rotates their eigenvectors, in rows, so that one value is unchanged. apart is false if it rotates vectors of
// different halves.
func deflate(d, z []float64, rho, tolerance float64, rows *mat.Dense) (moved []int, apart bool) {
	apart = true
	for _, i := range elementary.Order(len(d), func(a, b int) int { return cmp.Compare(d[a], d[b]) }) {
		if rho*math.Abs(z[i]) <= tolerance {
			continue
		}
		if len(moved) > 0 {
			last := moved[len(moved)-1]
			length := elementary.Hypot(z[i], z[last])
			c, s := z[i]/length, -z[last]/length
			if math.Abs((d[i]-d[last])*c*s) <= tolerance {
				z[i], z[last] = length, 0
				apart = apart && (last < len(d)/2) == (i < len(d)/2)
				rotate(rows.RawRowView(last), rows.RawRowView(i), c, s)
				d[last], d[i] = float64(d[last]*c*c)+float64(d[i]*s*s), float64(d[last]*s*s)+float64(d[i]*c*c)
				moved = moved[:len(moved)-1]
			}
		}
		moved = append(moved, i)
	}
	return moved, apart
}

// mostQL bounds the steps per eigenvalue; two or three are usual.
const mostQL = 60

// solveLeaf replaces d by the eigenvalues of a small tridiagonal matrix and writes its eigenvectors to the rows of z, by
// the implicit QL method (Dubrulle, Martin and Wilkinson 1968).
func solveLeaf(d, e []float64, z *mat.Dense) error {
	n := len(d)
	e = append(slices.Clone(e), 0)
	negligible := eps * (elementary.Largest(d) + elementary.Largest(e))
	for i := range n {
		z.Set(i, i, 1)
	}
	for first := range n {
		for step := 0; ; step++ {
			last := first
			for last < n-1 && math.Abs(e[last]) > negligible {
				last++
			}
			if last == first {
				break
			}
			if step == mostQL {
				return ErrNoConvergence
			}
			stepQL(d, e, z, first, last)
		}
	}
	return nil
}

// stepQL performs one implicit QL step on rows first to last.
func stepQL(d, e []float64, z *mat.Dense, first, last int) {
	g := (d[first+1] - d[first]) / (2 * e[first])
	g = d[last] - d[first] + e[first]/(g+math.Copysign(elementary.Hypot(g, 1), g))
	s, c, p := 1.0, 1.0, 0.0
	for i := last - 1; i >= first; i-- {
		f, b := s*e[i], float64(c*e[i])
		r := elementary.Hypot(f, g)
		if e[i+1] = r; r == 0 {
			d[i+1] -= p
			e[last] = 0
			return
		}
		s, c = f/r, g/r
		g = d[i+1] - p
		r = float64((d[i]-g)*s) + float64(2*c*b)
		p = float64(s * r)
		d[i+1] = g + p
		g = float64(c*r) - b
		rotate(z.RawRowView(i+1), z.RawRowView(i), c, s)
	}
	d[first] -= p
	e[first], e[last] = g, 0
}
