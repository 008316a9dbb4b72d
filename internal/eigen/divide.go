package eigen

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/parallel"
)

// leaf is the size of a tridiagonal matrix that is not divided.
const leaf = 32

// divide finds the eigenvalues of T, and all that its eigenvectors are made of: T is two
// smaller tridiagonal matrices and one of rank 1, and with the eigenvectors of the two it is
// a diagonal matrix and one of rank 1 (Cuppen 1981), whose eigenvectors are found from its
// eigenvalues such that they are orthogonal (Gu and Eisenstat 1994, as LAPACK's dstedc). It
// takes some 4n³/3 operations or fewer, nearly all of them within products of matrices. T has
// numbers near 1 or below.
func (t *tridiagonal) divide(ctx context.Context) (*joined, error) {
	d := slices.Clone(t.d)
	if t.n <= leaf {
		values, z, err := solveLeaf(d, t.e)
		if err != nil {
			return nil, err
		}
		return &joined{n: t.n, values: values, deflated: z}, nil
	}
	return divide(ctx, d, t.e)
}

// divide divides a tridiagonal matrix of more than leaf rows. It overwrites d.
func divide(ctx context.Context, d, e []float64) (*joined, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	n, at := len(d), len(d)/2
	between := e[at-1]
	d[at-1] -= math.Abs(between)
	d[at] -= math.Abs(between)
	sides := [2]struct{ d, e []float64 }{{d[:at], e[:at-1]}, {d[at:], e[at:]}}
	var values, vectors [2][]float64
	var errs [2]error
	parallel.DoWork(n*n*n, 2, func(i int) {
		side := sides[i]
		if len(side.d) <= leaf {
			values[i], vectors[i], errs[i] = solveLeaf(side.d, side.e)
			return
		}
		j, err := divide(ctx, side.d, side.e)
		if errs[i] = err; err == nil {
			values[i], vectors[i] = j.values, make([]float64, len(side.d)*len(side.d))
			j.multiply(vectors[i], 0, j.k)
			copy(vectors[i][j.k*j.n:], j.deflated)
		}
	})
	if err := cmp.Or(errs[0], errs[1]); err != nil {
		return nil, err
	}
	return join(values, vectors, between), nil
}

// mostQL bounds the steps to an eigenvalue, of which two or three do.
const mostQL = 60

// solveLeaf returns the eigenvalues of a small tridiagonal matrix and its eigenvectors as
// rows, by the implicit QL method (Dubrulle, Martin and Wilkinson 1968). It overwrites d.
func solveLeaf(d, e []float64) (values, z []float64, err error) {
	n := len(d)
	e, z = append(slices.Clone(e), 0), make([]float64, n*n)
	for i := range n {
		z[i*n+i] = 1
	}
	for first := range n {
		for step := 0; ; step++ {
			last := first
			for last < n-1 && math.Abs(e[last]) > eps*(math.Abs(d[last])+math.Abs(d[last+1]))+negligible {
				last++
			}
			if last == first {
				break
			}
			if step == mostQL {
				return nil, nil, ErrNoConvergence
			}
			stepQL(d, e, z, first, last)
		}
	}
	return d, z, nil
}

// stepQL chases one shift through rows first to last.
func stepQL(d, e, z []float64, first, last int) {
	n := len(d)
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
		rotate(z[(i+1)*n:(i+2)*n], z[i*n:(i+1)*n], c, s)
	}
	d[first] -= p
	e[first], e[last] = g, 0
}

// joined is a tridiagonal matrix whose two halves are solved. Its eigenvectors are k rows
// that are those of roots times left and right, and n−k that came of one half or the other.
type joined struct {
	n, k   int
	values []float64 // of the k, rising, and of the others in any order
	roots  *rankOne
	// Of the vectors of the halves, fromLeft have no entries right of at, and the last
	// fromRight none left of it.
	at, fromLeft, fromRight int
	left, right             []float64 // k−fromRight rows of at, k−fromLeft rows of n−at
	deflated                []float64 // (n−k)×n
}

// multiply writes rows lo to before hi of the k to z, in rows of n.
func (j *joined) multiply(z []float64, lo, hi int) {
	if hi <= lo {
		return
	}
	s := make([]float64, (hi-lo)*j.k)
	parallel.DoWork(8*len(s), hi-lo, func(r int) { j.roots.vector(lo+r, s[r*j.k:(r+1)*j.k]) })
	part := func(from, inner, columns int, of, to []float64) {
		if inner > 0 {
			blas.Gemm(blas.NoTrans, blas.NoTrans, 1,
				blas.Matrix{Rows: hi - lo, Cols: inner, Stride: j.k, Data: s[from:]},
				blas.Matrix{Rows: inner, Cols: columns, Stride: columns, Data: of},
				0, blas.Matrix{Rows: hi - lo, Cols: columns, Stride: j.n, Data: to})
			return
		}
		for r := range hi - lo {
			clear(to[r*j.n:][:columns])
		}
	}
	part(0, j.k-j.fromRight, j.at, j.left, z)
	part(j.fromLeft, j.k-j.fromLeft, j.n-j.at, j.right, z[j.at:])
}

