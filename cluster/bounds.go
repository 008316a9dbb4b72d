package cluster

import (
	"context"
	"math"
	"slices"

	"github.com/seed4492f2cd/partwise/internal/parallel"
)

// bounds hold how far samples are at most from their own centres and at least from the
// others (Elkan 2003), so that a sample whose bounds leave no choice needs no products.
// Under the cosine distance they are those of the unit rows. A sample without a choice
// is one that Lloyd's algorithm would leave where it is, ties and rounding included.
type bounds struct {
	unit float64 // what distances are measured in: no two samples are farther apart
	// went is how far each centre went in all, and fastest the sum of how far that went
	// which went farthest. Bounds are kept as they would be had the centres not moved:
	// to an upper one what its centre went is added, and from lower ones subtracted.
	went    []float64
	fastest float64
	upper   []float32 // to the own centre
	lower   []float32 // n×K, infinite for the own centre
	shifts  []float64 // what lower bounds are kept larger by: what the centre went, less room for rounding
	least   []float32 // at most the least of the lower bounds, by fastest
	// Squared distances that are less apart than rounding may not be in order: that of the
	// longest sample, in squares of the unit.
	rounding float64
	open     []int // the samples that have a choice
}

const (
	// mostBounds is how many lower bounds a run may have.
	mostBounds = 1 << 24
	// roundOff is more than what a step of a bound loses to rounding.
	roundOff = 0x1p-22
)

// gathered is how many rows of m columns are compared with the centres at once.
func gathered(m int) int { return min(max(1<<18/m, 16), panelRows) }

func newBounds(s *samples, d Distance, k int) *bounds {
	b := &bounds{unit: 2, upper: make([]float32, s.n), lower: make([]float32, s.n*k), least: make([]float32, s.n), went: make([]float64, k), shifts: make([]float64, k), open: make([]int, 0, s.n)}
	if d == DistanceEuclidean {
		b.unit = max(2*slices.Max(s.norms), smallestNorm)
	}
	return b
}

// forget leaves every sample a choice.
func (b *bounds) forget() {
	for i := range b.upper {
		b.upper[i] = float32(math.Inf(1))
	}
	clear(b.went)
	b.fastest = 0
	b.moved(0)
}

// moved is called when the centres have moved on, one of them by fastest.
func (b *bounds) moved(fastest float64) {
	b.fastest += fastest
	for j, went := range b.went {
		b.shifts[j] = went - b.room()
	}
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
	size := gathered(l.m)
	for at := 0; at < len(b.open); at += size {
		if err := ctx.Err(); err != nil {
			return err
		}
		rows := b.open[at:min(at+size, len(b.open))]
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

// decided reports whether it is certain that the centre of sample i is the nearest.
func (b *bounds) decided(i, to int) bool {
	if math.IsInf(float64(b.upper[i]), 1) {
		return false
	}
	upper := float64(b.upper[i]) + b.went[to]
	if b.apart(upper, float64(b.least[i])-b.fastest) {
		return true
	}
	k := len(b.went)
	least := math.Inf(1)
	for j, lower := range b.lower[i*k : (i+1)*k] {
		if gap := float64(lower) - b.went[j]; gap < least {
			least = gap
		}
	}
	b.least[i] = b.kept(least + b.fastest)
	return b.apart(upper, least)
}

// apart reports whether a centre at most upper away from a sample is certainly nearer
// than one at least lower away.
func (b *bounds) apart(upper, lower float64) bool {
	return lower > upper && (lower-upper)*(lower+upper) > b.rounding
}

// room is more than what single precision takes from a bound.
func (b *bounds) room() float64 { return roundOff * (1 + b.fastest) }

// kept is a lower bound in single precision, no larger.
func (b *bounds) kept(lower float64) float32 { return float32(lower - b.room()) }

// bound sets the bounds of sample i in cluster to, given its scores.
func (l *lloyd) bound(i, to int, scores []float64) {
	square, w := l.norms[i]*l.norms[i], 2.0
	if l.Distance == DistanceCosine {
		square, w = 2, 2*l.weights[i]
	}
	b := l.bounds
	slack, unit := w*l.centres.slack.of(l.norms[i]), b.unit*b.unit
	own := scores[to]
	scores[to] = math.Inf(1) // and so is its lower bound
	least := math.Inf(1)
	for j, first, by := 0, (square-slack)/unit, w/unit; j < l.K; j++ {
		distance := math.Sqrt(max(first+by*scores[j], 0))
		b.lower[i*l.K+j] = float32(distance + b.shifts[j])
		least = min(least, distance)
	}
	scores[to] = own
	b.least[i] = b.kept(least + b.fastest)
	b.upper[i] = -b.kept(b.went[to] - math.Sqrt(max(square+w*own+slack, 0))/b.unit)
}

// moveCentres moves the centres to the means of their samples, and what bounds there are with them.
// Sums of clusters of which few samples came or went since they were added up are
// corrected by those.
func (l *lloyd) moveCentres(anew bool) {
	for i, to := range l.labels {
		if from := l.previous[i]; from != to {
			l.changes[to]++
			if from >= 0 {
				l.changes[from]++
			}
		}
	}
	for j, count := range l.counts {
		if l.whole[j] = anew && l.changes[j] > 0 || 2*l.changes[j] > count; l.whole[j] {
			l.changes[j] = 0
			clear(l.sums[j*l.m : (j+1)*l.m])
		}
	}
	parts := l.columnParts()
	parallel.DoWork(8*l.n*l.m, parts.Parts(), func(part int) {
		lo, hi := parts.At(part)
		for i, to := range l.labels {
			from := l.previous[i]
			if l.whole[to] || from != to {
				l.addColumns(l.sums[to*l.m:][lo:hi], l.weights[i], i, lo)
			}
			if from != to && from >= 0 && !l.whole[from] {
				l.addColumns(l.sums[from*l.m:][lo:hi], -l.weights[i], i, lo)
			}
		}
	})
	var fastest float64
	for j, count := range l.counts {
		copy(l.buf, l.centres.at(j))
		if count > 0 {
			copy(l.centres.at(j), l.sums[j*l.m:])
		}
		l.toMean(j, count)
		if l.bounds != nil {
			went := (1 + roundOff) * l.step(l.buf, l.centres.at(j)) / l.bounds.unit
			l.bounds.went[j] += went
			fastest = max(fastest, went)
		}
	}
	if l.bounds != nil {
		l.bounds.moved(fastest)
	}
	l.centres.ready()
}

// step returns how far a centre went. It overwrites where it was.
func (l *lloyd) step(from, to []float64) float64 {
	if l.Distance == DistanceCosine && !slices.Equal(from, to) && (norm(from) == 0 || norm(to) == 0) {
		return 2 // one without a direction is as far from all
	}
	for f, v := range to {
		from[f] -= v
	}
	return norm(from)
}
