package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/sparse"
	"github.com/seed4492f2cd/partwise/internal/timing"
	"github.com/seed4492f2cd/partwise/vocab"
)

// joined are several features of a set, of which each sample has the columns of all, one
// feature after the other. The values of each are multiplied by √w/√(Σᵢ‖xᵢ‖²/n), for the
// n samples that are learned from and the weight w, so that the mean of their squared
// lengths, and with it what the feature adds to a squared distance or a squared error,
// does not depend on how many columns it has or how large its values are. That is the
// scaling of blocks in chemometrics (Westerhuis, Kourti and MacGregor 1998), and the
// scalar products are a sum of kernels of the same mean trace, weighted by w (Gehler and
// Nowozin 2009).
type joined struct {
	set     *datasets.Set
	members []member
}

// member is one of joined features.
type member struct {
	Weighted
	// bag makes visual words; other features have the rows x, and sample i of the set has
	// row at[i] of them.
	bag *bag
	x   mat.Matrix
	at  []int
	// release gives back the share of the memory budget of x.
	release func()
}

// Scale is by what the values of one of several features were multiplied.
type Scale struct {
	// Name is that of the feature, with a number from 2 where it has had the name before.
	Name string
	// Columns is how many it has.
	Columns int
	Factor  float64
}

// newJoined makes the rows of the features, and describes images for those that are visual
// words. It returns the samples that all of them can use, and an error for each other one.
func newJoined(ctx context.Context, in *Inputs, progress *reporter, store *keeper) (j *joined, rows []int, skipped []error, err error) {
	f := in.Features
	if err := f.checkJoined(); err != nil {
		return nil, nil, nil, fmt.Errorf("features: %w", err)
	}
	n := in.Set.Len()
	j = &joined{set: in.Set, members: make([]member, len(f.Joined))}
	bad := make([]error, n)
	// A file of words or eyes that is not there is found before images are read.
	var order []int
	for at, w := range f.Joined {
		j.members[at] = member{Weighted: w, release: func() {}}
		if _, err := w.Features.Crop.crop(); err != nil {
			return nil, nil, nil, err
		}
		if w.Features.OfWords() {
			order = slices.Insert(order, 0, at)
		} else {
			order = append(order, at)
		}
	}
	for _, at := range order {
		m := &j.members[at]
		w := m.Weighted
		w.Features.SkipBad = f.SkipBad
		var used []int
		var left []error
		if w.Features.OfWords() {
			described := timing.Start(ctx, timing.Describing)
			m.bag, err = newBag(ctx, in.Set, in.images, w.Features, store, in.pictures.observer(), progress)
			described()
			if err == nil {
				used, left = m.bag.Rows, m.bag.Skipped
			}
		} else {
			var made *features.Matrix
			if made, err = w.Features.extract(ctx, in.Set, features.Options{
				SkipBad: f.SkipBad, Images: in.images, Cache: store, Observer: in.pictures.observer(), Progress: progress.of("reading"),
			}); err == nil {
				used, left, m.x = made.Rows, made.Skipped, made.X
				size, columns := m.x.Dims()
				var release func()
				if release, err = memory.FromContext(ctx).Keep(bytesOf(m.x), sized("the features of "+in.Set.Name, size, columns)); err == nil {
					m.release = release
				}
			}
		}
		if err != nil {
			j.release()
			return nil, nil, nil, err
		}
		m.at = make([]int, n)
		next := 0
		for i := range m.at {
			if at := i - next; at < len(used) && used[at] == i {
				m.at[i] = at
				continue
			}
			if m.at[i] = -1; bad[i] == nil {
				bad[i] = left[next]
			}
			next++
		}
	}
	for i, err := range bad {
		if err == nil {
			rows = append(rows, i)
		} else {
			skipped = append(skipped, err)
		}
	}
	if len(rows) == 0 {
		j.release()
		return nil, nil, nil, fmt.Errorf("features: none of the %d samples of %s can be used by all of the features: %w", n, in.Set.Name, skipped[0])
	}
	return j, rows, skipped, nil
}

// release gives back the shares of the memory budget.
func (j *joined) release() {
	for _, m := range j.members {
		m.release()
	}
}

// columns implements [learner].
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
	_, columns := m.x.Dims()
	return columns
}

// wordsFrom returns the first of the columns that are visual words, and the bag that makes
// them, or nil.
func (j *joined) wordsFrom() (from int, b *bag) {
	for _, m := range j.members {
		if m.bag != nil {
			return from, m.bag
		}
		from += m.columns()
	}
	return 0, nil
}

// density implements [learner].
func (j *joined) density(samples []int) (isSparse bool, stored float64) {
	for _, m := range j.members {
		if m.bag != nil {
			_, of := m.bag.density(samples)
			isSparse, stored = true, stored+of
			continue
		}
		if s, ok := m.x.(*sparse.CSR); ok {
			rows, _ := s.Dims()
			isSparse, stored = true, stored+float64(s.NNZ())/float64(rows)
			continue
		}
		stored += float64(m.columns())
	}
	return isSparse, stored
}

