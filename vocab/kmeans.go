package vocab

import (
	"context"
	"math"
	"slices"

	"github.com/seed4492f2cd/partwise/internal/lloyd"
	"github.com/seed4492f2cd/partwise/internal/parallel"
)

// kmeans is the state of a training. Words are the means of their descriptors, kept as sums of whole numbers, which
// do not depend on the order of descriptors.
//
// A descriptor is compared with all words only if its bounds leave a choice, so the answer is that of plain
// k-means.
type kmeans struct {
	Training
	*sample
	words   *points
	sums    []int64 // words×dim
	counts  []int
	forest  *forest       // of the words, where the assignment is not exact
	bounds  *lloyd.Bounds // nil with a forest
	squares []int32       // each descriptor's ‖x‖²
	labels  []int32       // each descriptor's word, −1 where it has none yet
	next    []int32       // the words that assign finds
	steps   []float64     // how far each word moved since the last assignment
	workers []worker
}

// A worker has buffers of its own.
type worker struct {
	panel *panel
	rows  []int // those of the panel
	walk  *walk
}

// kmeansBlock is how many rows a worker takes at a time.
const kmeansBlock = 1024

func newKMeans(t Training, s *sample, words *points) *kmeans {
	k := &kmeans{
		Training: t, sample: s, words: words,
		sums: make([]int64, len(words.values)), counts: make([]int, words.n),
		squares: make([]int32, s.len()),
		labels:  slices.Repeat([]int32{-1}, s.len()),
		next:    make([]int32, s.len()),
		steps:   make([]float64, words.n),
		workers: make([]worker, min(parallel.Cores(), parallel.Count(s.len(), kmeansBlock))),
	}
	if k.exact() {
		k.bounds = lloyd.NewBounds(s.len(), words.n, math.MaxUint8*math.Sqrt(float64(s.dim)))
	}
	for w := range k.workers {
		if k.exact() {
			k.workers[w].panel = words.newPanel()
		} else {
			k.workers[w].walk = words.newWalk()
		}
	}
	return k
}

// exact reports whether descriptors are compared with all words.
func (k *kmeans) exact() bool { return k.Checks >= k.words.n }

const (
	// overshoot is how far words move for each step to the mean. Up to 2, they
	// end up no farther from it than they were.
	overshoot = 1.9
	// partTolerance is the least tolerance on parts of the descriptors, whose
	// best words are not those of all.
	partTolerance = 1e-3
)

// run learns words from parts of the sample, each twice as large as the one
// before it and the last the whole.
func (k *kmeans) run(ctx context.Context, halvings int) error {
	iteration := 0
	for ; halvings > 0; halvings-- {
		if err := k.settle(ctx, k.len()>>halvings, max(k.Tolerance, partTolerance), &iteration); err != nil {
			return err
		}
	}
	return k.settle(ctx, k.len(), k.Tolerance, &iteration)
}

// settle iterates on the first part of the sample until the objective falls by
// less than a share of it.
func (k *kmeans) settle(ctx context.Context, part int, tolerance float64, iteration *int) error {
	before := math.Inf(1)
	for i := 1; ; i++ {
		if err := k.assign(ctx, part); err != nil {
			return err
		}
		k.relabel(part)
		cost := k.cost(part)
		*iteration++
		if k.traced != nil {
			k.traced(*iteration, part, cost/float64(part))
		}
		if k.Progress != nil {
			k.Progress(*iteration, -1)
		}
		clear(k.steps)
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
		if k.bounds != nil {
			k.bounds.Move(k.steps)
		}
		if last {
			return nil
		}
		before = cost
	}
}

// assign writes the words of the first part of the sample to next.
func (k *kmeans) assign(ctx context.Context, part int) error {
	if !k.exact() {
		var err error
		if k.forest, err = newForest(ctx, k.words); err != nil {
			return err
		}
	}
	return parallel.Blocks(ctx, len(k.workers), part, kmeansBlock, func(worker, lo, hi int) {
		w := &k.workers[worker]
		for i := lo; i < hi; i++ {
			switch {
			case !k.exact():
				k.next[i] = k.search(w, i)
			case k.stays(i):
				k.next[i] = k.labels[i]
			default:
				w.panel.add(k.row(i), k.squares[i])
				if w.rows = append(w.rows, i); w.panel.full() {
					k.compare(w)
				}
			}
		}
		if len(w.rows) > 0 {
			k.compare(w)
		}
	})
}

