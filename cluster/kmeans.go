package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/lloyd"
	"github.com/seed4492f2cd/partwise/internal/panel"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/internal/settings/enum"
)

// Init says how centres start.
type Init int

const (
	// InitSample takes distinct random samples, as the papers do.
	InitSample Init = iota
	// InitPlusPlus takes samples one after the other: of 2 + ln K, each drawn with a
	// probability in proportion to its cost with the centres before it, that which leaves
	// the least cost (k-means++, Arthur and Vassilvitskii 2007, in its greedy form).
	InitPlusPlus
)

var inits = enum.Of[Init]("start", "random", "k-means++")

// String returns the name that settings use.
func (i Init) String() string { return inits.String(i) }

// UnmarshalText reads the name that settings use.
func (i *Init) UnmarshalText(name []byte) error { return inits.UnmarshalText(i, name) }

// Values returns the names of all ways to start.
func (Init) Values() []string { return inits.Values() }

// KMeans is Lloyd's algorithm. Each sample goes to the nearest centre, ties to
// the lower index; each centre becomes the mean of its samples, under the cosine
// distance the direction of the sum of its unit samples; and again until no sample
// moves. A cluster that is left without samples takes the one that is farthest
// from its own centre, so that no cluster of the answer is empty.
type KMeans struct {
	// K is the number of clusters, from 1 to n.
	K int
	// Distance is what the objective adds up: ‖x − c‖² or 1 − cos.
	Distance Distance `setting:"distance" help:"what samples are compared by: euclidean or cosine"`
	// Init says how the centres start.
	Init Init `setting:"start" help:"how the centres start: at random samples, or by k-means++"`
	// Refine goes on from where no sample has a nearer centre, by moving single samples to
	// clusters where the objective is lower once both centres have moved with them
	// (Hartigan 1975; Hartigan and Wong 1979), and by the algorithm again. What it comes to is
	// an answer of Lloyd's algorithm too, and lower or the same. Where links hold samples, it
	// says nothing.
	Refine bool `setting:"refine" help:"whether single samples then move where that lowers the objective"`
	// Restarts is the number of runs, of which the one with the least
	// objective is returned, the first of several; 0 means 20.
	Restarts int `setting:"restarts" default:"20" help:"runs, of which the one with the least objective counts"`
	// MaxIterations bounds the iterations of a run; 0 means 300.
	MaxIterations int
	// Seed makes the random starts repeatable.
	Seed uint64
	// Start holds K rows that are the centres at the start of a single run.
	// Where it is given, Init, Restarts and Seed say nothing.
	Start []int
	// OnIteration, if set, is called after every iteration with the number of
	// samples that changed their cluster in it.
	OnIteration func(restart, iteration, moved int)
}

// Result is the answer of a clustering.
type Result struct {
	// Labels holds each sample's cluster, from 0 to K−1.
	Labels []int
	// Centres is K×m, a centre a row. It is nil where centres have no
	// coordinates.
	Centres *mat.Dense
	// Objective is the sum of the samples' costs with their centres.
	Objective float64
	// Iterations is how many iterations the run took.
	Iterations int
}

// Fit clusters the rows of x, n×m, dense or a *sparse.CSR; other matrices are
// copied to a dense one. It is an error if K is not within 1 and n, if Start
// does not hold K rows of x, or if a row holds a value that is not finite.
func (k KMeans) Fit(ctx context.Context, x mat.Matrix) (*Result, error) {
	l, err := k.lloyd(x)
	if err != nil {
		return nil, fmt.Errorf("k-means: %w", err)
	}
	if k.OnIteration != nil {
		return best(k.restarts(), k.restarts(), func(start int) (*Result, error) { return l.run(ctx, start) })
	}
	return bestTogether(ctx, k.restarts(), func() func(start int) (*Result, error) {
		own := l.another()
		return func(start int) (*Result, error) { return own.run(ctx, start) }
	})
}

// Cluster implements [Clusterer]. It uses nothing that is known.
func (k KMeans) Cluster(ctx context.Context, x mat.Matrix, clusters int, _ Known, seed uint64) (*Result, error) {
	k.K, k.Seed = clusters, seed
	return k.Fit(ctx, x)
}

// Memory returns about how many bytes the algorithm takes: for each of the starts that run side by side
// the centres, of this start and of the best, a panel of scores, and the costs with candidates for centres.
func (k KMeans) Memory(s Size) float64 {
	n, m, clusters := float64(s.N), float64(s.M), float64(s.K)
	points := 0.0
	if !s.Sparse {
		points = 8 * n * m // brought to unit length
	}
	starts := 8 * n * float64(1+lloyd.Candidates(s.K))
	bounds := 24*n + 8*clusters*m + 16*float64(gathered(s.M))*m
	return points + 40*n + float64(parallel.Cores())*(56*clusters*m+48*n+starts+bounds+512*8*clusters) + 300*float64(s.Links)
}

