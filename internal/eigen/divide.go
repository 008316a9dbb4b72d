package eigen

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/gonum"

	"github.com/seed4492f2cd/partwise/internal/blas"
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

// solveLeaf returns the eigenvalues of a small tridiagonal matrix and its eigenvectors as
// rows. It overwrites d.
func solveLeaf(d, e []float64) (values, z []float64, err error) {
	n := len(d)
	columns := make([]float64, n*n)
	work := make([]float64, max(1, 2*n-2))
	if !(gonum.Implementation{}).Dsteqr(lapack.EVTridiag, n, d, slices.Clone(e), columns, max(n, 1), work) {
		return nil, nil, ErrNoConvergence
	}
	z = make([]float64, n*n)
	for i := range n {
		for j := range n {
			z[j*n+i] = columns[i*n+j]
		}
	}
	return d, z, nil
}

// joined is a tridiagonal matrix whose two halves are solved. Its eigenvectors are k rows
// that are s times left and right, and n−k that came of one half or the other.
type joined struct {
	n, k   int
	values []float64 // of the k, rising, and of the others in any order
	// Of the vectors of the halves, fromLeft have no entries right of at, and the last
	// fromRight none left of it.
	at, fromLeft, fromRight int
	left, right             []float64 // k−fromRight rows of at, k−fromLeft rows of n−at
	s                       []float64 // k×k
	deflated                []float64 // (n−k)×n
}

