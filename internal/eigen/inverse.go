package eigen

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/seed4492f2cd/partwise/internal/elementary"
)

// eps is the distance from 1 to the next number.
const eps = 0x1p-52

// block is a part of a tridiagonal matrix, rows from lo to before hi, that nothing joins
// to the rest.
type block struct {
	d, e   []float64
	lo, hi int
	norm   float64 // of the whole matrix
}

// pair is an eigenvalue and the block that it is of.
type pair struct {
	value float64
	block *block
}

// smallest returns the c smallest eigenvalues of T, rising, to some 1e-16 of T's norm,
// and eigenvectors of length 1 as the rows of z, c×n. It fails where the iteration does not
// converge.
func (t *tridiagonal) smallest(ctx context.Context, c int) (values, z []float64, err error) {
	n := t.n
	norm := 0.0
	for i, d := range t.d {
		sum := math.Abs(d)
		if i > 0 {
			sum += math.Abs(t.e[i-1])
		}
		if i < n-1 {
			sum += math.Abs(t.e[i])
		}
		norm = max(norm, sum)
	}
	// What is negligible beside the norm parts T.
	var pairs []pair
	for lo, hi := 0, 1; lo < n; lo, hi = hi, hi+1 {
		for hi < n && math.Abs(t.e[hi-1]) > eps*norm {
			hi++
		}
		b := &block{d: t.d[lo:hi], e: t.e[lo : hi-1], lo: lo, hi: hi, norm: norm}
		for _, x := range b.values(min(c, hi-lo)) {
			pairs = append(pairs, pair{x, b})
		}
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
	}
	slices.SortStableFunc(pairs, func(p, q pair) int {
		switch {
		case p.value < q.value:
			return -1
		case p.value > q.value:
			return 1
		}
		return 0
	})
	values, z = make([]float64, c), make([]float64, c*n)
	before := map[*block][][]float64{}
	for r, p := range pairs[:c] {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		values[r] = p.value
		x := z[r*n+p.block.lo : r*n+p.block.hi]
		if !p.block.vector(p.value, before[p.block], x) {
			return nil, nil, ErrNoConvergence
		}
		before[p.block] = append(before[p.block], x)
	}
	return values, z, nil
}

// values returns the c smallest eigenvalues, rising, by bisection (Barth, Martin and
// Wilkinson 1967).
func (b *block) values(c int) []float64 {
	if len(b.d) == 1 {
		return b.d
	}
	// Gershgorin's discs are within the norm. Value r lies from lower[r] on and below
	// upper[r]; what a count says of one it says of all.
	lower, upper := make([]float64, c), make([]float64, c)
	margin := 8 * eps * b.norm
	for r := range c {
		lower[r], upper[r] = -b.norm-margin, b.norm+margin
	}
	for r := 0; r < c; r += lanes {
		for {
			var x [lanes]float64
			var open [lanes]bool
			for l := range min(lanes, c-r) {
				lo, hi := lower[r+l], upper[r+l]
				x[l] = lo + (hi-lo)/2
				open[l] = hi-lo > eps*b.norm/4 && lo < x[l] && x[l] < hi
			}
			if open == [lanes]bool{} {
				break
			}
			below := b.below(x)
			for l := range lanes {
				for s := r; s < c && open[l]; s++ {
					if s < below[l] {
						upper[s] = min(upper[s], x[l])
					} else {
						lower[s] = max(lower[s], x[l])
					}
				}
			}
		}
	}
	for r := range c {
		lower[r] += (upper[r] - lower[r]) / 2
	}
	return lower
}

// lanes are so many numbers that their divisions, one after another for each, do not wait for each other.
const lanes = 4

// below returns how many eigenvalues are below each x, by the signs of the pivots of T − xI.
func (b *block) below(x [lanes]float64) [lanes]int {
	x0, x1, x2, x3 := x[0], x[1], x[2], x[3]
	p0, p1, p2, p3 := b.d[0]-x0, b.d[0]-x1, b.d[0]-x2, b.d[0]-x3
	var c0, c1, c2, c3 int
	for i, e := range b.e {
		d, square := b.d[i+1], e*e
		p0, p1, p2, p3 = apart(p0), apart(p1), apart(p2), apart(p3)
		c0, c1, c2, c3 = c0+negative(p0), c1+negative(p1), c2+negative(p2), c3+negative(p3)
		p0, p1, p2, p3 = d-x0-square/p0, d-x1-square/p1, d-x2-square/p2, d-x3-square/p3
	}
	return [lanes]int{c0 + negative(p0), c1 + negative(p1), c2 + negative(p2), c3 + negative(p3)}
}

// apart returns a pivot that can be divided by.
func apart(pivot float64) float64 {
	const least = 1e-290
	if math.Abs(pivot) < least {
		return -least
	}
	return pivot
}

