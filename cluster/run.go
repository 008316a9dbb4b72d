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

// run is the state of a worker, which it reuses for its restarts.
type run struct {
	KMeans
	*samples
	runs, starts int      // number of runs that must succeed, and largest number of starts
	placing      *placing // the links of COP-k-means, or nil
	linked       *linked  // the links of constrained k-means, or nil
	seeds        *seeds   // the labelled samples, or nil
	unbounded    bool     // bounds are not used

	centres          *targets
	scores, buf      []float64 // buffers for one panel, panel×K, and one row
	near             []int     // centres with scores within rounding of the lowest
	labels, previous []int     // clusters of this iteration and the previous one
	counts           []int
	sums             []float64 // sums of the clusters' samples, K×m
	exact            bool      // sums were computed from all samples, not updated
	lengths          []float64 // lengths of the clusters' sums, for refine
	placed           []int     // clusters of the units, with linked
	bounds           *bounds
}

// clone returns a copy with its own buffers.
func (l *run) clone() *run {
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

// assign moves samples to the nearest centres that links allow, fills empty clusters, and returns the number of moves.
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

// nearest returns the centre with the lowest cost for sample i, given its scores and leastTwo of them.
func (l *run) nearest(i int, scores []float64, at int, least, second float64) int {
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
	// Unit rows are rounded themselves, so under the cosine distance this is a tie.
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

// leastTwo returns the index of the smallest number, that number, and the smallest of the others.
func leastTwo(x []float64) (at int, least, second float64) {
	least, second = math.Inf(1), math.Inf(1)
	for j, v := range x {
		switch {
		case !(v < second): // mostly
		case v < least:
			at, least, second = j, v, least
		default:
			second = v
		}
	}
	return at, least, second
}

// fillEmpty moves to each empty cluster the sample with the highest cost.
func (l *run) fillEmpty() {
	if !slices.Contains(l.counts, 0) {
		return
	}
	costs := make([]float64, l.n)
	for i := range costs {
		if l.weights[i] > 0 { // a row of zeros has the same cost everywhere and is moved last
			costs[i] = l.cost(i, l.labels[i])
		}
	}
	l.bounds.reset()
	lloyd.FillEmpty(l.labels, l.counts, costs, func(i int) bool {
		return l.seeds.fixedCluster(i) < 0 && (l.placing == nil || len(l.placing.members[l.placing.unitOf[i]]) == 1)
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

// update moves the centres to the means of their samples. An empty cluster keeps its centre. If few samples moved,
// only these update the sums.
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
	l.centres.prepare()
}

// toMean divides centre j, the sum of count samples, by count or, under the cosine distance, by its length. It leaves
// centres unchanged that have no samples or no direction.
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

// bounds hold, for each sample, an upper bound of the distance from its centre and a lower bound of the distance from
// all others (Hamerly 2010). A sample is compared with the centres only if the bounds allow a change. Stored values
// exclude the centres' moves: upper bounds grow by the centre's moves, lower bounds shrink by the longest moves.
type bounds struct {
	upper, lower []float64
	moved        []float64 // total length of each centre's moves
	fastest      float64   // sum over iterations of the longest move
	scale        float64   // order of magnitude of the largest distance
}

// newBounds returns unknown bounds for the samples and k centres, of unit rows under the cosine distance.
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

// boundsOf returns the bounds of sample i's distance from its centre and from all others.
func (b *bounds) boundsOf(i, centre int) (upper, lower float64) {
	return b.upper[i] + b.moved[centre], b.lower[i] - b.fastest
}

// set stores the bounds of sample i, widened by a margin that exceeds their rounding errors.
func (b *bounds) set(i, centre int, upper, lower float64) {
	const margin = 1e-9
	room := margin * (b.scale + b.fastest)
	b.upper[i], b.lower[i] = upper-b.moved[centre]+room, lower+b.fastest-room
}

// scoredRows returns the number of rows of m columns that are scored at a time.
func scoredRows(m int) int { return min(max(1<<18/m, 16), panelRows) }

// assignEach assigns the samples, in row order, to the nearest centre that links allow.
func (l *run) assignEach(ctx context.Context) error {
	p := l.placing
	if p != nil {
		p.clear()
	}
	longest := 1.0
	if l.Distance == DistanceEuclidean {
		longest = slices.Max(l.norms)
	}
	// Exceeds the rounding error of a difference of squared distances of any sample.
	rounding := 4 * l.centres.slack(longest)
	var open []int
	for i, to := range l.previous {
		l.labels[i] = to
		if to >= 0 {
			// The bounds prove that Lloyd's algorithm keeps the sample there, even with rounding.
			if upper, lower := l.bounds.boundsOf(i, to); lower > upper && (lower-upper)*(lower+upper) > rounding {
				l.counts[to]++
				continue
			}
		}
		open = append(open, i)
	}
	return l.eachScored(ctx, open, func(i int, scores []float64) error {
		to := l.seeds.fixedCluster(i)
		if p != nil {
			if to = p.places[p.unitOf[i]]; to < 0 && !p.forbid(i, scores) {
				return fmt.Errorf("sample %d: %w", i+1, ErrDeadEnd)
			}
		}
		at, least, second := leastTwo(scores)
		if to < 0 {
			to = l.nearest(i, scores, at, least, second)
		}
		if p != nil {
			p.assign(i, to)
		}
		l.labels[i] = to
		l.counts[to]++
		if to != at {
			second = least
		}
		l.bound(i, to, scores[to], second)
		return nil
	})
}

func (l *run) eachScored(ctx context.Context, samples []int, f func(i int, scores []float64) error) error {
	for rows := range slices.Chunk(samples, scoredRows(l.m)) {
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

// bound sets the bounds of sample i, which is in cluster to, from its score there and the least of the others.
func (l *run) bound(i, to int, score, other float64) {
	if l.unbounded {
		return
	}
	square, by := l.first[i], l.by[i]
	if l.Distance == DistanceCosine {
		square, by = 2*square, 2*by
	}
	slack := by * l.centres.slack(l.norms[i])
	l.bounds.set(i, to, math.Sqrt(max(square+by*score+slack, 0)), math.Sqrt(max(square+by*other-slack, 0)))
}

// moveCentres moves the centres to the means of their samples and updates the bounds. moved is the number of
// samples that changed their cluster.
func (l *run) moveCentres(moved int) {
	before := slices.Clone(l.centres.points.Data)
	l.update(moved)
	var fastest float64
	for j := range l.K {
		from, to := before[j*l.m:(j+1)*l.m], l.centres.point(j)
		step := 2.0 // upper bound for a centre without a direction
		if l.Distance == DistanceEuclidean || slices.Equal(from, to) || norm(from) > 0 && norm(to) > 0 {
			floats.Sub(from, to)
			step = norm(from)
		}
		l.bounds.moved[j] += step
		fastest = max(fastest, step)
	}
	l.bounds.fastest += fastest
}