// multiply writes rows lo to before hi of the k to z, in rows of n.
func (j *joined) multiply(z []float64, lo, hi int) {
	if hi <= lo {
		return
	}
	part := func(from, inner, columns int, of, to []float64) {
		if inner > 0 {
			blas.Gemm(blas.NoTrans, blas.NoTrans, 1,
				blas.Matrix{Rows: hi - lo, Cols: inner, Stride: j.k, Data: j.s[lo*j.k+from:]},
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
	rows, z := make([]float64, n*n), make([]float64, n)
	largest := 0.0
	for i := range n {
		if i < at {
			copy(rows[i*n:], vectors[0][i*at:(i+1)*at])
			z[i] = rows[i*n+at-1] / math.Sqrt2
		} else {
			copy(rows[i*n+at:], vectors[1][(i-at)*(n-at):(i-at+1)*(n-at)])
			z[i] = math.Copysign(1, between) * rows[i*n+at] / math.Sqrt2
		}
		largest = max(largest, math.Abs(d[i]), math.Abs(z[i]))
	}
	rho := 2 * math.Abs(between)
	kept, gone, support := deflate(d, z, rho, 8*eps*largest, rows, at)

	j := &joined{n: n, k: len(kept), at: at, deflated: make([]float64, 0, len(gone)*n)}
	for _, i := range gone {
		j.deflated = append(j.deflated, rows[i*n:(i+1)*n]...)
	}
	var count [3]int
	for _, i := range kept {
		count[support[i]]++
	}
	j.fromLeft, j.fromRight = count[leftOnly], count[rightOnly]
	j.left = make([]float64, 0, (j.k-j.fromRight)*at)
	j.right = make([]float64, 0, (j.k-j.fromLeft)*(n-at))
	place := make([]int, j.k) // of the kept, by where they have entries
	next := 0
	for where := range count {
		for r, i := range kept {
			if support[i] != where {
				continue
			}
			place[r] = next
			next++
			if where != rightOnly {
				j.left = append(j.left, rows[i*n:i*n+at]...)
			}
			if where != leftOnly {
				j.right = append(j.right, rows[i*n+at:(i+1)*n]...)
			}
		}
	}
	dk, zk := make([]float64, j.k), make([]float64, j.k)
	for r, i := range kept {
		dk[r], zk[r] = d[i], z[i]
	}
	j.values, j.s = rankOne(dk, zk, rho, place)
	for _, i := range gone {
		j.values = append(j.values, d[i])
	}
	return j
}

// Where a vector has entries.
const (
	leftOnly = iota
	both
	rightOnly
)

// deflate parts the eigenvalues d, of vectors in rows, into those that ρzzᵀ moves, which it
// returns rising, and those that stay. Of two that are as good as the same it turns the
// vectors until one stays.
func deflate(d, z []float64, rho, tolerance float64, rows []float64, at int) (kept, gone, support []int) {
	n := len(d)
	order := make([]int, n)
	support = make([]int, n)
	for i := range n {
		order[i] = i
		if i >= at {
			support[i] = rightOnly
		}
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
		length := math.Hypot(z[i], z[last])
		c, s := z[i]/length, -z[last]/length
		if math.Abs((d[i]-d[last])*c*s) > tolerance {
			kept = append(kept, last)
			last = i
			continue
		}
		z[i], z[last] = length, 0
		if support[i] != support[last] {
			support[i] = both
		}
		x, y := rows[last*n:(last+1)*n], rows[i*n:(i+1)*n]
		for p := range x {
			x[p], y[p] = c*x[p]+s*y[p], c*y[p]-s*x[p]
		}
		d[last], d[i] = d[last]*c*c+d[i]*s*s, d[last]*s*s+d[i]*c*c
		gone = append(gone, last)
		last = i
	}
	if last >= 0 {
		kept = append(kept, last)
	}
	return kept, gone, support
}

// rankOne returns the eigenvalues of diag(d) + ρzzᵀ, rising, and the eigenvectors as rows
// of k, entry i of each at place[i]. d is rising, with distances and entries of z that are
// not negligible.
func rankOne(d, z []float64, rho float64, place []int) (values, s []float64) {
	k := len(d)
	values, s = make([]float64, k), make([]float64, k*k)
	from := make([]float64, k*k) // row r: d − value r
	parallel.DoWork(64*k*k, k, func(r int) { values[r] = secular(r, d, z, rho, from[r*k:(r+1)*k]) })

	// z such that these values are exact: then the vectors are orthogonal.
	exact := make([]float64, k)
	for i := range exact {
		exact[i] = from[i*k+i]
	}
	for r := range k {
		row := from[r*k : (r+1)*k]
		for i := range r {
			exact[i] *= row[i] / (d[i] - d[r])
		}
		for i := r + 1; i < k; i++ {
			exact[i] *= row[i] / (d[i] - d[r])
		}
	}
	for i := range exact {
		exact[i] = math.Copysign(math.Sqrt(math.Abs(exact[i])), z[i])
	}
	parallel.DoWork(8*k*k, k, func(r int) {
		row, sum := from[r*k:(r+1)*k], 0.0
		for i := range row {
			row[i] = exact[i] / row[i]
			sum += row[i] * row[i]
		}
		length := math.Sqrt(sum)
		for i, x := range row {
			s[r*k+place[i]] = x / length
		}
	})
	return values, s
}

// mostSecular bounds the steps to a root; bisection alone takes fewer.
const mostSecular = 400

// secular returns root r of 1/ρ + Σ z_i²/(d_i − x), which lies between d_r and the next, and
// sets from to d − x, each to its last digits. It goes from one rational interpolation to the
// next (Li 1994, the middle way; LAPACK's dlaed4), and bisects where one leaves the bracket.
func secular(r int, d, z []float64, rho float64, from []float64) float64 {
	k, inverse := len(d), 1/rho
	last := r == k-1
	var gap float64
	if last {
		for _, x := range z {
			gap += x * x
		}
		gap *= rho * (1 + 16*eps)
	} else {
		gap = d[r+1] - d[r]
	}
	// The nearer end is where x is counted from.
	origin, tau := r, gap/2
	lower, upper := 0.0, gap
	for i, x := range d {
		from[i] = x - d[r]
	}
	w, psi, phi, _, _, _ := sums(r, from, z, inverse, tau)
	if !last {
		a, b := z[r]*z[r], z[r+1]*z[r+1]
		rest := inverse + (psi + a/tau) + (phi - b/tau)
		if w >= 0 {
			upper = tau
			tau = quadratic(rest, rest*gap+a+b, a*gap)
		} else {
			origin, lower, upper = r+1, -tau, 0
			for i, x := range d {
				from[i] = x - d[r+1]
			}
			tau = quadratic(rest, -rest*gap+a+b, -b*gap)
		}
		if !(tau > lower && tau < upper) {
			tau = lower + (upper-lower)/2
		}
	} else if w >= 0 {
		upper = tau
	} else {
		lower = tau
	}
	before := math.Inf(1)
	for range mostSecular {
		w, psi, phi, dpsi, dphi, err := sums(r, from, z, inverse, tau)
		if w >= 0 {
			upper = min(upper, tau)
		} else {
			lower = max(lower, tau)
		}
		if math.Abs(w) <= eps*(err+8*(phi-psi)+2*inverse+math.Abs(tau)*(dpsi+dphi)) {
			break
		}
		left := from[r] - tau
		right := gap + left
		if !last {
			right = from[r+1] - tau
		}
		step := quadratic(w-left*dpsi-right*dphi, (left+right)*w-left*right*(dpsi+dphi), left*right*w)
		if !(w*step < 0) {
			step = -w / (dpsi + dphi)
		}
		next := tau + step
		if !(next > lower && next < upper) || math.Abs(w) > before/4 {
			next = lower + (upper-lower)/2
		}
		before = math.Abs(w)
		if next <= lower || next >= upper {
			break
		}
		tau = next
	}
	for i := range from {
		from[i] -= tau
	}
	return d[origin] + tau
}

// sums returns 1/ρ + Σ z_i²/(from_i − τ), the parts of that sum up to r and beyond, their
// derivatives, and in units of eps what rounding may have left in them.
func sums(r int, from, z []float64, inverse, tau float64) (w, psi, phi, dpsi, dphi, err float64) {
	for i, x := range from[:r+1] {
		t := z[i] / (x - tau)
		psi += z[i] * t
		dpsi += t * t
		err -= psi
	}
	for i := len(from) - 1; i > r; i-- {
		t := z[i] / (from[i] - tau)
		phi += z[i] * t
		dphi += t * t
		err += phi
	}
	return inverse + psi + phi, psi, phi, dpsi, dphi, err
}

// quadratic returns the root x of c·x² − a·x + b = 0 that is b/a where c is 0, without
// cancellation.
func quadratic(c, a, b float64) float64 {
	root := math.Sqrt(math.Abs(a*a - 4*b*c))
	if a <= 0 {
		return (a - root) / (2 * c)
	}
	return 2 * b / (a + root)
}
