package vocab

import (
	"cmp"
	"context"
	"math"
	"slices"
)

const (
	// overshoot is how far words go for each step to the mean. Up to 2, they
	// end up no farther from it than they were.
	overshoot = 1.9
	// partTolerance is the least tolerance on parts of the descriptors, whose
	// best words are not those of all.
	partTolerance = 1e-3
)

// lloyd learns words from parts of the sample, each twice as large as the one
// before it and the last the whole.
func (k *kmeans) lloyd(ctx context.Context, halvings int) error {
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
		clear(k.went)
		clear(k.falls)
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

// fillEmpty gives each word that has no descriptor in the first part of the
// sample the one that is farthest from its own word, of those that are not
// alone there, and returns these words. The part has at least as many
// descriptors as there are words.
func (k *kmeans) fillEmpty(part int) (filled []int) {
	if !slices.Contains(k.means.counts, 0) {
		return nil
	}
	costs, rows := make([]float64, part), make([]int, part)
	for i := range part {
		costs[i], rows[i] = k.words.distance(k.at(i), int(k.labels[i])), i
	}
	slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(costs[b], costs[a]) })
	for j, count := range k.means.counts {
		if count > 0 {
			continue
		}
		for k.means.counts[k.labels[rows[0]]] == 1 {
			rows = rows[1:]
		}
		i := rows[0]
		rows = rows[1:]
		k.give(i, int32(j))
		if k.bounds != nil {
			// They were those of another word.
			k.reaches[i] = float32(math.Inf(1))
			clear(k.boundsOf(i))
		}
		filled = append(filled, j)
	}
	return filled
}
