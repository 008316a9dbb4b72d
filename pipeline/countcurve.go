package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/rng"
)

// CountCurve says how well samples fall into several numbers of groups.
type CountCurve struct {
	// K are the numbers of groups, rising, and Gap their gaps of cluster.EigenGaps.
	K   []int
	Gap []float64
	// Silhouette is the mean silhouette, from −1 to 1 (Rousseeuw 1987). Stability is the mean adjusted Rand
	// index of pairs of groupings of four fifths of the samples, on their common samples.
	Silhouette, Stability []float64
	// Samples is the number of samples in use.
	Samples int
}

// Best returns the place of the number with the largest gap, the first of several.
func (c *CountCurve) Best() int { return slices.Index(c.Gap, slices.Max(c.Gap)) }

const (
	countSamples    = 1000 // at most
	countSubsets    = 6    // of each number of groups
	countRestarts   = 3    // of a clustering
	countPortion    = 0.8  // of the samples are in a subset
	countDirections = 50   // of points that are compacted
)

// CountRange returns the default range of the number of groups: 2 to 30, or fewer of few samples, but at
// least the number of labelled classes, and enough to obey the links. rows are samples of the set.
func (g Groups) CountRange(set *datasets.Set, rows []int) (from, to int) {
	from = 2
	if g.given() {
		labels, known := g.knowledge(set).of(rows)
		from = max(from, len(labels.classes))
		for from < len(rows) && !g.Links.None() && errors.Is(cluster.CheckLinks(len(rows), from, cluster.Known(known)), cluster.ErrDeadEnd) {
			from++
		}
	}
	return from, max(from, min(max(mostCounted, from+10), len(rows)/3))
}

// CountCurve groups the inputs, or 1,000 drawn ones, into each number of groups of a range. It calls progress,
// which may be nil, after each number of "counting groups". A panic is an error.
func (g Groups) CountCurve(ctx context.Context, in *Inputs, from, to int, progress Progress) (*CountCurve, error) {
	return reported(ctx, progress, func(r *reporter) (*CountCurve, error) { return g.countCurve(ctx, in, from, to, r) })
}

// checkCount returns an error if the number of groups of n samples cannot be chosen.
func (g Groups) checkCount(n int) error {
	switch {
	case g.Batch != 0:
		return errors.New("the number of groups is not looked for in samples that are read in blocks: say it with -k")
	case g.by() == Largest:
		return errors.New("the number of groups is not looked for where samples are grouped by their largest coefficient: say it with -k")
	case n < leastOfCounted:
		return fmt.Errorf("the number of groups of %d samples is not looked for, which are too few: say it with -k", n)
	}
	return nil
}

func (g Groups) countCurve(ctx context.Context, in *Inputs, from, to int, progress *reporter) (*CountCurve, error) {
	if d, _ := g.withoutCopies(in); d != nil && len(d.in.Rows) >= max(leastOfCounted, 2*to) {
		in, g = d.in, d.groups
	}
	n, _ := in.Dims()
	if from < 2 || to < from {
		return nil, fmt.Errorf("from %d to %d groups: want two numbers, the first 2 or more and not above the second", from, to)
	}
	if err := g.checkCount(n); err != nil {
		return nil, err
	}
	for _, k := range []int{from, to} {
		g.K = k
		if err := g.check(in.Set, in.Rows); err != nil {
			return nil, err
		}
	}
	if _, err := g.ChooseRank(ctx, in, nil); err != nil {
		return nil, err
	}
	m, err := resolve(g.Method, Clustering, g.Cluster)
	if err != nil {
		return nil, err
	}
	if err := checkSigns(in, []*method{m}); err != nil {
		return nil, err
	}
	release, err := g.acquire(ctx, in, m, to)
	if err != nil {
		return nil, err
	}
	defer release()

	rows := someRows(n, countSamples, in.Labels(), g.UseLabels, g.Seed)
	if to > len(rows)/2 {
		return nil, fmt.Errorf("%d groups are too many for a look at %d samples", to, len(rows))
	}
	x := in.X
	if len(rows) < n {
		x = selectRows(x, rows)
	}
	all := g.knowledge(in.Set)
	// known returns what is known of some of the rows.
	known := func(among []int) (known factor.Known) {
		if g.given() {
			_, known = all.of(take(in.Rows, take(rows, among)))
		}
		return known
	}
	subsets := make([][]int, countSubsets)
	for s := range subsets {
		subsets[s] = subset(len(rows), s, g.Seed)
	}
	gaps, err := cluster.EigenGaps(ctx, x, to)
	if err != nil {
		return nil, err
	}
	m.cluster.Restarts, m.cluster.Start = countRestarts, cluster.InitPlusPlus
	c := &CountCurve{Samples: len(rows)}
	var points mat.Matrix // of all numbers, where the features themselves are grouped
	var distance cluster.Distance
	for k := from; k <= to; k++ {
		m := *m // whose distance is another where points are compacted
		w := &work{method: &m, in: in, rows: rows, x: func() mat.Matrix { return x }, best: true, seed: func(step string) uint64 { return rng.Seed(g.Seed, step, k) }}
		if g.given() {
			w.known = known(allRows(x))
			m.cluster = m.cluster.withLabels()
		}
		res, err := w.fit(ctx, g.rank(k, len(rows)))
		if err != nil {
			return nil, err
		}
		if points == nil || res != nil {
			if points, distance, err = w.compact(ctx, w.points(res)); err != nil {
				return nil, err
			}
		}
		m.cluster.Distance = distance
		silhouette, stability, err := w.suits(ctx, points, k, subsets, known)
		if err != nil {
			return nil, fmt.Errorf("%d groups: %w", k, err)
		}
		c.K, c.Gap = append(c.K, k), append(c.Gap, gaps[k-1])
		c.Silhouette, c.Stability = append(c.Silhouette, silhouette), append(c.Stability, stability)
		progress.tell("counting groups", k-from+1, to-from+1)
	}
	return c, nil
}

