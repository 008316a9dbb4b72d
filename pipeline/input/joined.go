package input

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/sparse"
	"github.com/seed4492f2cd/partwise/internal/timing"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
	"github.com/seed4492f2cd/partwise/vocab"
)

// joined are several features side by side: each sample has the columns of all of them. The values of each are
// multiplied by √w/√(Σᵢ‖xᵢ‖²/n), for n training samples and the weight w. The mean squared length of a feature is then
// w, whatever its number of columns or the size of its values. This is block scaling in chemometrics (Westerhuis,
// Kourti and MacGregor 1998). The inner products are then a weighted sum of kernels with equal mean traces (Gehler and
// Nowozin 2009).
type joined struct {
	in      *Inputs
	members []member
}

type member struct {
	spec.Weighted
	// bag computes visual words. Others have the matrix made.X, and sample i of the set is its row rowOf[i].
	bag   *bag
	made  *features.Matrix
	rowOf []int
}

// newJoined computes the features, and describes images for visual words. It sets Rows and Skipped of the inputs: the
// samples that all features can use, and an error for each other sample.
func newJoined(ctx context.Context, in *Inputs) *joined {
	f := in.Features
	guard.Check(guard.Wrap(f.CheckJoined(), "features"))
	n := in.Set.Len()
	j := &joined{in: in, members: make([]member, len(f.Joined))}
	order := matrix.Range(len(f.Joined))
	for at, w := range f.Joined {
		guard.Must(w.Features.Crop.Cropper())
		j.members[at].Weighted = w
		if w.Features.OfWords() { // a missing file of words is found before images are read
			order = slices.Insert(slices.Delete(order, at, at+1), 0, at)
		}
	}
	bad := make([]error, n)
	for _, at := range order {
		left := j.members[at].make(ctx, in)
		for i, row := range j.members[at].rowOf {
			if row < 0 {
				bad[i], left = cmp.Or(bad[i], left[0]), left[1:]
			}
		}
	}
	for i, err := range bad {
		if err == nil {
			in.Rows = append(in.Rows, i)
		} else {
			in.Skipped = append(in.Skipped, err)
		}
	}
	if len(in.Rows) == 0 {
		guard.Fail("features: none of the %d samples of %s is usable for all joined features: %w", n, in.Set.Name, in.Skipped[0])
	}
	return j
}

// make computes the feature of the samples, and returns an error for each unusable one.
func (m *member) make(ctx context.Context, in *Inputs) (skipped []error) {
	var used []int
	f := m.Features
	f.SkipBad = in.Features.SkipBad
	if f.OfWords() {
		m.bag = guard.Must(newBag(ctx, in, f))
		used, skipped = m.bag.Rows, m.bag.Skipped
	} else {
		m.made = guard.Must(f.Extract(ctx, in.Set, in.options("reading")))
		in.reserveMatrix(ctx, "the features of "+in.Set.Name, m.made.X)
		used, skipped = m.made.Rows, m.made.Skipped
	}
	m.rowOf = PlacesOf(used, in.Set.Len())
	return skipped
}

func (j *joined) columns() (columns int) {
	for _, m := range j.members {
		columns += m.columns()
	}
	return columns
}

func (m *member) columns() int {
	if m.bag != nil {
		return m.bag.columns()
	}
	_, columns := m.made.X.Dims()
	return columns
}

func (j *joined) density(samples []int) (isSparse bool, stored float64) {
	for _, m := range j.members {
		if m.bag != nil {
			_, of := m.bag.density(samples)
			isSparse, stored = true, stored+of
			continue
		}
		if s, ok := m.made.X.(*sparse.CSR); ok {
			rows, _ := s.Dims()
			isSparse, stored = true, stored+float64(s.NNZ())/float64(rows)
			continue
		}
		stored += float64(m.columns())
	}
	return isSparse, stored
}

func (j *joined) fingerprint(w io.Writer, samples []int) {
	for _, m := range j.members {
		fmt.Fprintf(w, "feature %v %v ", cmp.Or(m.Weight, 1), m.Scale)
		if m.bag != nil {
			m.bag.fingerprint(w, samples)
			continue
		}
		matrix.WriteRows(w, m.made.X, m.rows(samples))
	}
}

// firstNegative returns the first negative value of the samples, and its row and column.
func (j *joined) firstNegative(samples []int) (at, column int, value float64, found bool) {
	from := 0
	for _, m := range j.members {
		if m.bag == nil {
			if at, column, value, found = matrix.FirstNegative(m.made.X, m.rows(samples)); found {
				return at, from + column, value, true
			}
		}
		from += m.columns()
	}
	return 0, 0, 0, false
}

// rows returns the rows of x that hold the samples.
func (m *member) rows(samples []int) []int { return matrix.Take(m.rowOf, samples) }

