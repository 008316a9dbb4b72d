package vocab

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/lloyd"
	panels "github.com/seed4492f2cd/partwise/internal/panel"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/internal/settings/enum"
)

// Method is the algorithm that learns words.
type Method int

const (
	// MethodLloyd is k-means until convergence, on a subset of the descriptors that doubles when the objective
	// converges. Words move 1.9 times the way to the mean, which halves the number of iterations and never raises
	// the objective. The first and the last step on each subset go to the mean.
	MethodLloyd Method = iota
	// MethodMiniBatch doubles the subset after a few steps, and reads all descriptors two or three times (Newling and
	// Fleuret, "Nested mini-batch k-means", 2016). It comes within 1 % of Lloyd's objective in a fifth of the time.
	MethodMiniBatch
)

var methods = enum.Of[Method]("method", "lloyd", "mini-batch")

// String returns the name of the method in settings.
func (m Method) String() string                   { return methods.String(m) }
func (m *Method) UnmarshalText(text []byte) error { return methods.UnmarshalText(m, text) }
func (m Method) MarshalText() ([]byte, error)     { return methods.MarshalText(m) }
func (Method) Values() []string                   { return methods.Values() }

// Training holds the settings for learning a vocabulary. The zero value means 200 words by Lloyd's algorithm. Up to 8192
// words start by k-means++ (Arthur and Vassilvitskii 2007), which would dominate the time of more; these start at distinct
// random descriptors.
type Training struct {
	Words  int    // 0 means 200
	Method Method // the algorithm
	// MaxIterations is the largest number of iterations on each subset and on all descriptors; 0 means 300.
	MaxIterations int
	// Tolerance stops the training when an iteration over all descriptors lowers the objective by at most this fraction
	// of it. A subset is doubled by the same rule, with a tolerance of at least 1e-3. 0 means 3e-5, and 1e-2 for
	// MethodMiniBatch.
	Tolerance float64
	Seed      uint64 // seed of the initial words
	// Progress, if set, is called after every iteration. total is -1, because it is unknown.
	Progress func(done, total int)
	// traced, if set, is called after every iteration with the number of descriptors and their mean squared distance.
	traced func(iteration, descriptors int, mean float64)
}

// withDefaults fills in the defaults. It calls guard.Fail for settings that are invalid for the sample.
func (t Training) withDefaults(vectors []uint8, dim int) Training {
	t.Words = cmp.Or(t.Words, 200)
	if t.Method == MethodMiniBatch {
		t.Tolerance = cmp.Or(t.Tolerance, 1e-2)
	}
	t.Tolerance, t.MaxIterations = cmp.Or(t.Tolerance, 3e-5), cmp.Or(t.MaxIterations, 300)
	guard.Check(checkSize(t.Words, dim))
	guard.FailIf(len(vectors) == 0, "%w", features.ErrNoDescriptors)
	guard.FailIf(len(vectors)%dim != 0, "%d bytes are not descriptors of length %d", len(vectors), dim)
	guard.FailIf(t.Method != MethodLloyd && t.Method != MethodMiniBatch, "unknown %v", t.Method)
	guard.FailIf(t.MaxIterations < 0, "maximum of %d iterations; expected 0 or more", t.MaxIterations)
	guard.FailIf(math.IsNaN(t.Tolerance) || t.Tolerance < 0, "tolerance %v; expected 0 or more", t.Tolerance)
	return t
}

