package cluster

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
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
func newBounds(s *samples, k int) *bounds {
	b := &bounds{upper: make([]float64, s.n), lower: make([]float64, s.n), moved: make([]float64, k), scale: 2}
	if s.distance == DistanceEuclidean {
		b.scale = max(2*slices.Max(s.norms), smallestNorm)
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

// assignEach moves each sample to the nearest centre that its links allow, one after the other.
func (l *run) assignEach(ctx context.Context) error {
	l.placing.clear()
	longest := 1.0
	if l.Distance == DistanceEuclidean {
		longest = slices.Max(l.norms)
	}
	// More than the error of a difference of squared distances of any sample.
	rounding := 4 * l.centres.slack(longest)
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
	return l.eachScored(ctx, open, func(i int, scores []float64) error {
		to := max(l.seeds.kept(i), l.placing.cluster(i))
		if to < 0 {
			if !l.placing.forbid(i, scores) {
				return fmt.Errorf("sample %d: %w", i+1, ErrDeadEnd)
			}
			to = l.nearest(i, scores)
			l.placing.put(i, to)
		}
		l.labels[i] = to
		l.counts[to]++
		l.bound(i, to, scores)
		return nil
	})
}

// eachScored calls f with the scores of each of some samples.
func (l *run) eachScored(ctx context.Context, samples []int, f func(i int, scores []float64) error) error {
	for rows := range slices.Chunk(samples, gathered(l.m)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		l.centres.score(l.scores, l.samples, rows)
		for a, i := range rows {
			if err := f(i, l.scores[a*l.K:(a+1)*l.K]); err != nil {
				return err
			}
		}
	}
	return nil
}

// bound sets the bounds of sample i in cluster to, given its scores.
func (l *run) bound(i, to int, scores []float64) {
	if l.unbounded {
		return
	}
	second := math.Inf(1)
	for j, s := range scores {
		if j != to {
			second = min(second, s)
		}
	}
	square, by := l.first[i], l.by[i]
	if l.Distance == DistanceCosine {
		square, by = 2*square, 2*by
	}
	slack := by * l.centres.slack(l.norms[i])
	l.bounds.set(i, to, math.Sqrt(max(square+by*scores[to]+slack, 0)), math.Sqrt(max(square+by*second-slack, 0)))
}

// moveCentres moves the centres to the means of their samples, and the bounds with them.
func (l *run) moveCentres() {
	before := slices.Clone(l.centres.points.Data)
	l.update()
	var fastest float64
	for j := range l.K {
		from, to := before[j*l.m:(j+1)*l.m], l.centres.point(j)
		step := 2.0 // a centre without a direction is as far from all
		if l.Distance == DistanceEuclidean || slices.Equal(from, to) || norm(from) > 0 && norm(to) > 0 {
			floats.Sub(from, to)
			step = norm(from)
		}
		l.bounds.moved[j] += step
		fastest = max(fastest, step)
	}
	l.bounds.fastest += fastest
}
