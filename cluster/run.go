package cluster

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/lloyd"
)

// run runs the algorithm. Its slices are made once for all restarts of a worker.
type run struct {
	KMeans
	*samples
	runs, starts int      // runs are to come to an end, of at most this many starts
	placing      *placing // the links of COP-k-means, or nil
	linked       *linked  // the links of constrained k-means, or nil
	seeds        *seeds   // or nil
	unbounded    bool     // bounds stay unknown

	centres          *targets
	scores, buf      []float64 // of one panel, panel×K, and one row
	near             []int     // the centres that the scores cannot tell apart
	labels, previous []int     // of this iteration and the one before
	counts           []int
	sums             []float64 // of the clusters, K×m
	exact            bool      // the centres are means of exact sums
	lengths          []float64 // of the sums of the clusters, for refine
	placed           []int     // the clusters of units, with linked
	bounds           *bounds
}

// another returns a run with buffers of its own.
func (l *run) another() *run {
	other := *l
	other.centres, other.bounds = newTargets(l.Distance, l.K, l.m), newBounds(l.samples, l.K)
	other.scores, other.buf = make([]float64, panelRows*l.K), make([]float64, l.m)
	other.near = make([]int, 0, l.K)
	other.labels, other.previous = make([]int, l.n), make([]int, l.n)
	other.counts, other.lengths, other.sums = make([]int, l.K), make([]float64, l.K), make([]float64, l.K*l.m)
	if p := l.placing; p != nil {
		other.placing = &placing{p.units, slices.Clone(p.places), slices.Clone(p.held)}
		other.unbounded = true
	}
	return &other
}

func (l *run) run(ctx context.Context, restart int) (*Result, error) {
	if err := l.start(ctx, restart); err != nil {
		return nil, err
	}
	for i := range l.labels {
		l.labels[i] = -1
	}
	l.placed = nil
	l.bounds.reset()
	iteration, most := 0, cmp.Or(l.MaxIterations, defaultMaxIterations)
	for iteration < most {
		iteration++
		moved, err := l.assign(ctx)
		if err != nil {
			return nil, err
		}
		if moved > 0 {
			l.moveCentres(moved)
		}
		if !l.exact && (moved == 0 || iteration == most) {
			l.update(l.n)
		}
		if moved == 0 && l.Refine && l.placing == nil && l.linked == nil {
			if moved, err = l.refine(ctx); err != nil {
				return nil, err
			}
		}
		if l.traced != nil {
			l.traced(restart, iteration, moved)
		}
		if moved == 0 {
			break
		}
	}
	r := &Result{
		Labels:     slices.Clone(l.labels),
		Centres:    mat.NewDense(l.K, l.m, slices.Clone(l.centres.points.Data)),
		Iterations: iteration,
	}
	for i := range l.n {
		r.Objective += l.cost(i, l.labels[i])
	}
	return r, nil
}

func (l *run) cost(i, j int) float64 {
	return l.Distance.between(l.row(i, l.buf), l.weights[i], l.centres.point(j), 1)
}

// assign moves samples to the nearest centres that links allow, fills empty clusters, and counts the moves.
func (l *run) assign(ctx context.Context) (moved int, err error) {
	l.labels, l.previous = l.previous, l.labels
	clear(l.counts)
	if l.linked != nil {
		err = l.assignUnits(ctx)
	} else if err = l.assignEach(ctx); err == nil {
		l.fillEmpty()
	}
	return countMoved(l.previous, l.labels), err
}

// nearest returns the centre with the least cost for sample i, given its scores.
func (l *run) nearest(i int, scores []float64) int {
	at, least, second := leastTwo(scores)
	limit := least + l.centres.slack(l.norms[i])
	if second > limit {
		return at
	}
	near := l.near[:0]
	for j, s := range scores {
		if s <= limit {
			near = append(near, j)
		}
	}
	// Unit rows are rounded themselves: under the cosine distance what is this near ties.
	if l.Distance == DistanceCosine {
		return near[0]
	}
	nearest, cost := near[0], l.cost(i, near[0])
	for _, j := range near[1:] {
		if c := l.cost(i, j); c < cost {
			nearest, cost = j, c
		}
	}
	return nearest
}

// leastTwo returns the place of the least number, that number, and the least of the others.
func leastTwo(x []float64) (at int, least, second float64) {
	least, second = math.Inf(1), math.Inf(1)
	for j, v := range x {
		if v < least {
			at, least, second = j, v, least
		} else if v < second {
			second = v
		}
	}
	return at, least, second
}

// fillEmpty gives each empty cluster the sample that costs most in its own.
func (l *run) fillEmpty() {
	if !slices.Contains(l.counts, 0) {
		return
	}
	costs := make([]float64, l.n)
	for i := range costs {
		if l.weights[i] > 0 { // a row of zeros costs the same everywhere: it goes last
			costs[i] = l.cost(i, l.labels[i])
		}
	}
	l.bounds.reset()
	lloyd.FillEmpty(l.labels, l.counts, costs, func(i int) bool {
		return l.seeds.kept(i) < 0 && (l.placing == nil || len(l.placing.members[l.placing.of[i]]) == 1)
	})
}

func countMoved(before, after []int) (moved int) {
	for i, to := range after {
		if to != before[i] {
			moved++
		}
	}
	return moved
}

// update moves the centres to the means of their samples. The centre of an empty cluster stays. The sums follow
// the samples that moved where these are few, and are exact otherwise.
func (l *run) update(moved int) {
	sum := func(j int) []float64 { return l.sums[j*l.m:][:l.m] }
	l.exact = 8*moved >= l.n
	if l.exact {
		clear(l.sums)
	}
	for i, to := range l.labels {
		if from := l.previous[i]; l.exact || from != to {
			l.addTo(sum(to), l.weights[i], i)
			if !l.exact {
				l.addTo(sum(from), -l.weights[i], i)
			}
		}
	}
	for j, count := range l.counts {
		if count > 0 {
			copy(l.centres.point(j), sum(j))
			l.toMean(j, count)
		}
	}
	l.centres.ready()
}

// toMean divides centre j, the sum of count samples, by their number or, under the cosine distance, by its
// length; a sum of none, and one without a direction, stays.
func (l *run) toMean(j, count int) {
	centre, by := l.centres.point(j), float64(count)
	if l.Distance == DistanceCosine {
		by = norm(centre)
	}
	if count == 0 || by == 0 {
		return
	}
	for f := range centre {
		centre[f] /= by
	}
}

// bounds hold how far each sample is at most from its own centre and at least from all others (Hamerly 2010):
// one whose bounds leave no choice is not compared with the centres. They are stored as if no centre had moved:
// upper bounds rise by their centres' moves, lower ones fall by the longest move of each iteration.
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
	p := l.placing
	if p != nil {
		p.clear()
	}
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
		to := l.seeds.kept(i)
		if p != nil {
			if to = p.places[p.of[i]]; to < 0 && !p.forbid(i, scores) {
				return fmt.Errorf("sample %d: %w", i+1, ErrDeadEnd)
			}
		}
		if to < 0 {
			to = l.nearest(i, scores)
		}
		if p != nil {
			p.put(i, to)
		}
		l.labels[i] = to
		l.counts[to]++
		l.bound(i, to, scores)
		return nil
	})
}

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

// moveCentres moves the centres to the means of their samples, and the bounds with them. moved samples are in other
// clusters than in the last call.
func (l *run) moveCentres(moved int) {
	before := slices.Clone(l.centres.points.Data)
	l.update(moved)
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