// Train learns words from descriptors, n rows of dim bytes. Fewer distinct descriptors than words are an error; without
// descriptors it wraps [features.ErrNoDescriptors]. k-means++ takes four times the memory of the first
// subset.
func (t Training) Train(ctx context.Context, vectors []uint8, dim int) (_ *Vocabulary, err error) {
	defer wrap(&err, "vocabulary")
	defer guard.Catch(&err)
	t = t.withDefaults(vectors, dim)
	s := &sample{vectors: vectors, dim: dim, order: rng.New(t.Seed, "vocabulary order").Perm(len(vectors) / dim)}
	first := s.distinctRows(t.Words)
	halvings, least := 0, max(first[len(first)-1]+1, leastPart*t.Words)
	for s.len()>>(halvings+1) >= least {
		halvings++
	}
	if t.Words <= mostPlusPlus {
		random := rng.New(t.Seed, "vocabulary seeds")
		first = guard.Must(plusPlus(ctx, s, s.len()>>halvings, t.Words, random))
	}
	words := newPoints(t.Words, dim)
	for j, i := range first {
		for f, v := range s.row(i) {
			words.word(j)[f] = float64(v)
		}
		words.prepare(j)
	}
	k := newKMeans(t, s, words)
	for ; halvings > 0; halvings-- {
		guard.Check(k.iterateOn(ctx, s.len()>>halvings, max(t.Tolerance, partTolerance)))
	}
	return &Vocabulary{mat.NewDense(words.n, dim, words.values)}, k.iterateOn(ctx, s.len(), t.Tolerance)
}

// leastPart is the smallest number of descriptors per word in the first subset, and mostPlusPlus the largest number of
// words that start by k-means++.
const leastPart, mostPlusPlus = 15, 8192

// A sample is the training data: rows of bytes in random order.
type sample struct {
	vectors []uint8
	dim     int
	order   []int
}

func (s *sample) len() int { return len(s.order) }

func (s *sample) row(i int) []uint8 {
	at := s.order[i] * s.dim
	return s.vectors[at : at+s.dim]
}

// distinctRows returns the first distinct rows, one for each word. It calls guard.Fail if they are too few.
func (s *sample) distinctRows(words int) (rows []int) {
	guard.FailIf(s.len() < words, "%d words cannot be learned from %d descriptors", words, s.len())
	seen := make(map[string]struct{}, words)
	for i := 0; i < s.len() && len(rows) < words; i++ {
		if seen[string(s.row(i))] = struct{}{}; len(seen) > len(rows) {
			rows = append(rows, i)
		}
	}
	guard.FailIf(len(rows) < words, "%d words cannot be learned from %d descriptors, only %d of them distinct", words, s.len(), len(rows))
	return rows
}

// plusPlus draws the initial words among the first part rows of the sample, which must hold enough distinct rows. Single
// precision is exact for rows of up to 258 bytes. Longer rows that are nearly equal may both be drawn; the second word is
// then empty, and k-means fills it.
func plusPlus(ctx context.Context, s *sample, part, words int, random *rand.Rand) ([]int, error) {
	single, squares := make([]float32, 0, part*s.dim), make([]float64, part)
	for i := range part {
		for _, v := range s.row(i) {
			single = append(single, float32(v))
		}
		squares[i] = float64(square(s.row(i)))
	}
	rows := matrix(single, s.dim)
	against, of := matrix(nil, s.dim), []float64(nil) // the candidates and their ‖x‖²
	p := lloyd.PlusPlus{
		First: slices.Repeat([]float64{math.Inf(1)}, part),
		Propose: func(candidates []int) {
			against.Data, of = against.Data[:0], of[:0]
			for _, i := range candidates {
				against.Data, of = append(against.Data, single[i*s.dim:(i+1)*s.dim]...), append(of, squares[i])
			}
			against.Rows = len(candidates)
		},
		Cost: func(out []float64, lo, hi int) {
			products := make([]float32, len(out))
			panels.Dots(products, rows, lo, hi, against)
			for at, product := range products {
				out[at] = panels.Squared(squares[lo+at/len(of)], of[at%len(of)], float64(product))
			}
		},
	}
	return p.Draw(ctx, words, random)
}

// kmeans is the state of a training. Sums are integers, so they do not depend on the order of descriptors.
type kmeans struct {
	Training
	*sample
	words  *points
	sums   []int64 // words×dim
	counts []int
	labels []int32 // word of each descriptor, or −1 before its first assignment
	next   []int32 // words found by assign

	iteration int
}

// kmeansBlock is the number of rows of a work item.
const kmeansBlock = 1024

