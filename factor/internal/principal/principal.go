package principal

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/eigen"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/panel"
	"github.com/seed4492f2cd/partwise/internal/parallel"
)

// Samples computes the principal directions of centred samples, the singular vectors of X = U·Σ·Vᵀ, on demand. They are
// eigenvectors of XXᵀ if n ≤ m, else of XᵀX. Both lose digits of small singular values. Values below lossless
// of the largest are therefore computed from X deflated by the directions found so far, level by level. This is as
// accurate as an SVD of X and uses matrix products only. Results do not depend on earlier calls.
type Samples struct {
	mu     sync.Mutex
	X      *mat.Dense // samples minus Mean
	Mean   []float64
	size   float64    // norm of the samples before centring
	gram   *mat.Dense // X·Xᵀ, if n ≤ m
	levels []*level
}

// level is X deflated by the directions of earlier levels. It is smaller than the previous level by 1/lossless or more.
type level struct {
	// sigma holds all singular values; the first exact ones are final.
	sigma []float64
	exact int
	// before is the number of directions of earlier levels. system is the eigendecomposition of the Gram matrix of
	// left. left has a row for each remaining left singular vector if n ≤ m, else for each remaining direction, a
	// column of within. On the first level left is X.
	before       int
	left, within *mat.Dense
	system       *eigen.System
	// directions are the first exact directions, as columns; others are the eigenvectors of the remaining ones.
	directions, others *mat.Dense
	leading            *mat.Dense // the most eigenvectors of system that axes has needed
}

// lossless is the fraction of the largest singular value above which others lose at most three digits.
const lossless = 1.0 / 32

// New centres the samples of the mask kept on the mean of the samples of the mask counted.
func New(ctx context.Context, x view.Data, kept, counted []bool) (*Samples, error) {
	n, m := x.Dims()
	row := make([]int, n) // row among the kept samples, or -1
	rows, means := 0, 0
	for i := range n {
		row[i] = -1
		if kept[i] {
			row[i] = rows
			rows++
		}
		if counted[i] {
			means++
		}
	}
	// Three matrices: the samples, a copy and the directions.
	if err := view.CheckMemory(ctx, fmt.Sprintf("a linear embedding of %d samples of %d features", rows, m), 3, rows, m); err != nil {
		return nil, err
	}
	c := &Samples{X: mat.NewDense(rows, m, nil), Mean: make([]float64, m)}
	x.Each(func(i, j int, v float64) {
		if counted[i] {
			c.Mean[j] += v
		}
	})
	for j := range c.Mean {
		c.Mean[j] /= float64(means)
	}
	for i := range rows {
		row := c.X.RawRowView(i)
		for j, mean := range c.Mean {
			row[j] = -mean
		}
	}
	var square float64
	raw := c.X.RawMatrix()
	x.Each(func(i, j int, v float64) {
		if r := row[i]; r >= 0 {
			raw.Data[r*raw.Stride+j] += v
			square += v * v
		}
	})
	c.size = math.Sqrt(square)
	return c, nil
}

// Axes are the leading principal directions.
type Axes struct {
	x                *mat.Dense // centred, n×m
	Sigma            []float64  // c singular values, decreasing
	left, directions *mat.Dense // either left singular vectors, n×c, or directions, m×c
}

// LeadingAxes returns the leading axes. count gets the singular values, decreasing and read-only, and returns the
// number of axes. Singular values that are 0 up to rounding are left out.
func (p *Samples) LeadingAxes(ctx context.Context, count func(sigma []float64) int) (_ *Axes, err error) {
	defer guard.Catch(&err)
	parallel.Wait(ctx, p.mu.Lock)
	defer p.mu.Unlock()
	for i := 0; ; i++ {
		if i == len(p.levels) {
			guard.Within(func() { p.computeLevel(ctx) }, "the principal directions of the samples")
		}
		l := p.levels[i]
		if len(l.sigma) == 0 {
			n, _ := p.X.Dims()
			return nil, fmt.Errorf("all %d training samples are identical", n)
		}
		if c := min(count(l.sigma), len(l.sigma)); c <= l.exact {
			return p.axes(ctx, i, c), nil
		}
	}
}

// EachGram calls f with successive panels of the Gram matrix of the samples: part holds the rows from the given sample
// on. f must not change part.
func (p *Samples) EachGram(ctx context.Context, f func(from int, part *mat.Dense)) error {
	n, m := p.X.Dims()
	if n > m {
		return view.EachGram(ctx, view.Dense{X: p.X}, f)
	}
	if _, err := p.LeadingAxes(ctx, func([]float64) int { return 1 }); err != nil {
		return err
	}
	return panel.Each(ctx, n, view.GramRows, func(from, to int) error {
		f(from, p.gram.Slice(from, to, 0, n).(*mat.Dense))
		return nil
	})
}

// axes returns the c leading axes, which level i must hold. It calls guard.Fail.
func (p *Samples) axes(ctx context.Context, i, c int) *Axes {
	l := p.levels[i]
	n, m := p.X.Dims()
	a := &Axes{x: p.X, Sigma: l.sigma[:c]}
	if i > 0 {
		p.finish(ctx, l)
		a.directions = l.directions.Slice(0, m, 0, c).(*mat.Dense)
		return a
	}
	if l.leading == nil || l.leading.RawMatrix().Cols < c {
		l.leading = guard.Must(l.system.Leading(ctx, c))
	}
	r, _ := l.leading.Dims()
	if a.left = l.leading.Slice(0, r, 0, c).(*mat.Dense); n > m {
		a.left, a.directions = nil, a.left
	}
	return a
}

