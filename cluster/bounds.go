package cluster

import (
	"context"
	"math"
	"slices"

	"github.com/seed4492f2cd/partwise/internal/lloyd"
)

// gathered is how many rows of m columns are compared with the centres at once.
func gathered(m int) int { return min(max(1<<18/m, 16), panelRows) }

// newBounds returns the bounds of a run: of unit rows under the cosine distance.
func newBounds(s *samples, d Distance, k int) *lloyd.Bounds {
	scale := 2.0
	if d == DistanceEuclidean {
		scale = max(2*slices.Max(s.norms), smallestNorm)
	}
	return lloyd.NewBounds(s.n, k, scale)
}

// assignBounded is assign without links.
func (l *run) assignBounded(ctx context.Context) error {
	rounding := l.rounding()
	l.open = l.open[:0]
	for i, to := range l.previous {
		if l.labels[i] = to; l.decided(i, rounding) {
			l.counts[to]++
		} else {
			l.open = append(l.open, i)
		}
	}
	for rows := range slices.Chunk(l.open, gathered(l.m)) {
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

// rounding is more than the error of a difference of squared distances of any sample.
func (l *run) rounding() float64 {
	longest := 1.0
	if l.Distance == DistanceEuclidean {
		longest = slices.Max(l.norms)
	}
	return 4 * l.centres.slack.ofLength(longest)
}

// decided reports whether the centre of sample i is certainly the nearest: Lloyd's algorithm would
// leave it there, ties and rounding included.
func (l *run) decided(i int, rounding float64) bool {
	if !l.bounds.Known(i) {
		return false
	}
	upper, lower := l.bounds.Of(i, l.labels[i])
	return lower > upper && (lower-upper)*(lower+upper) > rounding
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
	l.bounds.Set(i, to, math.Sqrt(max(square+by*scores[to]+slack, 0)), math.Sqrt(max(square+by*second-slack, 0)))
}

// moveCentres moves the centres to the means of their samples, and the bounds with them.
func (l *run) moveCentres() {
	if l.bounds == nil {
		l.update()
		return
	}
	l.before = append(l.before[:0], l.centres.points.Data...)
	l.update()
	steps := make([]float64, l.K)
	for j := range steps {
		steps[j] = l.step(l.before[j*l.m:(j+1)*l.m], l.centres.point(j))
	}
	l.bounds.Move(steps)
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
