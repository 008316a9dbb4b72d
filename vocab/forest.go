package vocab

import (
	"cmp"
	"container/heap"
	"context"
	"math/rand/v2"
	"slices"

	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/internal/topk"
)

// A forest is a set of randomised k-d trees for approximate nearest-neighbour search (Muja and Lowe 2009). Its trees
// split words at the mean of a random dimension among those with the largest variance. A search descends all trees,
// nearest branch first, until it has compared enough words.
type forest struct {
	*points
	nodes []node
	roots []int32
	words []int32 // words by leaf
}

// A node is a split, or a leaf.
type node struct {
	axis        int32   // dimension of a split, −1 in a leaf
	split       float32 // smaller values go left
	left, right int32   // children of a split, or the range of a leaf's words
}

const trees, leafWords = 8, 8

func newForest(ctx context.Context, p *points) (*forest, error) {
	f := &forest{points: p, words: make([]int32, 0, trees*p.n)}
	for t := range trees {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		first := len(f.words)
		for j := range p.n {
			f.words = append(f.words, int32(j))
		}
		f.roots = append(f.roots, f.grow(rng.New(0, "kd-tree", t), first, len(f.words)))
	}
	return f, nil
}

// grow returns a node for words[lo:hi].
func (f *forest) grow(random *rand.Rand, lo, hi int) int32 {
	at := int32(len(f.nodes))
	f.nodes = append(f.nodes, node{-1, 0, int32(lo), int32(hi)})
	if hi-lo <= leafWords {
		return at
	}
	words := f.words[lo:hi]
	axis, split, ok := f.cut(random, words)
	if !ok {
		return at
	}
	// The mean is an estimate, so a side may be empty.
	mid := 0
	for i, j := range words {
		if f.single[int(j)*f.dim+axis] < split {
			words[i], words[mid] = words[mid], words[i]
			mid++
		}
	}
	if mid == 0 || mid == len(words) {
		return at
	}
	left := f.grow(random, lo, lo+mid)
	right := f.grow(random, lo+mid, hi)
	f.nodes[at] = node{int32(axis), split, left, right}
	return at
}

// cut draws the dimension of a split among those with the largest variance, and returns it with its mean. ok is false if
// all words are equal.
func (f *forest) cut(random *rand.Rand, words []int32) (axis int, split float32, ok bool) {
	const (
		looked = 100 // number of words for the estimates
		most   = 5   // number of dimensions to draw from
	)
	step := max(len(words)/looked, 1)
	means, variances := make([]float64, f.dim), make([]float64, f.dim)
	var n float64
	for i := 0; i < len(words); i += step {
		n++
		for a, v := range f.word(int(words[i])) {
			d := v - means[a]
			means[a] += d / n
			variances[a] += d * (v - means[a])
		}
	}
	var axes []int
	for a, v := range variances {
		if v > 0 {
			axes = topk.Insert(axes, most, a, func(a, b int) int { return cmp.Or(cmp.Compare(variances[b], variances[a]), a-b) })
		}
	}
	if len(axes) == 0 {
		return 0, 0, false
	}
	axis = axes[random.IntN(len(axes))]
	return axis, float32(means[axis]), true
}

// searchBuffers holds the buffers of a search.
type searchBuffers struct {
	single []float32
	seen   []uint32 // number of the search that last compared each word
	search uint32
	open   branches
	found  []neighbour
}

func (p *points) newSearchBuffers() *searchBuffers {
	return &searchBuffers{single: make([]float32, p.dim), seen: make([]uint32, p.n)}
}

// A branch is an unvisited node with a lower bound of its distance.
type branch struct {
	bound float32
	node  int32
}

// nearest returns the m nearest words to x among at least checks compared words, ties by word. The result is valid until
// the next call.
func (f *forest) nearest(w *searchBuffers, x []uint8, m, checks int) []neighbour {
	if w.search++; w.search == 0 {
		clear(w.seen)
		w.search = 1
	}
	for a, v := range x {
		w.single[a] = float32(v)
	}
	w.open, w.found = w.open[:0], w.found[:0]
	checks = max(checks, m)
	for _, root := range f.roots {
		f.descend(w, root, 0, m, &checks)
	}
	for checks > 0 && len(w.open) > 0 {
		b := w.open.pop()
		f.descend(w, b.node, b.bound, m, &checks)
	}
	for i := range w.found {
		w.found[i].distance = f.distance(x, int(w.found[i].word))
	}
	slices.SortFunc(w.found, neighbour.compare)
	return w.found[:m]
}

// descend follows the descriptor down to a leaf, pushes the other branches and compares the leaf's words.
func (f *forest) descend(w *searchBuffers, at int32, bound float32, m int, checks *int) {
	n := &f.nodes[at]
	for n.axis >= 0 {
		d := w.single[n.axis] - n.split
		near, far := n.left, n.right
		if d >= 0 {
			near, far = far, near
		}
		w.open.push(branch{bound + d*d, far})
		n = &f.nodes[near]
	}
	for _, j := range f.words[n.left:n.right] {
		if w.seen[j] == w.search {
			continue
		}
		w.seen[j] = w.search
		*checks--
		product := elementary.Dot(w.single, f.single[int(j)*f.dim:][:f.dim])
		w.found = topk.Insert(w.found, m, neighbour{j, float64(f.halves[j] - product)}, neighbour.compare)
	}
}

// branches is a min-heap by bound.
type branches []branch

func (b branches) Len() int           { return len(b) }
func (b branches) Less(i, j int) bool { return b[i].bound < b[j].bound }
func (b branches) Swap(i, j int)      { b[i], b[j] = b[j], b[i] }

// Push and Pop are not called, because conversion to any allocates; push and pop replace them.
func (b *branches) Push(any) {}
func (b *branches) Pop() any { return nil }

func (b *branches) push(x branch) {
	*b = append(*b, x)
	heap.Fix(b, len(*b)-1)
}

func (b *branches) pop() branch {
	top, last := (*b)[0], len(*b)-1
	(*b)[0] = (*b)[last]
	if *b = (*b)[:last]; last > 0 {
		heap.Fix(b, 0)
	}
	return top
}