// stays reports whether the word of row i is certainly the nearest, and the only one.
func (k *kmeans) stays(i int) bool {
	own := int(k.labels[i])
	if own < 0 {
		k.squares[i] = square(k.row(i))
		return false
	}
	if !k.bounds.Known(i) {
		return false
	}
	upper, lower := k.bounds.Of(i, own)
	if upper < lower {
		return true
	}
	if upper = math.Sqrt(k.words.distance(k.row(i), own)); upper < lower {
		k.bounds.Set(i, own, upper, lower)
		return true
	}
	return false
}

// compare assigns the rows of a panel and empties it.
func (k *kmeans) compare(w *worker) {
	k.words.score(w.panel)
	for at, i := range w.rows {
		near := k.words.nearest(w.panel, at, 1)[0]
		k.next[i] = near.word
		k.bounds.Set(i, int(near.word), math.Sqrt(near.distance), k.words.beyond(w.panel, at, int(near.word)))
	}
	w.rows, w.panel.rows = w.rows[:0], w.panel.rows[:0]
}

// search returns the word of row i that the forest finds, or its own where that is no farther, so that the
// objective falls.
func (k *kmeans) search(w *worker, i int) int32 {
	own, x := k.labels[i], k.row(i)
	if own < 0 {
		k.squares[i] = square(x)
	}
	near := k.forest.nearest(w.walk, x, 1, k.Checks)[0]
	if own >= 0 && k.words.distance(x, int(own)) <= near.distance {
		return own
	}
	return near.word
}

// relabel takes over the next labels of the first part of the sample.
func (k *kmeans) relabel(part int) {
	for i, to := range k.next[:part] {
		from := k.labels[i]
		if from == to {
			continue
		}
		if from >= 0 {
			k.count(i, from, -1)
		}
		k.count(i, to, 1)
		k.labels[i] = to
	}
}

// count adds row i to a word, by 1, or takes it away, by −1.
func (k *kmeans) count(i int, word int32, by int64) {
	sums := k.sumsOf(int(word))
	for f, v := range k.row(i) {
		sums[f] += by * int64(v)
	}
	k.counts[word] += int(by)
}

// sumsOf returns the sums of word j's descriptors.
func (k *kmeans) sumsOf(j int) []int64 { return k.sums[j*k.dim : (j+1)*k.dim] }

// cost returns the sum of the squared distances of the first part of the sample to their words w:
// Σ‖x − w‖² = Σ‖x‖² + Σ(count·‖w‖² − 2wᵀsum).
func (k *kmeans) cost(part int) float64 {
	var squares int64
	for _, s := range k.squares[:part] {
		squares += int64(s)
	}
	cost := float64(squares)
	for j, count := range k.counts {
		sums := k.sumsOf(j)
		for f, w := range k.words.word(j) {
			cost += w * (float64(count)*w - 2*float64(sums[f]))
		}
	}
	return max(cost, 0)
}

// move moves word j, which has descriptors, by a step, of 1 to its mean.
func (k *kmeans) move(j int, step float64) {
	count, sums := float64(k.counts[j]), k.sumsOf(j)
	var square float64
	for f, old := range k.words.word(j) {
		to := float64(sums[f]) / count
		if step != 1 {
			to = old + step*(to-old)
		}
		k.words.word(j)[f] = to
		square += (to - old) * (to - old)
	}
	k.words.ready(j)
	k.steps[j] += math.Sqrt(square)
}

// fillEmpty gives each word without descriptors one of the first part of the sample (lloyd.FillEmpty), and
// returns these words. The part has at least as many descriptors as there are words.
func (k *kmeans) fillEmpty(part int) (filled []int) {
	if !slices.Contains(k.counts, 0) {
		return nil
	}
	costs := make([]float64, part)
	for i := range costs {
		costs[i] = k.words.distance(k.row(i), int(k.labels[i]))
	}
	lloyd.FillEmpty(k.labels[:part], k.counts, costs, func(int) bool { return true }, func(i int, from int32) {
		to := k.labels[i]
		k.counts[from]++ // which count lowers again
		k.counts[to]--
		k.count(i, from, -1)
		k.count(i, to, 1)
		if k.bounds != nil {
			k.bounds.Forget(i)
		}
		filled = append(filled, int(to))
	})
	return filled
}
