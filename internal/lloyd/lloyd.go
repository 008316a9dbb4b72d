// Package lloyd holds what all forms of k-means share: bounds that spare comparisons, starts by
// k-means++, and samples for empty clusters. It knows samples by their number only.
package lloyd

import "math"

// Bounds hold how far each sample is at most from its own centre and at least from all others
// (Hamerly 2010), so that a sample whose bounds leave no choice is not compared with the centres.
//
// They are stored as if no centre had moved since the start: an upper bound rises by what its centre
// has moved in all, and lower bounds fall by the longest move of each iteration.
type Bounds struct {
	upper, lower []float64
	moved        []float64 // the way of each centre in all
	fastest      float64   // the sum of the longest moves
	scale        float64
}

// margin is more than what bounds lose to rounding, beside the scale and the way of the centres.
const margin = 1e-9

// NewBounds returns bounds of n samples and k centres that know nothing. The scale is about the
// largest distance.
func NewBounds(n, k int, scale float64) *Bounds {
	b := &Bounds{upper: make([]float64, n), lower: make([]float64, n), moved: make([]float64, k), scale: scale}
	b.Reset()
	return b
}

// Reset forgets all bounds.
func (b *Bounds) Reset() {
	for i := range b.upper {
		b.Forget(i)
	}
	clear(b.moved)
	b.fastest = 0
}

// Forget forgets the bounds of sample i.
func (b *Bounds) Forget(i int) { b.upper[i] = math.Inf(1) }

// Known reports whether sample i has bounds.
func (b *Bounds) Known(i int) bool { return !math.IsInf(b.upper[i], 1) }

// Of returns how far sample i is at most from its centre and at least from all others.
func (b *Bounds) Of(i, centre int) (upper, lower float64) {
	return b.upper[i] + b.moved[centre], b.lower[i] - b.fastest
}

// Set sets what Of returns, but for a margin.
func (b *Bounds) Set(i, centre int, upper, lower float64) {
	room := margin * (b.scale + b.fastest)
	b.upper[i], b.lower[i] = upper-b.moved[centre]+room, lower+b.fastest-room
}

// Move is called when the centres have moved, each by a step.
func (b *Bounds) Move(steps []float64) {
	var fastest float64
	for j, step := range steps {
		b.moved[j] += step
		fastest = max(fastest, step)
	}
	b.fastest += fastest
}

// FillEmpty gives each empty cluster the sample that costs most in its own, of those that are free
// to move and not alone there, ties to the lower index. Where there is none, clusters stay empty.
// It calls filled with each sample that moves and the cluster that it leaves.
func FillEmpty[T int | int32](labels []T, counts []int, costs []float64, free func(i int) bool, filled func(i int, from T)) {
	for j := range counts {
		if counts[j] > 0 {
			continue
		}
		farthest := -1
		for i, from := range labels {
			if counts[from] > 1 && free(i) && (farthest < 0 || costs[i] > costs[farthest]) {
				farthest = i
			}
		}
		if farthest < 0 {
			return
		}
		from := labels[farthest]
		counts[from]--
		labels[farthest], counts[j] = T(j), 1
		filled(farthest, from)
	}
}
