package factor

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/blas"
	"github.com/seed4492f2cd/partwise/internal/eigen"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/simd"
)

// A linear embedding looks for a projection whose columns v make vᵀAv largest where vᵀRv = 1, A
// and R being scatter matrices of two graphs over the samples (Yan et al. 2007). The methods
// differ in the graphs alone. All of them work in the principal directions of the samples, so
// that nothing is ever m×m where n is less.

// training is what a linear embedding learns from.
type training struct {
	data view.Data
	*principal
	class []int // of each row of x, numbered from 0, or -1; nil where labels do not matter
	sizes []int // of the classes
}

// newTraining centres the samples. If check is not nil labels count: it gets the sizes of the
// classes, and the centre is that of the labelled samples, which with alone are the only ones.
func newTraining(ctx context.Context, x mat.Matrix, known Known, opt Options, check func(sizes []int) error, alone bool) (*training, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	d, err := newOwnRuleData(x, known, opt)
	if err != nil {
		return nil, err
	}
	t := &training{data: d}
	n, _ := d.Dims()
	kept, counted := slices.Repeat([]bool{true}, n), slices.Repeat([]bool{true}, n)
	if check != nil {
		number := map[int]int{}
		for i := range n {
			labelled := len(known.Labels) > 0 && known.Labels[i] >= 0
			kept[i], counted[i] = labelled || !alone, labelled
			switch {
			case labelled:
				c, ok := number[known.Labels[i]]
				if !ok {
					c = len(t.sizes)
					number[known.Labels[i]] = c
					t.sizes = append(t.sizes, 0)
				}
				t.class = append(t.class, c)
				t.sizes[c]++
			case !alone:
				t.class = append(t.class, -1)
			}
		}
		if err := check(t.sizes); err != nil {
			return nil, err
		}
	}
	t.principal, err = newPrincipal(ctx, d, kept, counted)
	return t, err
}

// twoClasses reports that labelled samples are not of two classes. sizes holds how
// many there are of each class.
func twoClasses(sizes []int) error {
	switch len(sizes) {
	case 0:
		return errors.New("directions that part classes need the labels of some samples, and none are known")
	case 1:
		return fmt.Errorf("directions that part classes need labelled samples of two classes, and there are only %d of one", sizes[0])
	}
	return nil
}

// twoClassesOnePair reports besides that no class has scatter within.
func twoClassesOnePair(sizes []int) error {
	if err := twoClasses(sizes); err != nil {
		return err
	}
	if slices.Max(sizes) == 1 {
		return fmt.Errorf("each of the %d classes has one labelled sample; what holds a class together is seen from two", len(sizes))
	}
	return nil
}

// reduced returns the principal directions that keep the share of the variance, and x in those
// directions, n×q. There are at most n less the number of groups of them: in more, some would
// have no scatter within the groups.
func (t *training) reduced(ctx context.Context, share float64, groups int) (a *axes, y *mat.Dense, err error) {
	n, _ := t.x.Dims()
	a, err = t.ask(ctx, func(sigma []float64) int { return min(fewest(sigma, share), n-groups) })
	if err != nil {
		return nil, nil, err
	}
	return a, a.coordinates(), nil
}

