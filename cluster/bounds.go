package cluster

import (
	"context"
	"math"
	"slices"
)

// bounds hold how far each sample is at most from its own centre and at least from all others (Hamerly 2010),
// so that a sample whose bounds leave no choice is not compared with the centres.
//
// They are stored as if no centre had moved since the start: an upper bound rises by its centre's moves, and
// lower bounds fall by the longest move of each iteration.
type bounds struct {
	upper, lower []float64
	moved        []float64 // the way of each centre in all
	fastest      float64   // the sum of the longest moves
	scale        float64   // about the largest distance
}

// newBounds returns unknown bounds of the samples and k centres, of unit rows under the cosine distance.
func newBounds(s *samples, d Distance, k int) *bounds {
	b := &bounds{upper: make([]float64, s.n), lower: make([]float64, s.n), moved: make([]float64, k), scale: 2}
	if d == DistanceEuclidean {
		b.scale = max(2*slices.Max(s.norms), smallestNorm)
	}
	b.reset()
	return b
}

// reset invalidates all bounds.
func (b *bounds) reset() {
	for i := range b.upper {
		b.forget(i)
	}
	clear(b.moved)
	b.fastest = 0
}

// forget invalidates the bounds of sample i.
func (b *bounds) forget(i int) { b.upper[i] = math.Inf(1) }

// of returns how far sample i is at most from its centre and at least from all others.
func (b *bounds) of(i, centre int) (upper, lower float64) {
	return b.upper[i] + b.moved[centre], b.lower[i] - b.fastest
}

// set sets what of returns, but for a margin that is more than what bounds lose to rounding.
func (b *bounds) set(i, centre int, upper, lower float64) {
	const margin = 1e-9
	room := margin * (b.scale + b.fastest)
	b.upper[i], b.lower[i] = upper-b.moved[centre]+room, lower+b.fastest-room
}

// gathered is how many rows of m columns are compared with the centres at once.
func gathered(m int) int { return min(max(1<<18/m, 16), panelRows) }

// assignBounded moves each sample to the nearest centre where no links hold samples.
func (l *run) assignBounded(ctx context.Context) error {
	longest := 1.0
	if l.Distance == DistanceEuclidean {
		longest = slices.Max(l.norms)
	}
	// More than the error of a difference of squared distances of any sample.
	rounding := 4 * l.centres.slack.ofLength(longest)
	var open []int
	for i, to := range l.previous {
		l.labels[i] = to
		if to >= 0 {
			// Lloyd's algorithm certainly leaves the sample there, ties and rounding included.
			if upper, lower := l.bounds.of(i, to); lower > upper && (lower-upper)*(lower+upper) > rounding {
				l.counts[to]++
				continue
			}
		}
		open = append(open, i)
	}
	return l.eachScored(ctx, open, func(i int, scores []float64) {
		to := l.seeds.kept(i)
		if to < 0 {
			to = l.nearest(i, scores)
		}
		l.labels[i] = to
		l.counts[to]++
		l.bound(i, to, scores)
	})
}

// eachScored calls f with the scores of each of some samples.
func (l *run) eachScored(ctx context.Context, samples []int, f func(i int, scores []float64)) error {
	for rows := range slices.Chunk(samples, gathered(l.m)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		l.centres.scoreRows(l.scores, l.samples, rows)
		for a, i := range rows {
			f(i, l.scores[a*l.K:(a+1)*l.K])
		}
	}
	return nil
}

// bound sets the bounds of sample i in cluster to, given its scores.
func (l *run) bound(i, to int, scores []float64) {
	second := math.Inf(1)
	for j, s := range scores {
		if j != to {
			second = min(second, s)
		}
	}
	square, by := l.norms[i]*l.norms[i], 2.0
	if l.Distance == DistanceCosine {
		square, by = 2, 2*l.weights[i]
	}
	slack := by * l.centres.slack.ofLength(l.norms[i])
	l.bounds.set(i, to, math.Sqrt(max(square+by*scores[to]+slack, 0)), math.Sqrt(max(square+by*second-slack, 0)))
}

// moveCentres moves the centres to the means of their samples, and the bounds with them.
func (l *run) moveCentres() {
	before := slices.Clone(l.centres.points.Data)
	l.update()
	if l.bounds == nil {
		return
	}
	var fastest float64
	for j := range l.K {
		step := l.step(before[j*l.m:(j+1)*l.m], l.centres.point(j))
		l.bounds.moved[j] += step
		fastest = max(fastest, step)
	}
	l.bounds.fastest += fastest
}

// step returns how far a centre moved. It overwrites where it was.
func (l *run) step(from, to []float64) float64 {
	if l.Distance == DistanceCosine && !slices.Equal(from, to) && (norm(from) == 0 || norm(to) == 0) {
		return 2 // one without a direction is as far from all
	}
	for f, v := range to {
		from[f] -= v
	}
	return norm(from)
}