func (j *joined) learn(ctx context.Context, samples []int, learn int, seed uint64) (x mat.Matrix, out Learned, err error) {
	var pieces []piece
	names := map[string]int{}
	for _, m := range j.members {
		var p piece
		if m.bag == nil {
			p = piece{x: m.made.X, rows: m.rows(samples)}
		} else {
			p.rows = matrix.Range(len(samples))
			var words Learned
			if p.x, words, err = m.bag.learn(ctx, samples, learn, seed); err != nil {
				return nil, out, err
			}
			out.Vocabulary, out.WordWeights = words.Vocabulary, words.WordWeights
		}
		name := features.InfoOf(m.Features.ExtractorOrPixels()).Name
		if names[name]++; names[name] > 1 {
			name = fmt.Sprint(name, names[name])
		}
		if p.factor = m.Scale; p.factor == 0 {
			length := rootMeanSquare(p.x, p.rows[:learn])
			if p.factor = math.Sqrt(cmp.Or(m.Weight, 1)) / length; length == 0 {
				p.factor = 1
			}
		}
		if !(p.factor > 0) || math.IsInf(p.factor, 0) {
			return nil, out, fmt.Errorf("features: the values of %s (%s) are too small or too large to be scaled", name, m.Features)
		}
		pieces = append(pieces, p)
		out.Scales = append(out.Scales, vectorfile.Columns{Name: name, Count: p.columns(), Scale: p.factor})
	}
	x, err = join(ctx, j.in.Set, samples, pieces)
	return x, out, err
}

// rootMeanSquare returns the square root of the mean squared length of rows of x.
func rootMeanSquare(x mat.Matrix, rows []int) float64 {
	var largest, sum float64
	matrix.EachValue(x, rows, func(_, _ int, v float64) { largest = max(largest, math.Abs(v)) })
	if largest == 0 {
		return 0
	}
	matrix.EachValue(x, rows, func(_, _ int, v float64) { sum += v / largest * (v / largest) })
	return largest * math.Sqrt(sum/float64(len(rows)))
}

// piece is the columns of one of the joined features.
type piece struct {
	x      mat.Matrix
	rows   []int // of x, by sample
	factor float64
}

func (p *piece) columns() int {
	_, m := p.x.Dims()
	return m
}

// join returns the matrix of all columns of samples of a set. It is sparse if one of the pieces is.
func join(ctx context.Context, set *datasets.Set, samples []int, pieces []piece) (mat.Matrix, error) {
	n, m, stored, isSparse := len(samples), 0, 0, false
	for _, p := range pieces {
		columns := p.columns()
		m += columns
		if s, ok := p.x.(*sparse.CSR); ok {
			isSparse = true
			for _, i := range p.rows {
				stored += s.RowStart[i+1] - s.RowStart[i]
			}
		} else {
			stored += n * columns
		}
	}
	need := 8 * int64(n) * int64(m)
	if isSparse {
		need = 16 * int64(stored)
	}
	release, err := memory.FromContext(ctx).Keep(need, describeSize("the features of "+set.Name, n, m))
	if err != nil {
		return nil, err
	}
	defer release()
	start, columns, values := make([]int, 1, n+1), []int(nil), make([]float64, 0, stored)
	if isSparse {
		columns = make([]int, 0, stored)
	}
	for at := range samples {
		from, wrong := 0, false
		for _, p := range pieces {
			matrix.EachValue(p.x, p.rows[at:at+1], func(_, j int, v float64) {
				v *= p.factor
				wrong = wrong || math.IsInf(v, 0)
				if isSparse && v != 0 {
					columns = append(columns, from+j)
				}
				if !isSparse || v != 0 {
					values = append(values, v)
				}
			})
			from += p.columns()
		}
		if wrong {
			return nil, fmt.Errorf("features: %s: the values are too large to be scaled", set.Names[samples[at]])
		}
		start = append(start, len(values))
	}
	if !isSparse {
		return mat.NewDense(n, m, values), nil
	}
	return sparse.New(n, m, start, columns, values)
}

// learner computes features that are learned from some of the samples.
type learner interface {
	// learn returns the features of samples of the set, learned from the first learn of them.
	learn(ctx context.Context, samples []int, learn int, seed uint64) (mat.Matrix, Learned, error)
	// columns returns the number of features.
	columns() int
	// density returns whether the features are sparse, and about how many values of a sample are stored.
	density(samples []int) (isSparse bool, stored float64)
	// fingerprint writes everything that the features of samples depend on except the seed.
	fingerprint(w io.Writer, samples []int)
	// firstNegative returns the first negative value of samples, and its row and column.
	firstNegative(samples []int) (at, column int, value float64, found bool)
}

