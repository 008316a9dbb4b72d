package lasso

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
)

// lasso computes s = argmin ‖x − B·s‖² + λ·Σ|s_j|, k values, for one sample at a time. Coordinate descent finds the
// approximate active set and its signs. An active-set method then makes the solution exact: it moves towards the
// solution for the active atoms, drops an atom that reaches 0, and at the solution adds the atom with the steepest
// descent. No step raises the objective, and the active atoms stay linearly independent.
type lasso struct {
	gram *mat.Dense // BᵀB, k×k
	half float64    // λ/2

	slope    []float64 // c − BᵀB·s, minus half the gradient of the squared error
	sign     []float64 // sign of each s_j; for an atom just added, its future sign
	active   []int     // the active atoms
	root     []float64 // Cholesky factor of their Gram matrix, lower triangle by rows
	value    []float64 // solution for the active atoms
	excluded []bool    // excluded atoms, which only rounding would add
}

const (
	lassoSweeps = 100 // maximum number of coordinate descent sweeps
	// lassoDependent bounds the squared residual of an atom on the active atoms, relative to its square. An atom
	// below it counts as linearly dependent: otherwise codes become large and cancel each other.
	lassoDependent = 1e-10
)

// New returns a solver for the transposed dictionary Bᵀ, k×m.
func New(dictionary *mat.Dense, lambda float64) *lasso {
	k, _ := dictionary.Dims()
	return &lasso{
		gram: algebra.SelfGram(dictionary), half: lambda / 2,
		slope: make([]float64, k), sign: make([]float64, k), excluded: make([]bool, k),
	}
}

// Solve minimises over s in place, from its current value; c is Bᵀx.
func (l *lasso) Solve(s, c []float64) {
	for j, x := range s {
		l.sign[j] = signOf(x)
	}
	l.refresh(s, c)
	for sweep := range lassoSweeps {
		if l.sweep(s) && sweep > 0 {
			break
		}
	}
	l.active, l.root = l.active[:0], l.root[:0]
	for j, x := range s {
		if x != 0 {
			l.enter(s, j)
		}
	}
	clear(l.excluded)
	// Each round lowers the objective up to rounding; the bound guarantees termination.
	for range 100 + 10*len(s) {
		if !l.approach(s, c) {
			continue
		}
		l.refresh(s, c)
		if !l.extend(s, c) {
			return
		}
	}
}

func (l *lasso) refresh(s, c []float64) {
	copy(l.slope, c)
	for j, x := range s {
		if x != 0 {
			algebra.Axpy(-x, l.gram.RawRowView(j), l.slope)
		}
	}
}

// sweep minimises over each coordinate in turn. It reports whether all signs are unchanged.
func (l *lasso) sweep(s []float64) (steady bool) {
	steady = true
	for j, before := range s {
		row := l.gram.RawRowView(j)
		var now float64 // stays 0 for a zero atom
		if row[j] > algebra.Floor {
			now = shrink(l.slope[j]+row[j]*before, l.half) / row[j]
		}
		if now != before {
			algebra.Axpy(before-now, row, l.slope)
			s[j] = now
		}
		if sign := signOf(now); sign != l.sign[j] {
			l.sign[j], steady = sign, false
		}
	}
	return steady
}

// enter adds atom j, whose sign is set, to the active set. If b_j = Σ w_i·b_i depends on the active atoms, s_j moves by
// t and each s_i by −t·w_i, which keeps the fit and lowers Σ|s|, until an atom reaches 0 and is dropped. enter returns
// false if that lowers nothing.
func (l *lasso) enter(s []float64, j int) bool {
	n := len(l.active)
	if l.extendRoot(j, false) {
		return true
	}
	w := make([]float64, n)
	for a, i := range l.active {
		w[a] = l.gram.At(i, j)
	}
	l.solveRoot(w)
	slope := l.sign[j] // derivative of Σ|s| in t
	for a, i := range l.active {
		slope -= w[a] * l.sign[i]
	}
	if s[j] == 0 && slope*l.sign[j] > -1e-9 {
		l.sign[j] = 0
		return false
	}
	way := -signOf(slope)
	if way == 0 {
		way = -l.sign[j]
	}
	// Compare signs, not values: an atom that reaches 0 together with another keeps its sign.
	step, out := math.Inf(1), -1
	if l.sign[j]*way < 0 {
		step, out = math.Abs(s[j]), n
	}
	for a, i := range l.active {
		if move := -way * w[a]; move*l.sign[i] < 0 && -s[i]/move < step {
			step, out = -s[i]/move, a
		}
	}
	for a, i := range l.active {
		s[i] -= step * way * w[a]
	}
	s[j] += step * way
	if out == n {
		s[j], l.sign[j] = 0, 0
		return true
	}
	l.drop(s, out)
	return l.enter(s, j)
}

