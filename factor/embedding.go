package factor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor/internal/algebra"
	"github.com/seed4492f2cd/partwise/factor/internal/principal"
	"github.com/seed4492f2cd/partwise/factor/internal/view"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/links"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/sparse"
	"github.com/seed4492f2cd/partwise/internal/topk"
)

// A linear embedding maximises vᵀAv subject to vᵀRv = 1. A and R are scatter matrices of two graphs over the
// samples (Yan et al. 2007); the methods differ only in them. All methods work in the principal directions of the
// samples, so that no matrix is m×m when n < m.

type training struct {
	data view.Data
	*principal.Samples
	class []int // of each row of X, numbered from 0, or -1; nil if the method ignores labels
	sizes []int // of the classes
}

// newTraining centres the samples on their mean. If check is not nil, it validates the class sizes, and the mean is
// taken over labelled samples. With alone, unlabelled samples are left out. It calls guard.Fail.
func newTraining(ctx context.Context, x mat.Matrix, known Known, opt Options, check func(sizes []int) error, alone bool) *training {
	guard.Check(ctx.Err())
	d := newOwnRuleData(x, known, opt)
	t := &training{data: d}
	n, _ := d.Dims()
	kept, counted := slices.Repeat([]bool{true}, n), slices.Repeat([]bool{true}, n)
	if check != nil {
		class, count := known.Classes(n)
		t.sizes = make([]int, count)
		for i, c := range class {
			if counted[i] = c >= 0; counted[i] {
				t.sizes[c]++
			}
			if kept[i] = counted[i] || !alone; kept[i] {
				t.class = append(t.class, c)
			}
		}
		guard.Check(check(t.sizes))
	}
	t.Samples = opt.Shared.samples(kept, counted, func() *principal.Samples { return guard.Must(principal.New(ctx, d, kept, counted)) })
	return t
}

// Shared caches the principal directions of a set of samples, so that several linear embeddings of the same samples
// compute them once. Its zero value is an empty cache. It is safe for concurrent use.
type Shared struct {
	mu      sync.Mutex
	byMasks map[string]*principal.Samples // by the masks kept and counted
}