// fewest returns how many of the leading directions have the share of the
// variance.
func fewest(sigma []float64, share float64) int {
	// Relative to the first: squares of small values would be lost.
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

// varianceShare reads a share of variance; 0 stands for the default.
func varianceShare(x, def float64) (float64, error) {
	if x == 0 {
		return def, nil
	}
	if !(x > 0 && x <= 1) {
		return 0, fmt.Errorf("variance is %v; it must be a share above 0 and at most 1", max(x, 0))
	}
	return x, nil
}

// classMeans returns the mean of each class's rows of y, c×q.
func (t *training) classMeans(y *mat.Dense) *mat.Dense {
	_, q := y.Dims()
	means := mat.NewDense(len(t.sizes), q, nil)
	for i, c := range t.class {
		if c >= 0 {
			algebra.Axpy(1/float64(t.sizes[c]), y.RawRowView(i), means.RawRowView(c))
		}
	}
	return means
}

// weightedMeans returns the class means of y, each times the root of the size of its class, c×q; y is
// centred at the mean of the labelled samples. That they are all the same is an error.
func (t *training) weightedMeans(y *mat.Dense) (*mat.Dense, error) {
	means := t.classMeans(y)
	for c, n := range t.sizes {
		algebra.ScaleRow(means, c, math.Sqrt(float64(n)))
	}
	if !(algebra.Inner(means, means) > 1e-20*algebra.Inner(y, y)) {
		return nil, fmt.Errorf("the %d classes have the same mean: no direction parts them", len(t.sizes))
	}
	return means, nil
}

// scatter returns aᵀa.
func scatter(a *mat.Dense) *mat.SymDense {
	return symmetricProduct(a, algebra.Trans, a, algebra.NoTrans)
}

// graphScatter returns yᵀLy = ½·Σ s_ij·(y_i − y_j)(y_i − y_j)ᵀ, q×q, of a graph
// over the rows of y.
func graphScatter(y *mat.Dense, s *CSR) *mat.SymDense {
	const most = 256 // rows of L·y at a time, which stay in a cache
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

// symmetricProduct returns op(a)·op(b), which is symmetric.
func symmetricProduct(a *mat.Dense, ta blas.Transpose, b *mat.Dense, tb blas.Transpose) *mat.SymDense {
	q, c := a.Dims()
	if ta == algebra.Trans {
		q = c
	}
	out := mat.NewSymDense(q, nil)
	multiplyUpper(ta, tb, a.RawMatrix(), b.RawMatrix(), 0, out)
	return out
}

// multiplyUpper is blas.MultiplyUpper to the end.
func multiplyUpper(ta, tb blas.Transpose, a, b blas.Matrix, beta float64, out *mat.SymDense) {
	blas.MultiplyUpper(context.Background(), ta, tb, 1, a, b, beta, upperOf(out)) //nolint:errcheck // that of the context
}

// upperOf returns a as internal/blas has a matrix of which the upper triangle counts, the same numbers.
func upperOf(a *mat.SymDense) blas.Matrix {
	r := a.RawSymmetric()
	return blas.Matrix{Rows: r.N, Cols: r.N, Stride: r.Stride, Data: r.Data}
}

// generalised returns the solutions of a·v = λ·r·v with the largest λ > 0, falling, at most count of
// them, as columns with vᵀrv = 1. What rounding makes of λ = 0 is left out. Along directions in which r
// is 0, but for rounding, it is taken for 1e-10 of the mean of both, so that they come first.
func generalised(ctx context.Context, a, r *mat.SymDense, count int) (*mat.Dense, error) {
	q := r.SymmetricDim()
	mean := (mat.Trace(a) + mat.Trace(r)) / float64(q)
	u, ok := root(r, 0)
	if !ok || leastValue(u, mat.Norm(r, 1)) < 1e-13*mean {
		if u, ok = root(r, 1e-10*mean); !ok {
			return nil, errors.New("the samples to be parted and those to be held together are all copies of one another")
		}
	}
	// With w = u·v it is the eigenproblem of u⁻ᵀ·a·u⁻¹.
	white := mat.NewSymDense(q, nil)
	white.CopySym(a)
	blas.Whiten(upperOf(white), u)
	lambda, w, err := eigen.Largest(ctx, white, min(count, q))
	if err != nil {
		return nil, fmt.Errorf("the directions of the embedding: %w", err)
	}
	count = parting(lambda)
	v := mat.DenseCopyOf(w.Slice(0, q, 0, count))
	blas.Trsm(blas.Left, algebra.NoTrans, u, v.RawMatrix())
	return v, nil
}

// root returns u, upper triangular, with r + lift·I = uᵀu, if there is one.
func root(r *mat.SymDense, lift float64) (u blas64.Triangular, ok bool) {
	lifted := mat.NewSymDense(r.SymmetricDim(), nil)
	lifted.CopySym(r)
	for i := range r.SymmetricDim() {
		lifted.SetSym(i, i, r.At(i, i)+lift)
	}
	return blas.Cholesky(upperOf(lifted))
}

// leastValue returns about 1/‖r⁻¹‖₁ of r = uᵀu with the norm ‖r‖₁.
func leastValue(u blas64.Triangular, norm float64) float64 {
	r := blas64.Symmetric{Uplo: u.Uplo, N: u.N, Stride: u.Stride, Data: u.Data}
	return norm * lapack64.Pocon(r, norm, make([]float64, 3*u.N), make([]int, u.N))
}

// parting returns how many of the values, falling, are not what rounding makes of λ = 0.
func parting(lambda []float64) int {
	count := len(lambda)
	for count > 1 && !(lambda[count-1] > 1e-10*lambda[0]) {
		count--
	}
	return count
}

// result projects all samples to the projection, m×d, that find returns, which reads and changes t alone.
// Of the two directions of each column it takes the one in which the largest entry is positive.
func (t *training) result(ctx context.Context, find func() (*mat.Dense, error)) (*Result, error) {
	p, err := guard.Interruptible(ctx, find)
	if err != nil {
		return nil, err
	}
	if !algebra.Finite(p) {
		return nil, errors.New("the projection has outgrown what numbers can hold")
	}
	m, d := p.Dims()
	signs := make([]float64, d)
	for c := range d {
		for j := range m {
			if x := p.At(j, c); math.Abs(x) > math.Abs(signs[c]) {
				signs[c] = x
			}
		}
	}
	out := mat.NewDense(m, d, nil)
	out.Apply(func(_, c int, x float64) float64 { return math.Copysign(1, signs[c]) * x }, p)
	model := &Linear{Mean: t.mean, Projection: out}
	y, err := model.project(ctx, t.data)
	if err != nil {
		return nil, err
	}
	return &Result{Basis: out, Model: model, Coefficients: y}, nil
}

// Linear is a [Model] that represents a sample by its projection.
type Linear struct {
	// Mean is what is taken from a sample before, m values.
	Mean []float64
	// Projection holds the d directions as columns, m×d.
	Projection *mat.Dense
}

// Vectors implements [Model]: the projection.
func (l *Linear) Vectors() *mat.Dense { return l.Projection }

// Transform implements [Model]: (x − mean)·Projection, p×d.
func (l *Linear) Transform(ctx context.Context, x mat.Matrix) (*mat.Dense, error) {
	d, err := view.New(x)
	if err != nil {
		return nil, err
	}
	return l.project(ctx, d)
}

func (l *Linear) project(ctx context.Context, x view.Data) (*mat.Dense, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p, features := x.Dims()
	rows, k := l.Projection.Dims()
	if features != rows || len(l.Mean) != rows {
		return nil, fmt.Errorf("the samples have %d features, the projection %d", features, rows)
	}
	projection := algebra.Transpose(l.Projection)
	y := mat.NewDense(k, p, nil)
	x.TimesBasis(y, projection)
	for r := range k {
		offset := algebra.Dot(projection.RawRowView(r), l.Mean)
		row := y.RawRowView(r)
		for i := range row {
			row[i] -= offset
		}
	}
	if !algebra.Finite(y) {
		return nil, errors.New("the projections have outgrown what numbers can hold")
	}
	return algebra.Transpose(y), nil
}

// PCA is principal component analysis (Pearson 1901): the orthonormal directions
// in which the samples vary most, min ‖X − μ − PPᵀ(X − μ)‖². Its coefficients are the
// scores, its [Model] is a [Linear]. There are as many directions as the rank
// says, or as there are where they are fewer: at most n − 1, and m.
type PCA struct {
	// Variance, above 0 and at most 1, asks for the fewest directions that keep
	// that share of the variance, in place of the rank; 0 means the rank.
	Variance float64 `setting:"variance" default:"by rank" help:"share of the variance to keep, in place of the rank"`
}

// Needs says what the method needs.
func (PCA) Needs() Needs { return Needs{Signed: true, Direct: true} }

// Fit implements [Method].
func (p PCA) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (*Result, error) {
	share, err := varianceShare(p.Variance, 0)
	if err != nil {
		return nil, err
	}
	if share > 0 {
		opt.Rank = 1 // whatever it is
	}
	t, err := newTraining(ctx, x, known, opt, nil, false)
	if err != nil {
		return nil, err
	}
	return t.result(ctx, func() (*mat.Dense, error) {
		a, err := t.ask(ctx, func(sigma []float64) int {
			if share > 0 {
				return fewest(sigma, share)
			}
			return opt.Rank
		})
		if err != nil {
			return nil, err
		}
		return a.whole(), nil
	})
}