// compact returns points of many columns in their leading principal directions, which k-means puts into
// nearly the same groups in less time. For the cosine distance rows get unit length, and the Euclidean
// distance is returned.
func (w *work) compact(ctx context.Context, points mat.Matrix) (mat.Matrix, cluster.Distance, error) {
	dense, ok := points.(*mat.Dense)
	switch w.cluster.By {
	case "", KMeans, "constrained-kmeans", "guided-kmeans", "seeded-kmeans":
	default:
		ok = false
	}
	n, m := points.Dims()
	if !ok || m <= 2*countDirections || n <= countDirections {
		return points, w.cluster.Distance, nil
	}
	if w.cluster.Distance == cluster.DistanceCosine {
		dense = unitRows(dense)
	}
	res, err := factor.PCA{}.Fit(ctx, dense, factor.Known{}, factor.Options{Rank: countDirections})
	if err != nil {
		return nil, 0, err
	}
	return res.Coefficients, cluster.DistanceEuclidean, nil
}

// suits returns the silhouette and the stability of points in k groups.
func (w *work) suits(ctx context.Context, points mat.Matrix, k int, subsets [][]int, known func(rows []int) factor.Known) (silhouette, stability float64, err error) {
	groups, err := clusterRows(ctx, w.cluster, points, k, cluster.Known(w.known), w.seed("k-means"))
	if err != nil {
		return 0, 0, err
	}
	if slices.Max(groups) == slices.Min(groups) {
		return 0, 0, nil // all are the same
	}
	if silhouette, err = cluster.Silhouette(ctx, points, groups, w.cluster.Distance); err != nil {
		return 0, 0, err
	}
	n, _ := points.Dims()
	found := make([][]int, len(subsets)) // the group of each point, −1 outside of the subset
	for s, rows := range subsets {
		groups, err := clusterRows(ctx, w.cluster, selectRows(points, rows), k, cluster.Known(known(rows)), w.seed(fmt.Sprint("subset ", s)))
		if err != nil {
			return 0, 0, err
		}
		found[s] = slices.Repeat([]int{-1}, n)
		for at, i := range rows {
			found[s][i] = groups[at]
		}
	}
	pairs := 0
	for a := range found {
		for b := range a {
			var one, other []int
			for i := range n {
				if found[a][i] >= 0 && found[b][i] >= 0 {
					one, other = append(one, found[a][i]), append(other, found[b][i])
				}
			}
			stability += eval.ARI(one, other)
			pairs++
		}
	}
	return silhouette, stability / float64(pairs), nil
}

// someRows returns at most so many of n rows, drawn at random, labelled rows first if labels count.
func someRows(n, most int, labels []int, labelled bool, seed uint64) []int {
	order := rng.New(seed, "samples looked at").Perm(n)
	if labelled {
		slices.SortStableFunc(order, func(i, j int) int { return min(labels[j], 0) - min(labels[i], 0) })
	}
	rows := order[:min(n, most)]
	slices.Sort(rows)
	return rows
}

// subset returns the rows of a subset of n.
func subset(n, number int, seed uint64) []int {
	rows := rng.New(seed, "subset", number).Perm(n)[:int(countPortion*float64(n))]
	slices.Sort(rows)
	return rows
}
