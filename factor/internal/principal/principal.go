package principal

import (
	"context"
	"fmt"
	"math"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/eigen"
	"github.com/seed4492f2cd/partwise/internal/panel"
	"github.com/seed4492f2cd/partwise/internal/parallel"
)

// Samples finds the principal directions of centred samples, the singular vectors of X = U·Σ·Vᵀ, as far as
// they are asked for. With n ≤ m they come from the inner products XXᵀ, else from XᵀX, which have lost the
// digits of small singular values: those below lossless of the largest come from what X leaves without the
// directions found so far, and so on, from level to level. That is as exact as a decomposition of X itself,
// and products of matrices only. What is found does not depend on what was asked for before.
type Samples struct {
	mu     sync.Mutex
	X      *mat.Dense // samples less the mean of those that are labelled, or of all
	Mean   []float64
	size   float64    // ‖X‖ before the mean was taken away
	gram   *mat.Dense // X·Xᵀ, where n ≤ m
	levels []*level
	blocks []*mat.Dense // eigenvectors of the first level
}

// level is what remains of X, 1/lossless or more smaller than the one before it.
type level struct {
	// sigma holds all singular values, of which those up to exact are found, here or before.
	sigma []float64
	exact int
	// before is how many were found before. system is of the products of left, a row for each left
	// singular vector that remains where n ≤ m. Else it has a row for each direction that remains, the
	// columns of within; the first is X itself, though, with all directions.
	before       int
	left, within *mat.Dense
	system       *eigen.System
	// The directions up to exact, in columns, and the eigenvectors of the others.
	directions, others *mat.Dense
}

// lossless is the share of the largest singular value from which on others have all digits but three.
const lossless = 1.0 / 32

// New centres the samples that are kept at the mean of those that are counted.
func New(ctx context.Context, x view.Data, kept, counted []bool) (*Samples, error) {
	n, m := x.Dims()
	row := make([]int, n) // in the samples that are kept, or -1
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
	// The samples, a copy and the directions.
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

// Axes are some of the principal directions.
type Axes struct {
	x                *mat.Dense // centred, n×m
	Sigma            []float64  // c, falling
	left, directions *mat.Dense // Either left singular vectors, n×c, or the directions, m×c
}

// Ask returns the leading axes, as many as count says of the singular values, falling, which do not
// change. What rounding makes of no variation is left out of them.
func (p *Samples) Ask(ctx context.Context, count func(sigma []float64) int) (*Axes, error) {
	parallel.Wait(ctx, p.mu.Lock)
	defer p.mu.Unlock()
	for i := 0; ; i++ {
		if i == len(p.levels) {
			if err := p.next(ctx); err != nil {
				return nil, fmt.Errorf("the principal directions of the samples: %w", err)
			}
		}
		l := p.levels[i]
		if len(l.sigma) == 0 {
			n, _ := p.X.Dims()
			return nil, fmt.Errorf("all %d training samples are identical", n)
		}
		if c := min(count(l.sigma), len(l.sigma)); c <= l.exact {
			return p.axes(ctx, i, c)
		}
	}
}

// EachGram calls f with the inner products of one panel of the samples after another, from the given one
// on, with all samples. f changes none.
func (p *Samples) EachGram(ctx context.Context, f func(from int, part *mat.Dense)) error {
	n, m := p.X.Dims()
	if n > m {
		return view.EachGram(ctx, view.Dense{X: p.X}, f)
	}
	if _, err := p.Ask(ctx, func([]float64) int { return 1 }); err != nil {
		return err
	}
	return panel.Each(ctx, n, view.GramRows, func(from, to int) error {
		f(from, p.gram.Slice(from, to, 0, n).(*mat.Dense))
		return nil
	})
}

// Axes returns the c leading axes, of those that level i has.
func (p *Samples) axes(ctx context.Context, i, c int) (*Axes, error) {
	l := p.levels[i]
	n, m := p.X.Dims()
	a := &Axes{x: p.X, Sigma: l.sigma[:c]}
	if i > 0 {
		if err := p.finish(ctx, l); err != nil {
			return nil, err
		}
		a.directions = l.directions.Slice(0, m, 0, c).(*mat.Dense)
		return a, nil
	}
	for len(p.blocks)*eigen.BlockSize < c {
		z, err := l.system.Block(ctx, len(p.blocks))
		if err != nil {
			return nil, err
		}
		p.blocks = append(p.blocks, z)
	}
	vectors := mat.NewDense(min(n, m), c, nil)
	for at := range c {
		vectors.SetCol(at, p.blocks[at/eigen.BlockSize].RawRowView(at%eigen.BlockSize))
	}
	if a.left = vectors; n > m {
		a.left, a.directions = nil, vectors
	}
	return a, nil
}

// next finds the next level.
func (p *Samples) next(ctx context.Context) error {
	n, m := p.X.Dims()
	l := &level{left: p.X}
	ta, tb := algebra.NoTrans, algebra.Trans
	if n > m {
		ta, tb = algebra.Trans, algebra.NoTrans
	}
	var known []float64
	if len(p.levels) > 0 {
		last := p.levels[len(p.levels)-1]
		if err := p.finish(ctx, last); err != nil {
			return err
		}
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
	var err error
	if l.system, err = eigen.Decompose(ctx, gram); err != nil {
		return err
	}
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
	return nil
}

// finish finds the directions of a level, and the eigenvectors of what it leaves.
func (p *Samples) finish(ctx context.Context, l *level) error {
	if l.directions != nil {
		return nil
	}
	n, m := p.X.Dims()
	rows, here := l.system.Len(), l.exact-l.before
	if here == 0 { // what remains is rounding
		l.directions = p.levels[len(p.levels)-2].directions
		return nil
	}
	all, err := l.system.Leading(ctx, rows)
	if err != nil {
		return err
	}
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
	return nil
}

// Coordinates returns X in the axes, n×c.
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

// Whole returns the directions themselves, m×c.
func (a *Axes) Whole() *mat.Dense {
	if a.left == nil {
		return a.directions
	}
	unit := mat.NewDense(len(a.Sigma), len(a.Sigma), nil)
	for i := range a.Sigma {
		unit.Set(i, i, 1)
	}
	return a.Features(unit)
}

// Features returns the combinations v, c×d, of the directions: V·v, m×d.
func (a *Axes) Features(v *mat.Dense) *mat.Dense {
	if a.left == nil {
		return algebra.Times(a.directions, v)
	}
	scaled := mat.DenseCopyOf(v)
	for j, s := range a.Sigma {
		algebra.ScaleRow(scaled, j, 1/s)
	}
	w := algebra.Times(a.left, scaled)
	_, m := a.x.Dims()
	_, d := w.Dims()
	out := mat.NewDense(d, m, nil) // transposed: x is read row by row
	algebra.Gemm(out, w, algebra.Trans, a.x, algebra.NoTrans)
	return algebra.Transpose(out)
}