// computeLevel computes the next level. It calls guard.Fail.
func (p *Samples) computeLevel(ctx context.Context) {
	n, m := p.X.Dims()
	l := &level{left: p.X}
	ta, tb := algebra.NoTrans, algebra.Trans
	if n > m {
		ta, tb = algebra.Trans, algebra.NoTrans
	}
	var known []float64
	if len(p.levels) > 0 {
		last := p.levels[len(p.levels)-1]
		p.finish(ctx, last)
		known = last.sigma[:last.exact:last.exact]
		_, count := last.others.Dims()
		_, columns := last.left.Dims()
		ofX := algebra.NoTrans
		if n > m {
			if last.within == nil {
				columns, ofX, l.within = n, algebra.Trans, last.others
			} else {
				l.within = algebra.Times(last.within, last.others)
			}
		}
		l.left = mat.NewDense(count, columns, nil)
		algebra.Gemm(l.left, last.others, algebra.Trans, last.left, ofX)
		if n <= m {
			along := algebra.Times(l.left, last.directions)
			blas.Gemm(algebra.NoTrans, algebra.Trans, -1, along.RawMatrix(), last.directions.RawMatrix(), 1, l.left.RawMatrix())
		}
		ta, tb = algebra.NoTrans, algebra.Trans
	}
	gram := SymmetricProduct(l.left, ta, l.left, tb)
	l.system = guard.Must(eigen.Decompose(ctx, gram))
	l.before, l.exact, l.sigma = len(known), len(known), known
	for _, square := range l.system.Values() {
		s := math.Sqrt(max(square, 0))
		if !(s > 1e-13*p.size) {
			break
		}
		if l.sigma = append(l.sigma, s); s >= lossless*l.sigma[l.before] {
			l.exact++
		}
	}
	if len(p.levels) == 0 && n <= m {
		whole := upperOf(gram)
		blas.Mirror(whole)
		p.gram = mat.NewDense(n, n, whole.Data)
	}
	for _, done := range p.levels {
		done.left, done.within, done.others = nil, nil, nil
	}
	p.levels = append(p.levels, l)
}

// finish computes the directions of a level and the eigenvectors that remain for the next one. It calls guard.Fail.
func (p *Samples) finish(ctx context.Context, l *level) {
	if l.directions != nil {
		return
	}
	n, m := p.X.Dims()
	rows, here := len(l.system.Values()), l.exact-l.before
	if here == 0 { // the remainder is rounding error
		l.directions = p.levels[len(p.levels)-2].directions
		return
	}
	all := guard.Must(l.system.Leading(ctx, rows))
	directions := mat.NewDense(m, l.exact, nil)
	if l.before > 0 {
		directions.Copy(p.levels[len(p.levels)-2].directions)
	}
	found := directions.Slice(0, m, l.before, l.exact).(*mat.Dense)
	exact := all.Slice(0, rows, 0, here).(*mat.Dense)
	switch {
	case n <= m:
		algebra.Gemm(found, l.left, algebra.Trans, exact, algebra.NoTrans)
		for j := range m {
			row := found.RawRowView(j)
			for c := range row {
				row[c] /= l.sigma[l.before+c]
			}
		}
	case l.within == nil:
		found.Copy(exact)
	default:
		algebra.Gemm(found, l.within, algebra.NoTrans, exact, algebra.NoTrans)
	}
	l.directions = directions
	if here < rows {
		l.others = all.Slice(0, rows, here, rows).(*mat.Dense)
	}
}

// Coordinates returns the coordinates of the samples in the axes, n×c.
func (a *Axes) Coordinates() *mat.Dense {
	if a.left == nil {
		return algebra.Times(a.x, a.directions)
	}
	n, c := a.left.Dims()
	y := algebra.Padded(n, c)
	for i := range n {
		row := y.RawRowView(i)
		for j, u := range a.left.RawRowView(i) {
			row[j] = u * a.Sigma[j]
		}
	}
	return y
}

// Directions returns the combinations v, c×d, of the directions: V·v, m×d. If v is nil, it returns V.
func (a *Axes) Directions(v *mat.Dense) *mat.Dense {
	switch {
	case a.left == nil && v == nil:
		return a.directions
	case a.left == nil:
		return algebra.Times(a.directions, v)
	case v == nil:
		v = mat.DenseCopyOf(mat.NewDiagDense(len(a.Sigma), slices.Repeat([]float64{1}, len(a.Sigma))))
	}
	scaled := mat.DenseCopyOf(v)
	for j, s := range a.Sigma {
		algebra.ScaleRow(scaled, j, 1/s)
	}
	w := algebra.Times(a.left, scaled)
	_, m := a.x.Dims()
	_, d := w.Dims()
	out := mat.NewDense(d, m, nil) // transposed, so that x is read by rows
	algebra.Gemm(out, w, algebra.Trans, a.x, algebra.NoTrans)
	return algebra.Transpose(out)
}