// bestTogether is best of runs that have no dead ends, several at once where cores are
// free. What runner returns does one after another.
func bestTogether(ctx context.Context, runs int, runner func() func(start int) (*Result, error)) (*Result, error) {
	type worker struct {
		run   func(start int) (*Result, error)
		least *Result
		start int // of the least
	}
	workers := make([]worker, min(parallel.Cores(), runs))
	errs := make([]error, runs)
	err := parallel.Blocks(ctx, len(workers), runs, 1, func(at, start, _ int) {
		w := &workers[at]
		if w.run == nil {
			w.run = runner()
		}
		result, err := w.run(start)
		if errs[start] = err; err == nil && (w.least == nil || result.Objective < w.least.Objective) {
			w.least, w.start = result, start
		}
	})
	if err = cmp.Or(errors.Join(errs...), err); err != nil {
		return nil, err
	}
	least := workers[0]
	for _, w := range workers[1:] {
		if w.least != nil && (w.least.Objective < least.least.Objective || w.least.Objective == least.least.Objective && w.start < least.start) {
			least = w
		}
	}
	return least.least, nil
}

// best returns the answer with the least objective of all runs, the first of several
// such. A dead end is not counted as one as long as there are starts
// left; it is an error if every start is one.
func best(runs, starts int, run func(start int) (*Result, error)) (*Result, error) {
	var least *Result
	var deadEnd error
	for start := 0; start < starts && runs > 0; start++ {
		result, err := run(start)
		if errors.Is(err, ErrDeadEnd) {
			deadEnd = err
			continue
		}
		if err != nil {
			return nil, err
		}
		runs--
		if least == nil || result.Objective < least.Objective {
			least = result
		}
	}
	if least == nil {
		return nil, fmt.Errorf("no start of %d comes to an end: %w", starts, deadEnd)
	}
	return least, nil
}

// checkSizes reports what the settings that all forms of k-means share forbid.
func checkSizes(n, k, restarts, maxIterations int) error {
	switch {
	case k < 1 || k > n:
		return fmt.Errorf("%d clusters of %d samples", k, n)
	case restarts < 0:
		return fmt.Errorf("%d restarts", restarts)
	case maxIterations < 0:
		return fmt.Errorf("at most %d iterations", maxIterations)
	}
	return nil
}

const (
	defaultRestarts      = 20
	defaultMaxIterations = 300
)

// restarts returns how many runs there are.
func (k KMeans) restarts() int {
	if len(k.Start) > 0 {
		return 1
	}
	return cmp.Or(k.Restarts, defaultRestarts)
}

// lloyd checks the settings and makes the buffers of the runs on x.
func (k KMeans) lloyd(x mat.Matrix) (*run, error) {
	s, err := readSamples(x, k.Distance)
	if err != nil {
		return nil, err
	}
	if err := checkSizes(s.n, k.K, k.Restarts, k.MaxIterations); err != nil {
		return nil, err
	}
	if k.Init != InitSample && k.Init != InitPlusPlus {
		return nil, fmt.Errorf("there is no %v", k.Init)
	}
	if len(k.Start) > 0 && len(k.Start) != k.K {
		return nil, fmt.Errorf("%d rows to start %d clusters from", len(k.Start), k.K)
	}
	for _, i := range k.Start {
		if i < 0 || i >= s.n {
			return nil, fmt.Errorf("start at row index %d of %d rows", i, s.n)
		}
	}
	return (&run{KMeans: k, samples: s}).another(), nil
}

// another returns one that can run beside l.
func (l *run) another() *run {
	other := *l
	other.centres = newTargets(l.Distance, l.K, l.m)
	other.scores = make([]float64, panelRows*l.K)
	other.buf = make([]float64, l.m)
	other.near = make([]int, 0, l.K)
	other.labels, other.previous = make([]int, l.n), make([]int, l.n)
	other.counts, other.lengths = make([]int, l.K), make([]float64, l.K)
	other.bounds, other.open, other.before = newBounds(l.samples, l.Distance, l.K), nil, nil
	return &other
}

// run runs the algorithm. Its slices are made once for all restarts.
type run struct {
	KMeans
	*samples
	placing  *placing   // what links hold, or nil
	seeds    *seeds     // or nil
	extra    *mat.Dense // what samples cost in clusters beside distances, n×K, or nil
	centres  *targets
	scores   []float64 // of one panel, panel×K
	buf      []float64 // one row
	near     []int     // the centres that the scores cannot tell apart
	labels   []int
	previous []int // the labels of the iteration before
	counts   []int
	lengths  []float64     // of the sums of the clusters, for refine
	bounds   *bounds // nil where links hold samples
	open     []int         // the samples whose bounds leave a choice
	before   []float64     // where the centres were
}

func (l *run) run(ctx context.Context, restart int) (*Result, error) {
	if err := l.start(ctx, restart); err != nil {
		return nil, err
	}
	for i := range l.labels {
		l.labels[i] = -1
	}
	if l.bounds != nil {
		l.bounds.reset()
	}
	iteration := 0
	for iteration < cmp.Or(l.MaxIterations, defaultMaxIterations) {
		iteration++
		moved, err := l.assign(ctx)
		if err != nil {
			return nil, err
		}
		refined := false
		if moved == 0 && l.Refine && l.placing == nil {
			if moved, err = l.refine(ctx); err != nil {
				return nil, err
			}
			refined = moved > 0
		}
		if l.OnIteration != nil {
			l.OnIteration(restart, iteration, moved)
		}
		if moved == 0 {
			break
		}
		if !refined {
			l.moveCentres()
		}
	}
	return l.result(iteration), nil
}

