package cluster

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// A move is a sample whose best move to another cluster lowers the objective by gain.
type move struct {
	sample int
	gain   float64
}

// refine moves single samples that lower the objective, with an update of both centres after each move. It tries them in
// decreasing order of their gains with all centres fixed, and returns the number of moves.
func (l *run) refine(ctx context.Context) (int, error) {
	// A centre times its length is the sum of its cluster's samples.
	clear(l.lengths)
	for i, j := range l.labels {
		if l.Distance == DistanceEuclidean {
			l.lengths[j]++
		} else if l.weights[i] > 0 {
			l.lengths[j] += 1 - l.cost(i, j)
		}
	}
	for j, length := range l.lengths {
		l.lengths[j] = max(length, 0)
	}
	moves, err := l.moves(ctx)
	if err != nil || len(moves) == 0 {
		return 0, err
	}
	slices.SortFunc(moves, func(a, b move) int {
		return cmp.Or(cmp.Compare(b.gain, a.gain), cmp.Compare(a.sample, b.sample))
	})
	copy(l.previous, l.labels)
	before := slices.Clone(l.centres.points.Data)
	for _, m := range moves {
		i, from := m.sample, l.labels[m.sample]
		if to, gain := l.gain(i); l.counts[from] > 1 && gain > 0 {
			l.addToCluster(from, -1, i)
			l.addToCluster(to, 1, i)
			l.labels[i], l.bounds.upper[i] = to, math.Inf(1)
		}
	}
	copy(l.centres.points.Data, before) // moveCentres updates the bounds relative to these
	l.moveCentres(l.n)
	return countMoved(l.previous, l.labels), nil
}

// addToCluster adds sample i to cluster j with by = 1, or removes it with by = −1.
func (l *run) addToCluster(j int, by float64, i int) {
	centre := l.centres.point(j)
	for f := range centre {
		centre[f] *= l.lengths[j]
	}
	l.addTo(centre, by*l.weights[i], i)
	l.counts[j] += int(by)
	l.lengths[j] = float64(l.counts[j])
	if l.Distance == DistanceCosine {
		l.lengths[j] = norm(centre)
	}
	l.toMean(j, l.counts[j])
}

// moves returns the samples that gain with all centres fixed.
func (l *run) moves(ctx context.Context) (found []move, err error) {
	var open []int
	shortest := floats.MinIdx(l.lengths)
	for i, j := range l.labels {
		if l.counts[j] > 1 && l.weights[i] > 0 && l.seeds.fixedCluster(i) < 0 && !l.excludesGain(i, shortest) {
			open = append(open, i)
		}
	}
	err = l.eachScored(ctx, open, func(i int, scores []float64) error {
		from := l.labels[i]
		at, other, second := leastTwo(scores)
		if from == at {
			other = second
		}
		l.bound(i, from, scores[from], other)
		if l.mayGain(i, scores) {
			if _, gain := l.gain(i); gain > 0 {
				found = append(found, move{i, gain})
			}
		}
		return nil
	})
	return found, err
}

// excludesGain reports whether the bounds exclude a gain of sample i, even in the cluster with the shortest sum, which
// has the lowest cost of joining.
func (l *run) excludesGain(i, shortest int) bool {
	from := l.labels[i]
	upper, lower := l.bounds.boundsOf(i, from)
	if math.IsInf(upper, 1) {
		return false
	}
	near, far := max(lower, 0)*max(lower, 0), upper*upper
	if l.Distance == DistanceCosine {
		near, far = near/2, far/2
	}
	return l.joining(shortest, near) >= l.leaving(from, far)
}

// mayGain reports whether the scores of sample i, within rounding, allow a gain.
func (l *run) mayGain(i int, scores []float64) bool {
	first, by := l.first[i], l.by[i]
	slack := by * l.centres.slack(l.norms[i])
	from := l.labels[i]
	out := l.leaving(from, first+by*scores[from]+slack)
	for j, s := range scores {
		if j != from && l.joining(j, max(first+by*s-slack, 0)) < out {
			return true
		}
	}
	return false
}

// gain returns the cluster in which sample i lowers the objective most, and the decrease minus a bound on rounding.
func (l *run) gain(i int) (to int, gain float64) {
	from := l.labels[i]
	out := l.leaving(from, l.cost(i, from))
	least := math.Inf(1)
	for j := range l.K {
		if in := l.joining(j, l.cost(i, j)); j != from && in < least {
			to, least = j, in
		}
	}
	lengths := l.weights[i]*l.norms[i] + l.centres.longest
	return to, out - least - 1e-9*out - 64*epsilon*lengths*math.Sqrt(out)
}

// leaving returns the decrease of the objective when a sample with the given cost leaves cluster j.
func (l *run) leaving(j int, cost float64) float64 {
	length := l.lengths[j]
	if l.Distance == DistanceEuclidean {
		return length / (length - 1) * cost
	}
	// A cluster's cost is the number of its samples minus the length of their sum.
	along := 2 * length * (1 - cost)
	return 1 + (1-along)/(math.Sqrt(max(length*length-along+1, 0))+length)
}

// joining returns the increase of the objective when a sample with the given cost joins cluster j.
func (l *run) joining(j int, cost float64) float64 {
	length := l.lengths[j]
	if l.Distance == DistanceEuclidean {
		return length / (length + 1) * cost
	}
	along := 2 * length * (1 - cost)
	return 1 - (1+along)/(math.Sqrt(max(length*length+along+1, 0))+length)
}