// negative returns 1 of a number below 0, and 0 of others.
func negative(x float64) int { return int(math.Float64bits(x) >> 63) }

// Inverse iteration ends once no part of Tx − λx is above enough·eps of the norm, and one
// step later. In a cluster of eigenvalues, of which any combination of vectors may be found,
// less than their distances cannot be had.
const (
	enough     = 512
	mostSteps  = 8
	mostStarts = 4
)

// vector sets x to an eigenvector of length 1 of an eigenvalue, orthogonal to those before,
// by inverse iteration (Peters and Wilkinson 1979, as LAPACK's dstein), and says whether it
// has found one.
func (b *block) vector(value float64, before [][]float64, x []float64) bool {
	n := len(b.d)
	if n == 1 {
		x[0] = 1
		return true
	}
	f := b.factorise(value)
	for start := range mostStarts {
		src := rand.New(rand.NewPCG(uint64(len(before)), uint64(start)))
		for i := range x {
			x[i] = float64(2*src.Float64()) - 1
		}
		good := 0
		for range mostSteps {
			f.solve(x)
			length := 0.0
			for range 2 { // the second time what the first has left is orthogonal
				if length = normalise(x); length == 0 {
					break
				}
				for _, y := range before {
					addScaled(x, -elementary.Dot(x, y), y)
				}
				length = elementary.Norm(x)
			}
			if length < 0.5 || normalise(x) == 0 {
				break
			}
			if good++; !(b.residual(value, x) <= enough*eps*b.norm) {
				good = 0
			}
			if good == 2 {
				return true
			}
		}
	}
	return false
}

// normalise scales x to length 1 and returns the length before. Where that is 0 or not
// finite it returns 0.
func normalise(x []float64) float64 {
	largest := elementary.Largest(x)
	if !(largest > 0) || math.IsInf(largest, 0) {
		return 0
	}
	if largest < 1e-100 || largest > 1e100 {
		scale(x, 1/largest)
	}
	length := elementary.Norm(x)
	scale(x, 1/length)
	return length
}

// residual returns the largest part of Tx − λx.
func (b *block) residual(value float64, x []float64) float64 {
	largest, last := 0.0, len(x)-1
	for i := range x {
		r := float64((b.d[i] - value) * x[i])
		if i > 0 {
			r += float64(b.e[i-1] * x[i-1])
		}
		if i < last {
			r += float64(b.e[i] * x[i+1])
		}
		largest = max(largest, math.Abs(r))
	}
	return largest
}

// factors are those of T − λI = PLU, rows exchanged for the larger pivot. Step i
// takes l[i] times row i from the next one, after an exchange of both where swapped[i].
type factors struct {
	l, u0, u1, u2 []float64
	swapped       []bool
}

// factorise returns the factors of T − λI. A last pivot of 0 becomes what is negligible.
func (b *block) factorise(value float64) *factors {
	n := len(b.d)
	f := &factors{l: make([]float64, n), u0: make([]float64, n), u1: make([]float64, n), u2: make([]float64, n), swapped: make([]bool, n)}
	pivot, next := b.d[0]-value, b.e[0]
	for i := range n - 1 {
		e, d, after := b.e[i], b.d[i+1]-value, 0.0
		if i < n-2 {
			after = b.e[i+1]
		}
		if f.swapped[i] = math.Abs(e) > math.Abs(pivot); f.swapped[i] {
			f.u0[i], f.u1[i], f.u2[i] = e, d, after
			f.l[i] = pivot / e
			pivot, next = next-float64(f.l[i]*d), float64(-f.l[i]*after)
		} else {
			f.u0[i], f.u1[i] = pivot, next
			f.l[i] = e / pivot
			pivot, next = d-float64(f.l[i]*next), after
		}
	}
	least := eps * b.norm
	if math.Abs(pivot) < least {
		pivot = math.Copysign(least, pivot) // the others are larger, since what joins rows is
	}
	f.u0[n-1] = pivot
	return f
}

// solve turns x into (T − λI)⁻¹x.
func (f *factors) solve(x []float64) {
	n := len(x)
	for i := range n - 1 {
		if f.swapped[i] {
			x[i], x[i+1] = x[i+1], x[i]
		}
		x[i+1] -= float64(f.l[i] * x[i])
	}
	x[n-1] /= f.u0[n-1]
	x[n-2] = (x[n-2] - float64(f.u1[n-2]*x[n-1])) / f.u0[n-2]
	for i := n - 3; i >= 0; i-- {
		x[i] = (x[i] - float64(f.u1[i]*x[i+1]) - float64(f.u2[i]*x[i+2])) / f.u0[i]
	}
}