// drop removes the atom active[at] from the active set.
func (l *lasso) drop(s []float64, at int) {
	j := l.active[at]
	s[j], l.sign[j] = 0, 0
	rest := slices.Clone(l.active[at+1:])
	l.active, l.root = l.active[:at], l.root[:at*(at+1)/2]
	for _, i := range rest {
		l.extendRoot(i, true)
	}
}

// extendRoot appends atom j to active and root. It returns false if j depends on the active atoms, unless sure is set.
func (l *lasso) extendRoot(j int, sure bool) bool {
	g, size := l.gram.RawRowView(j), len(l.root)
	left := g[j]
	for a, i := range l.active {
		above, row := l.rootRow(a), l.root[size:]
		x := (g[i] - algebra.Dot(row, above[:a])) / above[a]
		l.root = append(l.root, x)
		left -= x * x
	}
	if least := lassoDependent * g[j]; left <= least {
		if !sure {
			l.root = l.root[:size]
			return false
		}
		left = least
	}
	l.root = append(l.root, math.Sqrt(left))
	l.active = append(l.active, j)
	return true
}

func (l *lasso) rootRow(a int) []float64 { return l.root[a*(a+1)/2 : (a+1)*(a+2)/2] }

// solveRoot solves in place the linear system of the active atoms' Gram matrix.
func (l *lasso) solveRoot(b []float64) {
	for a := range b {
		row := l.rootRow(a)
		b[a] = (b[a] - algebra.Dot(row[:a], b)) / row[a]
	}
	for a := range slices.Backward(b) {
		row := l.rootRow(a)
		b[a] /= row[a]
		algebra.Axpy(-b[a], row[:a], b)
	}
}

// approach moves s towards the solution of B_AᵀB_A·s_A = c_A − λ/2·sign(s_A) for the active atoms A, and reports whether
// it reached it. If not, an atom reached 0 first and was dropped.
func (l *lasso) approach(s, c []float64) bool {
	l.value = l.value[:0]
	for _, j := range l.active {
		l.value = append(l.value, c[j]-l.half*l.sign[j])
	}
	l.solveRoot(l.value)
	step, out := 1.0, -1
	for a, j := range l.active {
		if l.value[a]*l.sign[j] > 0 {
			continue
		}
		var t float64
		if s[j] != 0 {
			t = s[j] / (s[j] - l.value[a])
		}
		if out < 0 || t < step {
			step, out = t, a
		}
	}
	if out < 0 {
		for a, j := range l.active {
			s[j] = l.value[a]
		}
		return true
	}
	for a, j := range l.active {
		s[j] += step * (l.value[a] - s[j])
	}
	if step == 0 {
		l.excluded[l.active[out]] = true
	} else {
		clear(l.excluded)
	}
	l.drop(s, out)
	return false
}

// extend adds the inactive atom with the steepest descent. It returns false if there is none: s is optimal.
func (l *lasso) extend(s, c []float64) bool {
	least := l.half + 1e-12*floats.Norm(c, math.Inf(1))
	for {
		best, most := -1, least
		for j, x := range l.slope {
			if s[j] == 0 && !l.excluded[j] && math.Abs(x) > most {
				best, most = j, math.Abs(x)
			}
		}
		if best < 0 {
			return false
		}
		l.sign[best] = signOf(l.slope[best])
		if l.enter(s, best) {
			return true
		}
		l.excluded[best] = true
	}
}

// shrink is soft thresholding: it moves x towards 0 by at most by.
func shrink(x, by float64) float64 {
	switch {
	case x > by:
		return x - by
	case x < -by:
		return x + by
	}
	return 0
}

func signOf(x float64) float64 { return float64(cmp.Compare(x, 0)) }
