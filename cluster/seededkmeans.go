package cluster

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/elementary"
)

// SeededKMeans is k-means whose centres start at the means of labelled samples
// (Basu, Banerjee and Mooney 2002, Seeded-KMeans). Label c stands for cluster c.
// The centres of clusters without a labelled sample start as Init says, at samples
// without a label, and only they differ between restarts: where there is none of
// them, there is one run. Labelled samples move as all others do.
//
// The fields mean what they mean in KMeans, but Start must be empty.
type SeededKMeans struct {
	KMeans
}

// Cluster implements [Clusterer]. It uses the labels.
func (k SeededKMeans) Cluster(ctx context.Context, x mat.Matrix, clusters int, known Known, seed uint64) (*Result, error) {
	k.K, k.Seed = clusters, seed
	return k.Fit(ctx, x, known.Labels)
}

// Fit clusters the rows of x, n×m, as KMeans.Fit does. labels holds for each row
// its cluster, from 0 to K−1, or −1 where it is not known. It is an error if the
// length is not n, if a label is out of range, or if there are more clusters
// without a labelled sample than samples without a label.
func (k SeededKMeans) Fit(ctx context.Context, x mat.Matrix, labels []int) (*Result, error) {
	result, err := k.fitSeeded(ctx, x, labels, false)
	if err != nil {
		return nil, fmt.Errorf("seeded k-means: %w", err)
	}
	return result, nil
}

// ConstrainedKMeans is SeededKMeans that keeps the labels (Basu, Banerjee and
// Mooney 2002, Constrained-KMeans): a sample with label c is in cluster c in every
// iteration and in the answer, and the centre of c is the mean of these samples
// and those that join them. So samples of two labels are never in one cluster, and
// there is always an answer.
type ConstrainedKMeans struct {
	KMeans
}

// Cluster implements [Clusterer].
func (k ConstrainedKMeans) Cluster(ctx context.Context, x mat.Matrix, clusters int, known Known, seed uint64) (*Result, error) {
	k.K, k.Seed = clusters, seed
	return k.FitLinked(ctx, x, known)
}

// Fit clusters the rows of x under labels, which are as in SeededKMeans.Fit.
func (k ConstrainedKMeans) Fit(ctx context.Context, x mat.Matrix, labels []int) (*Result, error) {
	result, err := k.fitSeeded(ctx, x, labels, true)
	if err != nil {
		return nil, fmt.Errorf("constrained k-means: %w", err)
	}
	return result, nil
}

func (k KMeans) fitSeeded(ctx context.Context, x mat.Matrix, labels []int, keep bool) (*Result, error) {
	if len(k.Start) > 0 {
		return nil, fmt.Errorf("start rows and labels; the centres start at the labelled samples")
	}
	l, err := k.lloyd(x, Known{})
	if err != nil {
		return nil, err
	}
	if l.seeds, err = newSeeds(l.n, k.K, labels, keep); err != nil {
		return nil, err
	}
	runs := k.restarts()
	if len(l.seeds.open) == 0 {
		runs = 1
	}
	return best(runs, runs, func(start int) (*Result, error) { return l.run(ctx, start) })
}

// seeds are samples whose clusters are known.
type seeds struct {
	labels []int // of the samples, −1 for none
	sizes  []int // of the clusters
	open   []int // the clusters without a labelled sample
	free   []int // the samples without a label
	keep   bool  // labelled samples stay in their clusters
}

func newSeeds(n, k int, labels []int, keep bool) (*seeds, error) {
	if len(labels) != n {
		return nil, fmt.Errorf("%d labels of %d samples", len(labels), n)
	}
	s := &seeds{labels: labels, sizes: make([]int, k), keep: keep}
	for i, c := range labels {
		switch {
		case c == -1:
			s.free = append(s.free, i)
		case c < 0 || c >= k:
			return nil, fmt.Errorf("sample %d has label %d of %d clusters", i+1, c, k)
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
		return nil, fmt.Errorf("%d clusters have no labelled sample, and %d samples have no label", len(s.open), len(s.free))
	}
	return s, nil
}

// kept returns the cluster that sample i must stay in, or −1. It may be called on
// nil, for no seeds.
func (s *seeds) kept(i int) int {
	if s == nil || !s.keep {
		return -1
	}
	return s.labels[i]
}

// startSeeded sets the centres of a restart: means of the labelled samples, and for
// the other clusters samples without a label.
func (l *run) startSeeded(ctx context.Context, restart int) error {
	for j := range l.K {
		clear(l.centres.at(j))
	}
	for i, c := range l.seeds.labels {
		if c >= 0 {
			l.addTo(l.centres.at(c), l.weights[i], i)
		}
	}
	for j, size := range l.seeds.sizes {
		l.toMean(j, size)
	}
	random := l.random(restart)
	if l.Init == InitPlusPlus {
		if err := l.plusPlusSeeded(ctx, random); err != nil {
			return err
		}
	} else {
		order := random.Perm(len(l.seeds.free))
		for at, j := range l.seeds.open {
			l.setCentre(j, l.seeds.free[order[at]])
		}
	}
	l.centres.ready()
	return nil
}

// plusPlusSeeded draws samples without a label as the centres of the clusters that
// have none, as InitPlusPlus says: each with a probability in proportion to its cost
// with the centres before it, those of the labels among them.
func (l *run) plusPlusSeeded(ctx context.Context, random *rand.Rand) error {
	costs := make([]float64, l.n)
	for _, i := range l.seeds.free {
		if l.weights[i] > 0 { // a row of zeros costs the same everywhere
			costs[i] = math.Inf(1)
		}
	}
	near := func(j int) {
		for _, i := range l.seeds.free {
			if costs[i] > 0 {
				costs[i] = min(costs[i], l.cost(i, j))
			}
		}
	}
	for j, size := range l.seeds.sizes {
		if err := ctx.Err(); err != nil {
			return err
		}
		if size > 0 {
			near(j)
		}
	}
	// Where nothing is left that costs anything, any that is left will do.
	rest := random.Perm(len(l.seeds.free))
	taken := make(map[int]bool, len(l.seeds.open))
	for _, j := range l.seeds.open {
		if err := ctx.Err(); err != nil {
			return err
		}
		i := -1
		if total := elementary.Sum(costs); total > 0 && !math.IsInf(total, 1) {
			i = draw(random, costs, total)
		}
		for ; i < 0 || taken[i]; rest = rest[1:] {
			i = l.seeds.free[rest[0]]
		}
		taken[i] = true
		costs[i] = 0
		l.setCentre(j, i)
		near(j)
	}
	return nil
}
