package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lloyd"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/internal/settings/enum"
)

// Init is the initialisation of the centres.
type Init int

const (
	InitSample Init = iota // distinct random samples, as in the papers
	// InitPlusPlus is greedy k-means++ (Arthur and Vassilvitskii 2007): each centre is the best of 2 + ln K
	// samples drawn with probability proportional to their cost.
	InitPlusPlus
)

var inits = enum.Of[Init]("start", "random", "k-means++")

// String returns the name of the initialisation in settings.
func (i Init) String() string                   { return inits.String(i) }
func (i *Init) UnmarshalText(name []byte) error { return inits.UnmarshalText(i, name) }
func (Init) Values() []string                   { return inits.Values() }

// KMeans is Lloyd's algorithm (1982), or spherical k-means under the cosine distance (Dhillon and Modha 2001). It
// assigns samples to the nearest centre, ties to the lower index, then moves centres to the means of their samples,
// until no sample moves. Under the cosine distance the mean is the unit direction of the sum of unit samples. An empty
// cluster gets the sample farthest from its own centre.
type KMeans struct {
	K        int      // the number of clusters, from 1 to n
	Distance Distance `setting:"distance" help:"distance between samples"`
	Init     Init     `setting:"start" help:"initialisation of the centres"`
	// Refine continues after convergence: it moves single samples that lower the objective with both centres
	// updated (Hartigan 1975; Hartigan and Wong 1979), then repeats the algorithm. It is ignored under links.
	Refine        bool   `setting:"refine" help:"afterwards, move single samples while the objective decreases"`
	Restarts      int    `setting:"restarts" default:"20" help:"number of starts; the result with the smallest objective is used"`
	MaxIterations int    // largest number of iterations of a restart; 0 means 300
	Seed          uint64 // seed of the random starts
}

// Result is the result of a clustering: the best of all restarts.
type Result struct {
	Labels     []int      // each sample's cluster, from 0 to K−1
	Centres    *mat.Dense // the centres as rows, K×m; nil if centres have no coordinates
	Objective  float64    // the sum of the samples' costs
	Iterations int        // number of iterations of the best restart
}

// Fit clusters the rows of x, n×m, a *mat.Dense or *sparse.CSR; other matrices are copied to a dense one. It is an error
// if K is not from 1 to n, or if a value is not finite.
func (k KMeans) Fit(ctx context.Context, x mat.Matrix) (*Result, error) {
	return k.fit(ctx, "k-means", x, func(*run) error { return nil })
}

// Cluster implements [Clusterer].
func (k KMeans) Cluster(ctx context.Context, x mat.Matrix, clusters int, _ Known, seed uint64) (*Result, error) {
	k.K, k.Seed = clusters, seed
	return k.Fit(ctx, x)
}

func (k KMeans) Memory(s Size) float64 {
	n, m, clusters := float64(s.N), float64(s.M), float64(s.K)
	points := 0.0
	if !s.Sparse {
		points = 8 * n * m // samples scaled to unit length
	}
	starts := 8 * n * float64(1+lloyd.Candidates(s.K))
	bounds := 24*n + 8*clusters*m + 16*float64(scoredRows(s.M))*m
	return points + 48*n + float64(parallel.Cores())*(56*clusters*m+48*n+starts+bounds+512*8*clusters) + 300*float64(s.Links)
}

// fit returns the best restart on x. prepare applies labels and links to a run.
func (k KMeans) fit(ctx context.Context, name string, x mat.Matrix, prepare func(l *run) error) (_ *Result, err error) {
	defer guard.CatchWithin(&err, name)
	l := k.lloyd(x)
	guard.Check(prepare(l))
	return best(ctx, l.runs, l.starts, func() func(start int) (*Result, error) {
		own := l.clone()
		return func(start int) (*Result, error) { return own.run(ctx, start) }
	})
}

// best returns the result with the lowest objective, ties to the first, of the first runs that succeed. A dead end is
// replaced by another start. runner returns a worker's function that runs one start.
func best(ctx context.Context, runs, starts int, runner func() func(start int) (*Result, error)) (*Result, error) {
	workers := min(parallel.Cores(), runs)
	run := make([]func(start int) (*Result, error), workers)
	var mu sync.Mutex
	var least *Result
	var first int // the start of least
	var deadEnd error
	for begin := 0; begin < starts && runs > 0; {
		errs := make([]error, min(runs, starts-begin))
		fault := parallel.Blocks(ctx, workers, len(errs), 1, func(worker, at, _ int) {
			if run[worker] == nil {
				run[worker] = runner()
			}
			result, err := run[worker](begin + at)
			if errs[at] = err; err != nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if least == nil || cmp.Or(cmp.Compare(result.Objective, least.Objective), cmp.Compare(begin+at, first)) < 0 {
				least, first = result, begin+at
			}
		})
		begin += len(errs)
		runs -= len(errs)
		for _, err := range append(errs, fault) {
			switch {
			case errors.Is(err, ErrDeadEnd):
				deadEnd = err
				runs++
			case err != nil:
				return nil, err
			}
		}
	}
	if least == nil {
		return nil, fmt.Errorf("none of %d starts satisfies the links: %w", starts, deadEnd)
	}
	return least, nil
}

func checkSizes(n, k, restarts, maxIterations int) (err error) {
	defer guard.Catch(&err)
	guard.FailIf(k < 1 || k > n, "number of clusters %d; expected 1 to the number of samples, %d", k, n)
	guard.FailIf(restarts < 0, "restarts %d; expected 0 or more", restarts)
	guard.FailIf(maxIterations < 0, "maximum of %d iterations; expected 0 or more", maxIterations)
	return nil
}