// fingerprint implements [learner].
func (j *joined) fingerprint(w io.Writer, samples []int) {
	for _, m := range j.members {
		fmt.Fprintf(w, "feature %v %v ", cmp.Or(m.Weight, 1), m.Scale)
		if m.bag != nil {
			m.bag.fingerprint(w, samples)
			continue
		}
		digestRows(w, m.x, m.rows(samples))
	}
}

// firstNegative returns the first negative value of a feature that samples have, and its
// place among them and the columns.
func (j *joined) firstNegative(samples []int) (at, column int, value float64, found bool) {
	from := 0
	for _, m := range j.members {
		if m.x != nil {
			if at, column, value, found = negativeAmong(m.x, m.rows(samples)); found {
				return at, from + column, value, true
			}
		}
		from += m.columns()
	}
	return 0, 0, 0, false
}

// rows returns which rows of x the samples have.
func (m *member) rows(samples []int) []int {
	rows := make([]int, len(samples))
	for at, i := range samples {
		rows[at] = m.at[i]
	}
	return rows
}

// learn implements [learner].
func (j *joined) learn(ctx context.Context, samples []int, learn int, seed uint64) (*learnt, error) {
	out := &learnt{}
	var pieces []piece
	names := map[string]int{}
	for _, m := range j.members {
		p := piece{x: m.x}
		if m.bag != nil {
			words, err := m.bag.learn(ctx, samples, learn, seed)
			if err != nil {
				return nil, err
			}
			out.vocabulary, out.wordWeights, p.x = words.vocabulary, words.wordWeights, words.x
			for at := range samples {
				p.rows = append(p.rows, at)
			}
		} else {
			p.rows = m.rows(samples)
		}
		name := features.InfoOf(m.Features.extractor()).Name
		if names[name]++; names[name] > 1 {
			name = fmt.Sprint(name, names[name])
		}
		if p.factor = m.Scale; p.factor == 0 {
			length := rootMeanSquare(p.x, p.rows[:learn])
			if p.factor = math.Sqrt(cmp.Or(m.Weight, 1)) / length; length == 0 {
				p.factor = 1
			}
			if !(p.factor > 0) || math.IsInf(p.factor, 0) {
				return nil, fmt.Errorf("features: the values of %s (%s) are too small or too large to be scaled", name, m.Features)
			}
		}
		pieces = append(pieces, p)
		out.scales = append(out.scales, Scale{name, p.columns(), p.factor})
	}
	var err error
	out.x, err = join(ctx, j.set, samples, pieces)
	return out, err
}

// rootMeanSquare returns the square root of the mean of the squared lengths of rows of x.
func rootMeanSquare(x mat.Matrix, rows []int) float64 {
	var largest, sum float64
	eachValue(x, rows, func(_, _ int, v float64) { largest = max(largest, math.Abs(v)) })
	if largest == 0 {
		return 0
	}
	eachValue(x, rows, func(_, _ int, v float64) { sum += v / largest * (v / largest) })
	return largest * math.Sqrt(sum/float64(len(rows)))
}

// piece are the columns of joined features that one of them makes.
type piece struct {
	x      mat.Matrix
	rows   []int // of x, by sample
	factor float64
}

func (p *piece) columns() int {
	_, m := p.x.Dims()
	return m
}

// join returns the matrix of all columns of samples of a set, sparse where one of the
// pieces is.
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
	release, err := memory.FromContext(ctx).Keep(need, sized("the features of "+set.Name, n, m))
	if err != nil {
		return nil, err
	}
	defer release()
	var dense *mat.Dense
	start, columns, values := make([]int, 1, n+1), []int(nil), []float64(nil)
	if isSparse {
		columns, values = make([]int, 0, stored), make([]float64, 0, stored)
	} else {
		dense = mat.NewDense(n, m, nil)
	}
	for at := range samples {
		from, wrong := 0, false
		for _, p := range pieces {
			eachValue(p.x, p.rows[at:at+1], func(_, j int, v float64) {
				v *= p.factor
				wrong = wrong || math.IsInf(v, 0)
				switch {
				case !isSparse:
					dense.Set(at, from+j, v)
				case v != 0:
					columns, values = append(columns, from+j), append(values, v)
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
		return dense, nil
	}
	return sparse.New(n, m, start, columns, values)
}

// learner makes features that are learned from some of the samples.
type learner interface {
	// learn returns the features of samples of the set, of which the first learn are those
	// that are learned from.
	learn(ctx context.Context, samples []int, learn int, seed uint64) (*learnt, error)
	// columns is how many features there are.
	columns() int
	// density tells whether they are sparse, and about how many values of a sample are
	// stored then, on average.
	density(samples []int) (isSparse bool, stored float64)
	// fingerprint writes what those of samples depend on beside the seed.
	fingerprint(w io.Writer, samples []int)
	// firstNegative returns the first negative value among those of samples, and its place.
	firstNegative(samples []int) (at, column int, value float64, found bool)
}

// learnt are features of samples and what was learned for them.
type learnt struct {
	x          mat.Matrix
	vocabulary *vocab.Vocabulary // nil where there are no words
	scales     []Scale           // nil where nothing is joined
	// wordWeights are the inverse document frequencies of the words' columns, or nil.
	wordWeights []float64
}
