package cluster

import (
	"context"
	"math"
	"slices"
)

// bounds hold how far each sample is at most from its own centre and at least from all others
// (Hamerly 2010), so that a sample whose bounds leave no choice needs no products. Under the
// cosine distance they are distances of unit rows. A sample without a choice stays where
// Lloyd's algorithm would leave it, ties and rounding included.
//
// Bounds are stored as if no centre had moved since the start: an upper bound rises by what its
// centre has moved in all, and lower bounds fall by what the fastest centre of each iteration moved.
type bounds struct {
	unit    float64   // distances are divided by it: no two samples are farther apart
	moved   []float64 // the way of each centre in all
	fastest float64   // the sum of the longest step of each iteration
	upper   []float64
	lower   []float64
	// rounding bounds the error of a difference of two squared distances.
	rounding float64
	open     []int     // the samples that have a choice
	before   []float64 // where the centres were
}

// boundMargin is more than what bounds lose to rounding, beside the way of the centres.
const boundMargin = 1e-9

// gathered is how many rows of m columns are compared with the centres at once.
func gathered(m int) int { return min(max(1<<18/m, 16), panelRows) }

func newBounds(s *samples, d Distance, k int) *bounds {
	b := &bounds{unit: 2, moved: make([]float64, k), upper: make([]float64, s.n), lower: make([]float64, s.n), open: make([]int, 0, s.n)}
	if d == DistanceEuclidean {
		b.unit = max(2*slices.Max(s.norms), smallestNorm)
	}
	return b
}

// reset invalidates all bounds.
func (b *bounds) reset() {
	for i := range b.upper {
		b.upper[i] = math.Inf(1)
	}
	clear(b.moved)
	b.fastest = 0
}

// assignBounded is assign without links.
func (l *lloyd) assignBounded(ctx context.Context) error {
	b := l.bounds
	b.rounding = 4 * l.centres.slack.of(b.unit/2) / (b.unit * b.unit)
	b.open = b.open[:0]
	for i, to := range l.previous {
		if l.labels[i] = to; b.decided(i, to) {
			l.counts[to]++
		} else {
			b.open = append(b.open, i)
		}
	}
	for rows := range slices.Chunk(b.open, gathered(l.m)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		l.centres.scoreRows(l.scores, l.samples, rows)
		for a, i := range rows {
			scores := l.scores[a*l.K : (a+1)*l.K]
			to := l.seeds.kept(i)
			if to < 0 {
				to = l.nearest(i, scores)
			}
			l.labels[i] = to
			l.counts[to]++
			l.bound(i, to, scores)
		}
	}
	return nil
}

// decided reports whether the centre of sample i is certainly the nearest.
func (b *bounds) decided(i, to int) bool {
	if math.IsInf(b.upper[i], 1) {
		return false
	}
	upper, lower := b.upper[i]+b.moved[to], b.lower[i]-b.fastest
	return lower > upper && (lower-upper)*(lower+upper) > b.rounding
}

// bound sets the bounds of sample i in cluster to, given its scores.
func (l *lloyd) bound(i, to int, scores []float64) {
	b, second := l.bounds, math.Inf(1)
	for j, s := range scores {
		if j != to {
			second = min(second, s)
		}
	}
	square, by := l.norms[i]*l.norms[i], 2.0
	if l.Distance == DistanceCosine {
		square, by = 2, 2*l.weights[i]
	}
	slack := by * l.centres.slack.of(l.norms[i])
	margin := boundMargin * (1 + b.fastest)
	b.upper[i] = math.Sqrt(max(square+by*scores[to]+slack, 0))/b.unit - b.moved[to] + margin
	b.lower[i] = math.Sqrt(max(square+by*second-slack, 0))/b.unit + b.fastest - margin
}

// moveCentres moves the centres to the means of their samples, and the bounds with them.
func (l *lloyd) moveCentres() {
	if l.bounds == nil {
		l.update()
		return
	}
	before := append(l.bounds.before[:0], l.centres.points.Data...)
	l.bounds.before = before
	l.update()
	var fastest float64
	for j := range l.bounds.moved {
		step := l.step(before[j*l.m:(j+1)*l.m], l.centres.at(j)) / l.bounds.unit
		l.bounds.moved[j] += step
		fastest = max(fastest, step)
	}
	l.bounds.fastest += fastest
}

// step returns how far a centre moved. It overwrites where it was.
func (l *lloyd) step(from, to []float64) float64 {
	if l.Distance == DistanceCosine && !slices.Equal(from, to) && (norm(from) == 0 || norm(to) == 0) {
		return 2 // one without a direction is as far from all
	}
	for f, v := range to {
		from[f] -= v
	}
	return norm(from)
}