// Learned holds the learned parts of features.
type Learned struct {
	Vocabulary *vocab.Vocabulary // nil without visual words
	// Scales are the joined features by name, numbered from 2 if it is repeated; nil without joined features.
	Scales []vectorfile.Columns
	// WordWeights are the inverse document frequencies of the words' columns, or nil.
	WordWeights []float64
	// Propagated represents new samples, if features are whitened or propagated.
	Propagated *cluster.Propagated
}

// The features come from X, from Blocks, or from a learner that each draw runs.

// Dims returns the number of samples and of features.
func (in *Inputs) Dims() (n, m int) {
	switch {
	case in.X != nil:
		return in.X.Dims()
	case in.Blocks != nil:
		return in.Blocks.Dims()
	}
	n = len(in.Rows)
	return n, cluster.Propagation{Ridge: in.Features.Whiten}.Columns(n, in.learner.columns())
}

// Density returns whether the features are sparse, and the mean number of stored values of a sample.
func (in *Inputs) Density() (isSparse bool, stored float64) {
	if in.learner != nil && !in.Features.Transductive() {
		return in.learner.density(in.Rows)
	}
	x, isSparse := in.X.(*sparse.CSR)
	if !isSparse {
		return false, 0
	}
	n, _ := x.Dims()
	return true, float64(x.NNZ()) / float64(n)
}

// FirstNegative returns the first negative value and its place. Blocks are not searched: their reader checks them.
func (in *Inputs) FirstNegative() (row, column int, value float64, found bool) {
	switch {
	case in.X != nil:
		return matrix.FirstNegative(in.X, matrix.AllRows(in.X))
	case in.learner != nil:
		return in.learner.firstNegative(in.Rows)
	}
	return 0, 0, 0, false
}

// PerDraw reports whether each draw learns its own features.
func (in *Inputs) PerDraw() bool { return in.X == nil || in.Features.Transductive() }

// propagate whitens and propagates features as the settings say, and adds what new samples need to learned.
func (in *Inputs) propagate(ctx context.Context, x mat.Matrix, classes int, learned *Learned) (_ mat.Matrix, err error) {
	defer guard.Catch(&err)
	f := in.Features
	if !f.Transductive() {
		return x, nil
	}
	by := cluster.Propagation{Ridge: f.Whiten, Share: f.Propagate, Clusters: classes}
	n, m := x.Dims()
	release, err := memory.FromContext(ctx).Acquire(ctx, int64(by.Memory(n, m)), describeSize("whitening and propagating "+in.Set.Name, n, m))
	guard.Check(err)
	defer release()
	var y *mat.Dense
	if learned.Propagated = f.Propagated; learned.Propagated != nil {
		y, err = learned.Propagated.Transform(ctx, x)
	} else {
		y, learned.Propagated, err = by.Fit(ctx, x)
	}
	guard.Check(guard.Wrap(err, "%s", in.Set.Name))
	return y, nil
}

// View is the features of a draw's samples, of its test samples, and of both. Rows are copied at the first call.
type View struct {
	X, Test, Both func() mat.Matrix
	Learned
}

// View returns the features of the rows of a draw of some classes, learned from train; test are the rows to classify.
// Whitening and propagation learn from both. seed is the draw's seed.
func (in *Inputs) View(ctx context.Context, train, test []int, classes int, seed uint64) (*View, error) {
	picked := func(x mat.Matrix, rows []int) func() mat.Matrix {
		return sync.OnceValue(func() mat.Matrix { return matrix.SelectRows(x, rows) })
	}
	both := slices.Concat(train, test)
	places := matrix.Range(len(both))
	switch {
	case in.X != nil && in.PerDraw() && len(both) < len(in.Rows):
		x, learned := matrix.SelectRows(in.extracted, both), in.Learned
		x, err := in.propagate(ctx, x, classes, &learned)
		return &View{picked(x, places[:len(train)]), picked(x, places[len(train):]), picked(x, places), learned}, err
	case in.X != nil:
		return &View{picked(in.X, train), picked(in.X, test), picked(in.X, both), in.Learned}, nil
	case in.Blocks != nil:
		return nil, errors.New("experiments do not support inputs in batches")
	case in.Bag != nil:
		defer timing.Start(ctx, timing.DrawnWords)()
	}
	all, learned, err := in.learner.learn(ctx, matrix.Take(in.Rows, both), len(train), seed)
	if err == nil {
		all, err = in.propagate(ctx, all, classes, &learned)
	}
	if err != nil {
		return nil, err
	}
	x, other := matrix.SelectRows(all, places[:len(train)]), matrix.SelectRows(all, places[len(train):])
	return &View{func() mat.Matrix { return x }, func() mat.Matrix { return other }, func() mat.Matrix { return all }, learned}, nil
}