func newKMeans(t Training, s *sample, words *points) *kmeans {
	return &kmeans{
		Training: t, sample: s, words: words,
		sums: make([]int64, len(words.values)), counts: make([]int, words.n),
		labels: slices.Repeat([]int32{-1}, s.len()), next: make([]int32, s.len()),
	}
}

const (
	// overshoot is the length of a step relative to the way to the mean. Up to 2, a word does not end up farther from
	// the mean than before.
	overshoot = 1.9
	// partTolerance is the smallest tolerance on subsets, whose best words differ from the best of all descriptors.
	partTolerance = 1e-3
)

// iterateOn iterates on the first part rows of the sample until the objective's relative decrease is at most tolerance.
func (k *kmeans) iterateOn(ctx context.Context, part int, tolerance float64) error {
	squares := 0.0
	for i := range part {
		squares += float64(square(k.row(i)))
	}
	before := math.Inf(1)
	for i := 1; ; i++ {
		if err := k.assign(ctx, part); err != nil {
			return err
		}
		for row, to := range k.next[:part] {
			k.relabel(row, to)
		}
		cost := k.cost(squares)
		k.iteration++
		if k.traced != nil {
			k.traced(k.iteration, part, cost/float64(part))
		}
		if k.Progress != nil {
			k.Progress(k.iteration, -1)
		}
		for _, j := range k.fillEmpty(part) {
			k.move(j, 1)
		}
		last := before-cost <= tolerance*cost || i == k.MaxIterations
		step := overshoot
		if i == 1 || last {
			step = 1
		}
		for j := range k.words.n {
			k.move(j, step)
		}
		if last {
			return nil
		}
		before = cost
	}
}

// assign finds the words of the first part rows of the sample.
func (k *kmeans) assign(ctx context.Context, part int) error {
	f := newFinder(k.words)
	return parallel.Blocks(ctx, 0, part, kmeansBlock, func(_, lo, hi int) {
		f.eachNearest(hi-lo, func(i int) []uint8 { return k.row(lo + i) }, 1, func(i int, near []neighbour) { k.next[lo+i] = near[0].word })
	})
}

func (k *kmeans) relabel(i int, to int32) {
	from := k.labels[i]
	if from == to {
		return
	}
	k.labels[i] = to
	k.counts[to]++
	in := k.sumsOf(int(to))
	for f, v := range k.row(i) {
		in[f] += int64(v)
	}
	if from < 0 {
		return
	}
	k.counts[from]--
	out := k.sumsOf(int(from))
	for f, v := range k.row(i) {
		out[f] -= int64(v)
	}
}

func (k *kmeans) sumsOf(j int) []int64 { return k.sums[j*k.dim : (j+1)*k.dim] }

// cost returns Σ‖x − w‖² over labelled rows x and their words w, as Σ‖x‖² + Σ(count·‖w‖² − 2wᵀsum).
func (k *kmeans) cost(squares float64) float64 {
	cost := squares
	for j, count := range k.counts {
		sums := k.sumsOf(j)
		for f, w := range k.words.word(j) {
			cost += w * (float64(count)*w - 2*float64(sums[f]))
		}
	}
	return max(cost, 0)
}

// move moves word j by step times the way to the mean of its descriptors, of which it must have some.
func (k *kmeans) move(j int, step float64) {
	count, sums, word := float64(k.counts[j]), k.sumsOf(j), k.words.word(j)
	for f, old := range word {
		word[f] = float64(sums[f]) / count
		if step != 1 {
			word[f] = old + step*(word[f]-old)
		}
	}
	k.words.prepare(j)
}

// fillEmpty assigns a descriptor of the first part rows to each empty word, and returns these words.
func (k *kmeans) fillEmpty(part int) []int {
	filled := lists.Indices(k.counts, func(count int) bool { return count == 0 })
	if len(filled) == 0 {
		return nil
	}
	costs := make([]float64, part)
	for i := range costs {
		costs[i] = k.words.distance(k.row(i), int(k.labels[i]))
	}
	lloyd.FillEmpty(k.next[:part], slices.Clone(k.counts), costs, func(int) bool { return true })
	for i, to := range k.next[:part] {
		k.relabel(i, to)
	}
	return filled
}