// join joins two halves, of which the values and the vectors in rows are known, by the
// number beside the diagonal between them. It overwrites both.
func join(values, vectors [2][]float64, between float64) *joined {
	at, n := len(values[0]), len(values[0])+len(values[1])
	d := slices.Concat(values[0], values[1])
	rows, z := make([]sides, n), make([]float64, n)
	largest := 0.0
	for i := range n {
		if i < at {
			rows[i][0] = vectors[0][i*at : (i+1)*at]
			z[i] = rows[i][0][at-1] / math.Sqrt2
		} else {
			rows[i][1] = vectors[1][(i-at)*(n-at) : (i-at+1)*(n-at)]
			z[i] = math.Copysign(1, between) * rows[i][1][0] / math.Sqrt2
		}
		largest = max(largest, math.Abs(d[i]), math.Abs(z[i]))
	}
	rho := 2 * math.Abs(between)
	kept, gone := deflate(d, z, rho, 8*eps*largest, rows)

	dk, zk := make([]float64, len(kept)), make([]float64, len(kept))
	for r, i := range kept {
		dk[r], zk[r] = d[i], z[i]
	}
	j := &joined{n: n, k: len(kept), at: at, roots: solveRankOne(dk, zk, rho), deflated: make([]float64, len(gone)*n)}
	j.values = j.roots.values()
	for r, i := range gone {
		j.values = append(j.values, d[i])
		copy(j.deflated[r*n:], rows[i][0])
		copy(j.deflated[r*n+at:], rows[i][1])
	}
	j.arrange(kept, rows, vectors)
	return j
}

// arrange moves the kept vectors of each half to one end of its memory, those of one half alone first on the left
// and last on the right, and brings the entries of the roots' vectors in the same order.
func (j *joined) arrange(kept []int, rows []sides, vectors [2][]float64) {
	order := slices.Clone(kept)
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(rows[a].where()-rows[b].where(), a-b) })
	place := make([]int, j.n)
	var count [3]int
	for p, i := range order {
		place[i] = p
		count[rows[i].where()]++
	}
	j.fromLeft, j.fromRight = count[leftOnly], count[rightOnly]
	j.roots.arrange(func(r int) int { return place[kept[r]] })

	move := func(to, row []float64) {
		if &to[0] != &row[0] {
			copy(to, row)
		}
	}
	// None is written where one lies that is still to be moved.
	width := j.at
	j.left = vectors[0][:(j.k-j.fromRight)*width]
	for p, i := range order[:j.k-j.fromRight] {
		move(j.left[p*width:], rows[i][0])
	}
	width = j.n - j.at
	j.right = vectors[1][len(vectors[1])-(j.k-j.fromLeft)*width:]
	for p, i := range slices.Backward(order[j.fromLeft:]) {
		move(j.right[p*width:], rows[i][1])
	}
}

// sides are the entries of a vector in each half, nil where all are 0. Those of a vector of one half alone lie in the
// half's memory, those of others by themselves.
type sides [2][]float64

// Where a vector has entries.
const (
	leftOnly = iota
	both
	rightOnly
)

func (x *sides) where() int {
	switch {
	case x[1] == nil:
		return leftOnly
	case x[0] == nil:
		return rightOnly
	}
	return both
}

// turn turns two vectors in their plane.
func turn(x, y *sides, c, s float64) {
	apart := x.where() != y.where()
	for side := range x {
		if apart {
			n := max(len(x[side]), len(y[side]))
			x[side], y[side] = lengthened(x[side], n), lengthened(y[side], n)
		}
		rotate(x[side], y[side], c, s)
	}
}

// lengthened returns a copy of x with zeros behind it, n numbers in all.
func lengthened(x []float64, n int) []float64 {
	out := make([]float64, n)
	copy(out, x)
	return out
}

// deflate parts the eigenvalues d, of vectors in rows, into those that ρzzᵀ moves, which it
// returns rising, and those that stay. Of two that are as good as the same it turns the
// vectors until one stays.
func deflate(d, z []float64, rho, tolerance float64, rows []sides) (kept, gone []int) {
	order := make([]int, len(d))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(d[a], d[b]) })
	last := -1
	for _, i := range order {
		switch {
		case rho*math.Abs(z[i]) <= tolerance:
			gone = append(gone, i)
			continue
		case last < 0:
			last = i
			continue
		}
		length := elementary.Hypot(z[i], z[last])
		c, s := z[i]/length, -z[last]/length
		if math.Abs((d[i]-d[last])*c*s) > tolerance {
			kept = append(kept, last)
			last = i
			continue
		}
		z[i], z[last] = length, 0
		turn(&rows[last], &rows[i], c, s)
		d[last], d[i] = float64(d[last]*c*c)+float64(d[i]*s*s), float64(d[last]*s*s)+float64(d[i]*c*c)
		gone = append(gone, last)
		last = i
	}
	if last >= 0 {
		kept = append(kept, last)
	}
	return kept, gone
}
