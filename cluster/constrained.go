package cluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/panel"
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
	l, err := k.lloyd(x)
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

// FitLinked is Fit under links too: samples that must-links join, directly or through
// others, are placed as one where they cost least together, and those that cannot link are
// never in one cluster. Samples that must link to a labelled one have its label. Where
// links part samples, clusters are found by going back from dead ends first (see Fit of
// COPKMeans, which does not), and then no sample, and no two that are parted, could be
// elsewhere at less. It is an error that wraps ErrDeadEnd where there are no such clusters,
// or none are found. Without links it is Fit, and without labels the centres start as Init
// says. A cluster can be empty in the answer where what is known leaves none to fill it.
func (k ConstrainedKMeans) FitLinked(ctx context.Context, x mat.Matrix, known Known) (*Result, error) {
	if len(known.MustLink) == 0 && len(known.CannotLink) == 0 {
		if n, _ := x.Dims(); len(known.Labels) == 0 {
			return k.Fit(ctx, x, slices.Repeat([]int{-1}, n))
		}
		return k.Fit(ctx, x, known.Labels)
	}
	result, err := k.linked(ctx, x, known, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("constrained k-means: %w", err)
	}
	return result, nil
}

// linked clusters from the means of from, where that is not nil, and by the costs of extra,
// n×K, beside distances, where that is not nil.
func (k ConstrainedKMeans) linked(ctx context.Context, x mat.Matrix, known Known, from []int, extra *mat.Dense) (*Result, error) {
	if len(k.Start) > 0 {
		return nil, fmt.Errorf("start rows and links; the centres start at the labelled samples")
	}
	l, err := k.lloyd(x)
	if err != nil {
		return nil, err
	}
	l.bounds, l.extra = nil, extra
	u, err := newUnits(l.n, k.K, known)
	if err != nil {
		return nil, err
	}
	if err := u.findClusters(k.K); err != nil {
		return nil, err
	}
	labels := slices.Repeat([]int{-1}, l.n)
	for i, at := range u.of {
		labels[i] = u.fixed[at]
	}
	runs := k.restarts()
	if from != nil {
		labels, runs = from, 1
	}
	if l.seeds, err = newSeeds(l.n, k.K, labels, from == nil); err != nil {
		return nil, err
	}
	if len(l.seeds.open) == 0 {
		runs = 1
	}
	return best(runs, runs, func(start int) (*Result, error) { return l.runLinked(ctx, start, u, from) })
}

// runLinked is run for units, which start in their clusters of from where that is not nil.
func (l *run) runLinked(ctx context.Context, restart int, u *units, from []int) (*Result, error) {
	if err := l.startSeeded(ctx, restart); err != nil {
		return nil, err
	}
	var placed []int
	for i := range l.labels {
		l.labels[i] = -1
	}
	costs := make([]float64, len(u.members)*l.K)
	iteration := 0
	for iteration < cmp.Or(l.MaxIterations, defaultMaxIterations) {
		iteration++
		err := l.unitCosts(ctx, costs, u)
		if err == nil && placed == nil {
			first := costs
			if from != nil {
				first = slices.Clone(costs)
				u.keep(from, l.K, first)
			}
			placed, err = u.place(l.K, first)
		}
		if err != nil {
			return nil, err
		}
		for range defaultMaxIterations {
			if !u.lower(l.K, costs, placed) {
				break
			}
		}
		fillEmptyUnits(l.K, costs, placed, u)
		l.labels, l.previous = l.previous, l.labels
		clear(l.counts)
		for i, at := range u.of {
			l.labels[i] = placed[at]
			l.counts[placed[at]]++
		}
		moved := countMoved(l.previous, l.labels)
		if l.OnIteration != nil {
			l.OnIteration(restart, iteration, moved)
		}
		if moved == 0 {
			break
		}
		l.update()
	}
	return l.result(iteration), nil
}

// unitCosts writes what each unit costs in each cluster.
func (l *run) unitCosts(ctx context.Context, costs []float64, u *units) error {
	clear(costs)
	return panel.Each(ctx, l.n, panelRows, func(lo, hi int) error {
		l.centres.score(l.scores, l.samples, lo, hi)
		for i := lo; i < hi; i++ {
			first, by := l.first[i], l.by[i]
			if by == 0 {
				first = 0 // a row of zeros costs the same everywhere
			}
			own := costs[u.of[i]*l.K : (u.of[i]+1)*l.K]
			for j, s := range l.scores[(i-lo)*l.K : (i-lo+1)*l.K] {
				own[j] += first + by*s
			}
			if l.extra != nil {
				floats.Add(own, l.extra.RawRowView(i))
			}
		}
		return nil
	})
}

// fillEmptyUnits gives each empty cluster the unit whose samples cost most in its own, of
// those that are free to move and not alone there.
func fillEmptyUnits(k int, costs []float64, placed []int, u *units) {
	counts := make([]int, k)
	for _, j := range placed {
		counts[j]++
	}
	for j := range counts {
		if counts[j] > 0 {
			continue
		}
		farthest := -1
		cost := func(at int) float64 { return costs[at*k+placed[at]] / float64(len(u.members[at])) }
		for at, from := range placed {
			if counts[from] > 1 && u.fixed[at] < 0 && (farthest < 0 || cmp.Less(cost(farthest), cost(at))) {
				farthest = at
			}
		}
		if farthest < 0 {
			return
		}
		counts[placed[farthest]]--
		placed[farthest] = j
		counts[j] = 1
	}
}