const defaultRestarts, defaultMaxIterations = 20, 300

func (k KMeans) restarts() int { return cmp.Or(k.Restarts, defaultRestarts) }

// lloyd validates the settings and reads x. It calls guard.Fail.
func (k KMeans) lloyd(x mat.Matrix) *run {
	s := guard.Must(readSamples(x, k.Distance))
	guard.Check(checkSizes(s.n, k.K, k.Restarts, k.MaxIterations))
	guard.FailIf(k.Init != InitSample && k.Init != InitPlusPlus, "unknown %v", k.Init)
	return &run{KMeans: k, samples: s, runs: k.restarts(), starts: k.restarts()}
}

type seeds struct {
	labels, sizes []int // label of each sample or −1, and number of labelled samples of each cluster
	open, free    []int // clusters without a labelled sample, and unlabelled samples
	keep          bool  // labelled samples stay in their clusters
}

// seed makes the labelled samples the seeds. If all clusters have labels, one run suffices.
func (l *run) seed(labels []int, keep bool) error {
	if len(labels) != l.n {
		return fmt.Errorf("%d labels for %d samples", len(labels), l.n)
	}
	s := &seeds{labels: labels, sizes: make([]int, l.K), keep: keep}
	for i, c := range labels {
		switch {
		case c == -1:
			s.free = append(s.free, i)
		case c < 0 || c >= l.K:
			return fmt.Errorf("sample %d has label %d; expected less than %d", i+1, c, l.K)
		default:
			s.sizes[c]++
		}
	}
	for c, size := range s.sizes {
		if size == 0 {
			s.open = append(s.open, c)
		}
	}
	if len(s.open) > len(s.free) {
		return fmt.Errorf("%d clusters have no labelled sample, but only %d samples are unlabelled", len(s.open), len(s.free))
	}
	if l.seeds = s; len(s.open) == 0 {
		l.runs, l.starts = 1, 1
	}
	return nil
}

// fixedCluster returns the cluster that sample i must stay in, or −1.
func (s *seeds) fixedCluster(i int) int {
	if s == nil || !s.keep {
		return -1
	}
	return s.labels[i]
}

// start sets the initial centres of a restart: the means of labelled samples, and unlabelled samples for the other
// clusters.
func (l *run) start(ctx context.Context, restart int) (err error) {
	random := rng.New(l.Seed, "k-means", restart)
	open, free := matrix.Range(l.K), l.all
	if s := l.seeds; s != nil {
		open, free = s.open, s.free
		clear(l.centres.points.Data)
		for i, c := range s.labels {
			if c >= 0 {
				l.addTo(l.centres.point(c), l.weights[i], i)
			}
		}
		for j, size := range s.sizes {
			l.toMean(j, size)
		}
	}
	var rows []int
	if l.Init == InitPlusPlus {
		if rows, err = l.plusPlus(ctx, random, len(open)); err != nil {
			return err
		}
	} else {
		rows = matrix.Take(free, random.Perm(len(free)))
	}
	for at, j := range open {
		clear(l.centres.point(j))
		l.addTo(l.centres.point(j), l.weights[rows[at]], rows[at])
	}
	l.centres.prepare()
	return nil
}

// costs writes the cost of each free sample with the nearest centre that has labels, and 0 for labelled samples. It
// reports whether there is such a centre.
func (s *seeds) costs(l *run, out []float64) (some bool) {
	for i, c := range s.labels {
		if c >= 0 {
			out[i] = 0
		}
	}
	for j, size := range s.sizes {
		if some = some || size > 0; size == 0 {
			continue
		}
		for _, i := range s.free {
			if out[i] > 0 {
				out[i] = min(out[i], l.cost(i, j))
			}
		}
	}
	return some
}

// plusPlus draws initial centres among the samples by InitPlusPlus, given the centres of labelled samples.
func (l *run) plusPlus(ctx context.Context, random *rand.Rand, centres int) ([]int, error) {
	points := newTargets(l.Distance, lloyd.Candidates(centres), l.m)
	longest := 0.0
	first := make([]float64, l.n)
	for i, w := range l.weights {
		longest = max(longest, w*l.norms[i])
		if w > 0 { // a row of zeros has the same cost everywhere and cannot be a centre
			first[i] = math.Inf(1)
		}
	}
	var limit float64 // costs up to this may be rounding errors of 0
	p := lloyd.PlusPlus{
		First: first,
		Propose: func(candidates []int) {
			points.fill(l.samples, candidates)
			limit = 2.001 * points.slack(longest)
		},
		Cost: func(out []float64, lo, hi int) {
			points.score(out, l.samples, l.all[lo:hi])
			for i := lo; i < hi; i++ {
				own, at, by := out[(i-lo)*points.points.Rows:][:points.points.Rows], l.first[i], l.by[i]
				for c, score := range own {
					own[c] = at + by*score
					if own[c] <= limit && first[i] > 0 && own[c] <= 2*l.weights[i]*points.slack(l.norms[i]) {
						own[c] = l.Distance.between(l.row(i, make([]float64, l.m)), l.weights[i], points.point(c), 1)
					}
				}
			}
		},
	}
	if l.seeds != nil {
		p.Started = l.seeds.costs(l, first)
	}
	return p.Draw(ctx, centres, random)
}
