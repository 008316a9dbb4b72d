package vocab

import (
	"context"
	"math"
	"slices"

	"github.com/seed4492f2cd/partwise/internal/lloyd"
	"github.com/seed4492f2cd/partwise/internal/parallel"
)

// kmeans is the state of a training. Sums are whole numbers: they do not depend on the order of descriptors.
type kmeans struct {
	Training
	*sample
	words  *points
	sums   []int64 // words×dim
	counts []int
	labels []int32 // each descriptor's word, −1 where it has none yet
	next   []int32 // the words that assign finds

	iteration int
}

// kmeansBlock is how many rows a worker takes at a time.
const kmeansBlock = 1024

func newKMeans(t Training, s *sample, words *points) *kmeans {
	return &kmeans{
		Training: t, sample: s, words: words,
		sums: make([]int64, len(words.values)), counts: make([]int, words.n),
		labels: slices.Repeat([]int32{-1}, s.len()), next: make([]int32, s.len()),
	}
}

const (
	// overshoot is how far words move for each step to the mean. Up to 2, they end up no farther from it than
	// they were.
	overshoot = 1.9
	// partTolerance is the least tolerance on parts of the descriptors, whose best words are not those of all.
	partTolerance = 1e-3
)

// settle iterates on the first part of the sample until the objective falls by less than a share of it.
func (k *kmeans) settle(ctx context.Context, part int, tolerance float64) error {
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

// assign finds the words of the first part of the sample. With a forest, a descriptor keeps its word if the new
// one is no nearer, so that the objective falls.
func (k *kmeans) assign(ctx context.Context, part int) error {
	f, err := newFinder(ctx, k.words, k.Checks)
	if err != nil {
		return err
	}
	return parallel.Blocks(ctx, 0, part, kmeansBlock, func(_, lo, hi int) {
		f.each(hi-lo, func(i int) []uint8 { return k.row(lo + i) }, 1, func(i int, near []neighbour) {
			own := k.labels[lo+i]
			if k.next[lo+i] = near[0].word; f.forest != nil && own >= 0 && k.words.distance(k.row(lo+i), int(own)) <= near[0].distance {
				k.next[lo+i] = own
			}
		})
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

// cost returns Σ‖x − w‖² of labelled rows x and their words w: Σ‖x‖² + Σ(count·‖w‖² − 2wᵀsum).
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

// move moves word j, which has descriptors, by a step, of 1 to its mean.
func (k *kmeans) move(j int, step float64) {
	count, sums, word := float64(k.counts[j]), k.sumsOf(j), k.words.word(j)
	for f, old := range word {
		word[f] = float64(sums[f]) / count
		if step != 1 {
			word[f] = old + step*(word[f]-old)
		}
	}
	k.words.ready(j)
}

// fillEmpty gives each word without descriptors one of the first part of the sample, and returns these words.
func (k *kmeans) fillEmpty(part int) (filled []int) {
	for j, count := range k.counts {
		if count == 0 {
			filled = append(filled, j)
		}
	}
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