// result copies the answer out of the room for runs.
func (l *run) result(iterations int) *Result {
	r := &Result{
		Labels:     slices.Clone(l.labels),
		Centres:    mat.NewDense(l.K, l.m, slices.Clone(l.centres.points.Data)),
		Iterations: iterations,
	}
	for i := range l.n {
		r.Objective += l.cost(i, l.labels[i])
	}
	return r
}

// start sets the centres for a restart.
func (l *run) start(ctx context.Context, restart int) error {
	if l.seeds != nil {
		return l.startSeeded(ctx, restart)
	}
	rows, err := l.startRows(ctx, restart)
	if err != nil {
		return err
	}
	for j, i := range rows {
		l.setCentre(j, i)
	}
	l.centres.ready()
	return nil
}

// startRows returns the samples that are the centres at the start of a restart.
func (l *run) startRows(ctx context.Context, restart int) ([]int, error) {
	switch {
	case len(l.Start) > 0:
		return l.Start, nil
	case l.Init == InitPlusPlus:
		return l.plusPlus(ctx, l.random(restart), l.K)
	}
	return l.random(restart).Perm(l.n)[:l.K], nil
}

// random returns the random stream of a restart.
func (l *run) random(restart int) *rand.Rand { return rng.New(l.Seed, "k-means", restart) }

// setCentre makes the centre j of sample i.
func (l *run) setCentre(j, i int) {
	clear(l.centres.point(j))
	l.addTo(l.centres.point(j), l.weights[i], i)
}

// cost returns what sample i costs in cluster j.
func (l *run) cost(i, j int) float64 {
	return l.Distance.between(l.row(i, l.buf), l.weights[i], l.centres.point(j), 1)
}

// assign moves each sample to the nearest centre that its links allow and fills
// clusters that are empty then. It returns how many samples moved.
func (l *run) assign(ctx context.Context) (moved int, err error) {
	l.labels, l.previous = l.previous, l.labels
	clear(l.counts)
	if l.bounds != nil {
		err = l.assignBounded(ctx)
	} else {
		err = l.assignAll(ctx)
	}
	if err != nil {
		return 0, err
	}
	l.fillEmpty()
	return countMoved(l.previous, l.labels), nil
}

// assignAll moves each sample to the nearest centre that its links allow.
func (l *run) assignAll(ctx context.Context) error {
	l.placing.clear()
	return panel.Each(ctx, l.n, panelRows, func(lo, hi int) error {
		l.centres.score(l.scores, l.samples, lo, hi)
		for i := lo; i < hi; i++ {
			to := max(l.seeds.kept(i), l.placing.cluster(i))
			if to < 0 {
				scores := l.scores[(i-lo)*l.K : (i-lo+1)*l.K]
				if !l.placing.forbid(i, scores) {
					return fmt.Errorf("sample %d: %w", i+1, ErrDeadEnd)
				}
				to = l.nearest(i, scores)
				l.placing.put(i, to)
			}
			l.labels[i] = to
			l.counts[to]++
		}
		return nil
	})
}

// nearest returns the centre with the least cost for sample i, given its
// scores.
func (l *run) nearest(i int, scores []float64) int {
	at, least, second := leastTwo(scores)
	limit := least + l.centres.slack.ofLength(l.norms[i])
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

// leastTwo returns the place of the least number, the first of several, and that number and the least of the others.
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
	if l.bounds != nil {
		l.bounds.reset()
	}
	lloyd.FillEmpty(l.labels, l.counts, costs, func(i int) bool { return l.seeds.kept(i) < 0 && l.placing.alone(i) })
}

// countMoved returns how many samples have another label than before.
func countMoved(before, after []int) (moved int) {
	for i, to := range after {
		if to != before[i] {
			moved++
		}
	}
	return moved
}

// update moves the centres to the means of their samples. The centre of an
// empty cluster stays.
func (l *run) update() {
	for j, count := range l.counts {
		if count > 0 {
			clear(l.centres.point(j))
		}
	}
	parts := l.columnParts()
	parallel.DoWork(8*l.n*l.m, parts.Parts(), func(part int) {
		lo, hi := parts.At(part)
		for i, j := range l.labels {
			l.addColumns(l.centres.point(j)[lo:hi], l.weights[i], i, lo)
		}
	})
	for j, count := range l.counts {
		l.toMean(j, count)
	}
	l.centres.ready()
}

// toMean makes centre j, the sum of count samples, their mean or, under the cosine
// distance, its direction. A sum of none, and one without a direction, stays.
func (l *run) toMean(j, count int) {
	centre := l.centres.point(j)
	by := float64(count)
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
