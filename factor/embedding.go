package factor

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/principal"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/guard"
)

// A linear embedding looks for a projection whose columns v make vᵀAv largest where vᵀRv = 1, A
// and R being scatter matrices of two graphs over the samples (Yan et al. 2007). The methods
// differ in the graphs alone. All of them work in the principal directions of the samples, so
// that nothing is ever m×m where n is less.

// training is what a linear embedding learns from.
type training struct {
	data view.Data
	*principal.Samples
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
	t.Samples, err = principal.New(ctx, d, kept, counted)
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
func (t *training) reduced(ctx context.Context, share float64, groups int) (a *principal.Axes, y *mat.Dense, err error) {
	n, _ := t.X.Dims()
	a, err = t.Ask(ctx, func(sigma []float64) int { return min(principal.Fewest(sigma, share), n-groups) })
	if err != nil {
		return nil, nil, err
	}
	return a, a.Coordinates(), nil
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
	model := &Linear{Mean: t.Mean, Projection: out}
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
		a, err := t.Ask(ctx, func(sigma []float64) int {
			if share > 0 {
				return principal.Fewest(sigma, share)
			}
			return opt.Rank
		})
		if err != nil {
			return nil, err
		}
		return a.Whole(), nil
	})
}