// samples returns the cached samples, or makes and caches them. A nil cache always makes them.
func (s *Shared) samples(kept, counted []bool, make func() *principal.Samples) *principal.Samples {
	if s == nil {
		return make()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byMasks == nil {
		s.byMasks = map[string]*principal.Samples{}
	}
	key := fmt.Sprint(kept, counted)
	if s.byMasks[key] == nil {
		s.byMasks[key] = make()
	}
	return s.byMasks[key]
}

func twoClasses(sizes []int) error {
	switch len(sizes) {
	case 0:
		return errors.New("discriminant directions need labelled samples; none are given")
	case 1:
		return fmt.Errorf("discriminant directions need labelled samples of two classes; all %d are of one class", sizes[0])
	}
	return nil
}

// twoClassesOnePair also requires a class of two labelled samples: otherwise there is no scatter within classes.
func twoClassesOnePair(sizes []int) error {
	err := twoClasses(sizes)
	if err == nil && slices.Max(sizes) == 1 {
		err = fmt.Errorf("each of the %d classes has one labelled sample; the scatter within classes needs two in one of them", len(sizes))
	}
	return err
}

// reduced returns the fewest principal directions that keep the share of the variance, and the coordinates of the
// samples, n×q. q is at most n − groups: beyond that the scatter within groups is singular. It calls guard.Fail.
func (t *training) reduced(ctx context.Context, share float64, groups int) (a *principal.Axes, y *mat.Dense) {
	n, _ := t.X.Dims()
	a = guard.Must(t.LeadingAxes(ctx, func(sigma []float64) int { return min(principal.Fewest(sigma, share), n-groups) }))
	return a, a.Coordinates()
}

// varianceShare validates a share of variance; 0 means def. It calls guard.Fail.
func varianceShare(x, def float64) float64 {
	guard.FailIf(x != 0 && !(x > 0 && x <= 1), "variance %v: expected a fraction above 0 and at most 1", max(x, 0))
	return cmp.Or(x, def)
}

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

// weightedMeans returns the class means of the centred y, c×q, each times the square root of its class size. It
// calls guard.Fail if all means are equal.
func (t *training) weightedMeans(y *mat.Dense) *mat.Dense {
	means := t.classMeans(y)
	for c, n := range t.sizes {
		algebra.ScaleRow(means, c, math.Sqrt(float64(n)))
	}
	guard.FailIf(!(algebra.Inner(means, means) > 1e-20*algebra.Inner(y, y)),
		"the %d classes have the same mean: no direction separates them", len(t.sizes))
	return means
}

// embed projects all samples onto the directions that find returns: the combinations v, c×d, of the axes a, or a itself
// if v is nil. find may call guard.Fail. Each direction's sign makes its largest entry positive.
func embed(ctx context.Context, x mat.Matrix, known Known, opt Options, check func([]int) error, alone bool,
	find func(t *training) (a *principal.Axes, v *mat.Dense)) (_ *Result, err error) {
	defer guard.Catch(&err)
	t := newTraining(ctx, x, known, opt, check, alone)
	p := guard.Must(guard.Interruptible(ctx, func() (*mat.Dense, error) {
		a, v := find(t)
		return a.Directions(v), nil
	}))
	guard.FailIf(!algebra.Finite(p), "the projection overflows")
	out := matrix.PositiveColumns(p)
	model := &Linear{Mean: t.Mean, Projection: out}
	return &Result{Basis: out, Model: model, Coefficients: guard.Must(model.Transform(ctx, t.data.Matrix()))}, nil
}

// Linear is a [Model] that represents a sample by its linear projection.
type Linear struct {
	Mean       []float64  // m values, subtracted from a sample before it is projected
	Projection *mat.Dense // the d directions as columns, m×d
}

// Vectors returns Projection, m×d.
func (l *Linear) Vectors() *mat.Dense { return l.Projection }

// Transform returns (x − Mean)·Projection, p×d, for the samples x, p×m.
func (l *Linear) Transform(ctx context.Context, x mat.Matrix) (_ *mat.Dense, err error) {
	defer guard.Catch(&err)
	rows, k := l.Projection.Dims()
	d := dataOf(x, rows, "the projection")
	guard.FailIf(len(l.Mean) != rows, "the mean has %d features, but the projection has %d", len(l.Mean), rows)
	guard.Check(ctx.Err())
	p, _ := d.Dims()
	projection := algebra.Transpose(l.Projection)
	y := mat.NewDense(k, p, nil)
	d.TimesBasis(y, projection)
	for r := range k {
		floats.AddConst(-algebra.Dot(projection.RawRowView(r), l.Mean), y.RawRowView(r))
	}
	guard.FailIf(!algebra.Finite(y), "the projections overflow")
	return algebra.Transpose(y), nil
}

// PCA is principal component analysis (Pearson 1901): the orthonormal directions of largest variance,
// min ‖X − μ − PPᵀ(X − μ)‖². Its coefficients are the scores and its [Model] is a [Linear]. It finds at
// most min(n − 1, m) directions.
type PCA struct {
	// Variance, in (0, 1], selects the fewest directions that keep this share of the variance. Options.Rank
	// is then ignored. 0 means Options.Rank directions.
	Variance float64 `setting:"variance" default:"by rank" help:"fraction of the variance to keep, instead of a rank"`
}

func (PCA) Needs() Needs { return Needs{Signed: true, Direct: true} }

// Fit implements [Method].
func (p PCA) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (_ *Result, err error) {
	defer guard.Catch(&err)
	share := varianceShare(p.Variance, 0)
	if share > 0 {
		opt.Rank = 1 // the rank is ignored
	}
	return embed(ctx, x, known, opt, nil, false, func(t *training) (*principal.Axes, *mat.Dense) {
		return guard.Must(t.LeadingAxes(ctx, func(sigma []float64) int {
			if share > 0 {
				return principal.Fewest(sigma, share)
			}
			return opt.Rank
		})), nil
	})
}

// LDA is linear discriminant analysis (Fisher 1936; Belhumeur, Hespanha and Kriegman 1997). After [PCA] it finds the
// directions that maximise the scatter S_b between class means relative to the scatter S_w within classes:
// S_b·v = λ·S_w·v with vᵀS_wv = 1. It learns from labelled samples only, and its [Model] is a [Linear].
// For c classes it finds at most c − 1 directions, and none in which the means agree.
type LDA struct {
	// Variance is the share of the variance that PCA keeps; 0 means 0.9. PCA keeps at most n_l − c directions
	// for n_l labelled samples of c classes.
	Variance float64 `setting:"variance" default:"0.9" help:"fraction of the variance that the preceding PCA keeps"`
}

func (LDA) Needs() Needs {
	return Needs{Labels: true, Signed: true, Direct: true, Classes: twoClassesOnePair}
}

// Fit implements [Method].
func (l LDA) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (_ *Result, err error) {
	defer guard.Catch(&err)
	share := varianceShare(l.Variance, 0.9)
	return embed(ctx, x, known, opt, twoClassesOnePair, true, func(t *training) (*principal.Axes, *mat.Dense) {
		a, y := t.reduced(ctx, share, len(t.sizes))
		weighted := t.weightedMeans(y)
		means, about := t.classMeans(y), mat.DenseCopyOf(y)
		for i, c := range t.class {
			algebra.Axpy(-1, means.RawRowView(c), about.RawRowView(i))
		}
		return a, guard.Must(principal.Discriminant(ctx, weighted, principal.Scatter(about), min(opt.Rank, len(t.sizes)-1)))
	})
}

// SDA is semi-supervised discriminant analysis (Cai, He and Han 2007). Its directions maximise the scatter S_b between
// class means relative to the total scatter S_t of the labelled samples, regularised by the Laplacian L of a graph over
// all samples and by a ridge:
//
//	S_b·v = λ·(S_t + α·XLXᵀ + β·I)·v, with vᵀ(S_t + α·XLXᵀ + β·I)v = 1
//
// Its [Model] is a [Linear]. For c classes it finds at most c − 1 directions, and none in which the means agree.
type SDA struct {
	// Alpha and Ridge are α and β, in the scale of the data; 0 means 0.1, WeightNone means 0.
	Alpha float64 `setting:"alpha" default:"0.1" help:"weight α of the graph over all samples"`
	Ridge float64 `setting:"ridge" default:"0.1" help:"ridge regularisation: added to the diagonal of the scatter"`
	Neighbourhood
}

func (SDA) Needs() Needs { return Needs{Labels: true, Signed: true, Direct: true, Classes: twoClasses} }

// Fit implements [Method].
func (s SDA) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (_ *Result, err error) {
	defer guard.Catch(&err)
	alpha, ridge := orDefault(s.Alpha, 0.1), orDefault(s.Ridge, 0.1)
	guard.Check(cmp.Or(view.CheckWeight("alpha", alpha), view.CheckWeight("the ridge", ridge)))
	return embed(ctx, x, known, opt, twoClasses, false, func(t *training) (*principal.Axes, *mat.Dense) {
		return t.semiSupervised(ctx, s.Neighbourhood.graph(ctx, t.data), alpha, ridge, opt.Rank)
	})
}

// semiSupervised returns the axes and at most count directions in them, for the graph S. It calls guard.Fail.
func (t *training) semiSupervised(ctx context.Context, graph *CSR, alpha, ridge float64, count int) (*principal.Axes, *mat.Dense) {
	// S_b is 0 in directions of zero variance, so the principal directions suffice.
	a := guard.Must(t.LeadingAxes(ctx, func(sigma []float64) int { return len(sigma) }))
	y := a.Coordinates()
	means := t.weightedMeans(y)
	labelled := matrix.SelectRows(y, links.Labelled(t.class)).(*mat.Dense)
	against, rough := principal.Scatter(labelled), principal.GraphScatter(y, graph)
	rough.ScaleSym(alpha, rough)
	against.AddSym(against, rough)
	for i := range against.SymmetricDim() {
		against.SetSym(i, i, against.At(i, i)+ridge)
	}
	return a, guard.Must(principal.Discriminant(ctx, means, against, min(count, len(t.sizes)-1)))
}

// MFA is marginal Fisher analysis (Yan et al. 2007). After [PCA] it finds the directions that maximise the scatter L' of
// near pairs of different classes relative to the scatter L of neighbours of one class: L'·v = λ·L·v with
// vᵀLv = 1. The scatter of a graph is Σ(y_i − y_j)² over its edges. MFA learns from labelled samples only, finds
// their neighbours in the original features, and its [Model] is a [Linear].
type MFA struct {
	// K1 is the number of nearest samples of its own class that each sample is joined to; 0 means 5.
	K1 int `setting:"k1" default:"5" help:"number of nearest neighbours within the class of a sample"`
	// K2 is the number of nearest pairs of each class with other classes that are separated; 0 means 40
	// times the size of the class.
	K2 int `setting:"k2" default:"40 × class size" help:"number of nearest pairs between a class and the other classes"`
	// Variance is as in LDA.
	Variance float64 `setting:"variance" default:"0.9" help:"fraction of the variance that the preceding PCA keeps"`
}

func (MFA) Needs() Needs {
	return Needs{Labels: true, Signed: true, Direct: true, Classes: twoClassesOnePair}
}

// Fit implements [Method].
func (m MFA) Fit(ctx context.Context, x mat.Matrix, known Known, opt Options) (_ *Result, err error) {
	defer guard.Catch(&err)
	guard.FailIf(m.K1 < 0 || m.K2 < 0, "k1 %d and k2 %d: expected 1 or more", m.K1, m.K2)
	share := varianceShare(m.Variance, 0.9)
	return embed(ctx, x, known, opt, twoClassesOnePair, true, func(t *training) (*principal.Axes, *mat.Dense) {
		joined, parted := m.pairs(ctx, t)
		n := len(t.class)
		groups := guard.Must(links.Close(n, joined, nil))
		a, y := t.reduced(ctx, share, slices.Max(groups)+1)
		inside, across := principal.GraphScatter(y, binaryGraph(n, joined)), principal.GraphScatter(y, binaryGraph(n, parted))
		return a, guard.Must(principal.Generalised(ctx, across, inside, opt.Rank))
	})
}

// pairs returns the pairs of each sample with its K1 nearest of its own class, and for each class its K2 nearest
// pairs with other classes. It calls guard.Fail.
func (m MFA) pairs(ctx context.Context, t *training) (joined, parted [][2]int) {
	k1 := cmp.Or(m.K1, 5)
	square := make([]float64, len(t.class))
	for i := range square {
		row := t.X.RawRowView(i)
		square[i] = algebra.Dot(row, row)
	}
	borders := make([]*topk.Selection[[2]int], len(t.sizes))
	for c := range borders {
		borders[c] = topk.NewSelection[[2]int](cmp.Or(m.K2, 40*t.sizes[c]))
	}
	var nearest []topk.Scored
	guard.Check(t.EachGram(ctx, func(from int, part *mat.Dense) {
		r, _ := part.Dims()
		for a := range r {
			i, c := from+a, t.class[from+a]
			nearest = nearest[:0]
			own, others := math.Inf(1), borders[c].Limit()
			for j, g := range part.RawRowView(a) {
				d := squaredDistance(square[i], square[j], g)
				switch {
				case t.class[j] != c:
					if d <= others {
						borders[c].Add(d, [2]int{min(i, j), max(i, j)})
						others = borders[c].Limit()
					}
				case d <= own && j != i:
					if nearest = topk.Insert(nearest, k1, topk.Scored{Row: j, Score: d}, topk.Scored.Compare); len(nearest) == k1 {
						own = nearest[k1-1].Score
					}
				}
			}
			for _, p := range nearest {
				joined = append(joined, [2]int{min(i, p.Row), max(i, p.Row)})
			}
		}
	}))
	for _, b := range borders {
		b.Each(func(p [2]int) { parted = append(parted, p) })
	}
	return joined, parted
}

// binaryGraph returns the symmetric graph with weight 1 for each pair. Pairs may repeat.
func binaryGraph(n int, pairs [][2]int) *CSR {
	entries := make([]sparse.Entry, 0, 2*len(pairs))
	for _, p := range pairs {
		entries = append(entries, sparse.Entry{Row: p[0], Col: p[1], Value: 1}, sparse.Entry{Row: p[1], Col: p[0], Value: 1})
	}
	g := sparse.FromEntries(n, n, entries)
	for p := range g.Values {
		g.Values[p] = 1
	}
	return g
}
