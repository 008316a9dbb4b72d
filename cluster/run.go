package cluster

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/lloyd"
)

// run runs the algorithm. Its slices are made once for all restarts of a worker.
type run struct {
	KMeans
	*samples
	runs, starts int      // runs are to come to an end, of at most this many starts
	placing      *placing // the links of COP-k-means, or nil
	linked       *linked  // those of constrained k-means, or nil
	seeds        *seeds   // or nil
	unbounded    bool     // bounds stay unknown

	centres  *targets
	scores   []float64 // of one panel, panel×K
	buf      []float64 // one row
	near     []int     // the centres that the scores cannot tell apart
	labels   []int
	previous []int // the labels of the iteration before
	counts   []int
	lengths  []float64 // of the sums of the clusters, for refine
	placed   []int     // the clusters of units, with linked
	bounds   *bounds
}

// another returns a run with buffers of its own.
func (l *run) another() *run {
	other := *l
	other.centres, other.bounds = newTargets(l.Distance, l.K, l.m), newBounds(l.samples, l.K)
	other.scores, other.buf = make([]float64, panelRows*l.K), make([]float64, l.m)
	other.near = make([]int, 0, l.K)
	other.labels, other.previous = make([]int, l.n), make([]int, l.n)
	other.counts, other.lengths = make([]int, l.K), make([]float64, l.K)
	other.placing, other.unbounded = l.placing.another(), l.placing != nil
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
	iteration := 0
	for iteration < cmp.Or(l.MaxIterations, defaultMaxIterations) {
		iteration++
		moved, err := l.assign(ctx)
		if err != nil {
			return nil, err
		}
		if moved > 0 {
			l.moveCentres()
		} else if l.Refine && l.placing == nil && l.linked == nil {
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
		// A row of zeros costs the same everywhere: it goes last.
		if l.weights[i] > 0 {
			costs[i] = l.cost(i, l.labels[i])
		}
	}
	l.bounds.reset()
	lloyd.FillEmpty(l.labels, l.counts, costs, func(i int) bool { return l.seeds.kept(i) < 0 && l.placing.alone(i) })
}

func countMoved(before, after []int) (moved int) {
	for i, to := range after {
		if to != before[i] {
			moved++
		}
	}
	return moved
}

// update moves the centres to the means of their samples. The centre of an empty cluster stays.
func (l *run) update() {
	for j, count := range l.counts {
		if count > 0 {
			clear(l.centres.point(j))
		}
	}
	for i, j := range l.labels {
		l.addTo(l.centres.point(j), l.weights[i], i)
	}
	for j, count := range l.counts {
		l.toMean(j, count)
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
