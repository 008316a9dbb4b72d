package vocab

import (
	"context"
	"math"
	"slices"

	"github.com/seed4492f2cd/partwise/internal/parallel"
)

// kmeans is the state of a training, and the assignment of descriptors.
//
// A descriptor is compared only with words that may be nearer than its own. It
// keeps a bound on how far its own word is and, for each group of words, one
// that no other word of the group is nearer than. Where words move, the first
// rises by as far as its word went, and the others fall by as far as the
// fastest of the group went (Ding et al., "Yinyang k-means", 2015). So the
// answer is that of plain k-means, and late iterations, in which words hardly
// move, cost a small part of the first.
type kmeans struct {
	Training
	*sample
	words   *points
	means   *means
	forest  *forest   // of the words, where the assignment is not exact
	squares []int32   // each descriptor's ‖x‖²
	labels  []int32   // each descriptor's word, −1 where it has none yet
	next    []int32   // what assign makes of them
	reaches []float32 // the word is no farther; nil with a forest
	bounds  []float32 // len×groups: no other word is nearer; nil with a forest
	went    []float32 // how far each word went since the last assignment
	falls   []float32 // how far the fastest word of each group went
	rooms   []room    // of the workers
}

// A room is what a worker needs for itself.
type room struct {
	panel  *panel
	rows   []int // those of the panel
	lookup *lookup
	walk   *walk
}

// kmeansBlock is how many rows a worker takes at a time.
const kmeansBlock = 1024

func newKMeans(t Training, s *sample, words *points) *kmeans {
	k := &kmeans{
		Training: t, sample: s, words: words,
		means:   newMeans(words),
		squares: make([]int32, s.len()),
		labels:  slices.Repeat([]int32{-1}, s.len()),
		next:    make([]int32, s.len()),
		went:    make([]float32, words.n),
		falls:   make([]float32, words.groups()),
		rooms:   make([]room, min(t.Workers, parallel.Count(s.len(), kmeansBlock))),
	}
	if k.exact() {
		k.reaches = make([]float32, s.len())
		k.bounds = make([]float32, s.len()*len(k.falls))
	}
	for w := range k.rooms {
		if k.exact() {
			k.rooms[w].panel, k.rooms[w].lookup = words.newPanel(), words.newLookup()
		} else {
			k.rooms[w].walk = words.newWalk()
		}
	}
	return k
}

// exact reports whether descriptors are compared with all words.
func (k *kmeans) exact() bool { return k.Checks >= k.words.n }

// assign writes the words of the first part of the sample to next.
func (k *kmeans) assign(ctx context.Context, part int) error {
	if !k.exact() {
		var err error
		if k.forest, err = newForest(ctx, k.words); err != nil {
			return err
		}
	}
	return parallel.Blocks(ctx, len(k.rooms), part, kmeansBlock, func(worker, lo, hi int) {
		for i := lo; i < hi; i++ {
			if k.labels[i] < 0 {
				k.squares[i] = square(k.at(i))
			}
		}
		if k.exact() {
			k.compare(&k.rooms[worker], lo, hi)
		} else {
			k.search(&k.rooms[worker], lo, hi)
		}
	})
}

// compare assigns the rows from lo to hi.
func (k *kmeans) compare(r *room, lo, hi int) {
	for i := lo; i < hi; i++ {
		if k.labels[i] >= 0 && k.nearer(r, i) {
			continue
		}
		r.panel.add(k.at(i), k.squares[i])
		r.rows = append(r.rows, i)
		if r.panel.full() {
			k.compareAll(r)
		}
	}
	k.compareAll(r)
}

// nearer assigns row i, which has a word, if that takes few comparisons.
func (k *kmeans) nearer(r *room, i int) bool {
	// One product with all words takes as long as this share of them one by one.
	const few = 0.125

	own := k.labels[i]
	k.next[i] = own
	k.reaches[i] += k.went[own]
	bounds := k.boundsOf(i)
	for g, fall := range k.falls {
		bounds[g] -= fall
	}
	if k.reaches[i] < slices.Min(bounds) {
		return true
	}
	x := k.at(i)
	near := neighbour{own, k.words.distance(x, int(own))}
	open := r.lookup.open(bounds, near.distance)
	if float64(len(open)) > few*float64(len(bounds)) {
		return false
	}
	if len(open) > 0 {
		near = k.words.nearer(r.lookup, x, k.squares[i], near, bounds)
	}
	k.next[i], k.reaches[i] = near.word, near.reach()
	return true
}

// compareAll assigns the rows of a panel and empties it.
func (k *kmeans) compareAll(r *room) {
	if len(r.rows) == 0 {
		return
	}
	k.words.score(r.panel)
	for at, i := range r.rows {
		near := k.words.nearest(r.panel, at, 1)[0]
		k.next[i], k.reaches[i] = near.word, near.reach()
		k.words.bound(k.boundsOf(i), r.panel, at, int(near.word))
	}
	r.rows, r.panel.rows = r.rows[:0], r.panel.rows[:0]
}

// boundsOf returns the bounds of row i.
func (k *kmeans) boundsOf(i int) []float32 {
	return k.bounds[i*len(k.falls):][:len(k.falls)]
}

// search assigns the rows from lo to hi by searching the forest. A row stays
// with its word where none nearer is found, so that the objective falls.
func (k *kmeans) search(r *room, lo, hi int) {
	for i := lo; i < hi; i++ {
		x := k.at(i)
		near := k.forest.nearest(r.walk, x, 1, k.Checks)[0]
		k.next[i] = near.word
		if own := k.labels[i]; own >= 0 && k.words.distance(x, int(own)) <= near.distance {
			k.next[i] = own
		}
	}
}

// relabel takes over the next labels of the first part of the sample.
func (k *kmeans) relabel(part int) {
	for i, to := range k.next[:part] {
		if k.labels[i] != to {
			k.give(i, to)
		}
	}
}

// give gives row i to a word.
func (k *kmeans) give(i int, to int32) {
	if from := k.labels[i]; from >= 0 {
		k.means.remove(from, k.at(i))
	}
	k.means.add(to, k.at(i))
	k.labels[i] = to
}

// cost returns the sum of the squared distances of the first part of the
// sample, whose descriptors the means hold, to their words w:
// Σ‖x − w‖² = Σ‖x‖² + Σ(count·‖w‖² − 2wᵀsum).
func (k *kmeans) cost(part int) float64 {
	var squares int64
	for _, s := range k.squares[:part] {
		squares += int64(s)
	}
	cost := float64(squares)
	for j, count := range k.means.counts {
		sums := k.means.of(j, k.dim)
		for f, w := range k.words.at(j) {
			cost += w * (float64(count)*w - 2*float64(sums[f]))
		}
	}
	return max(cost, 0)
}

// move moves word j and notes how far, with a little more for the rounding of
// distances, bounds and falls.
func (k *kmeans) move(j int, step float64) {
	went := k.means.move(k.words, j, step)
	if went == 0 {
		return
	}
	k.went[j] += float32(went + math.MaxUint8*math.Sqrt(float64(k.dim))*0x1p-21)
	g := j / k.words.group
	k.falls[g] = max(k.falls[g], k.went[j])
}
