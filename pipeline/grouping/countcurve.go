package grouping

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
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/internal/fitting"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// CountCurve says how well samples fall into several numbers of groups.
type CountCurve struct {
	// K are the numbers of groups, rising, and Gap their gaps of cluster.EigenGaps.
	K   []int
	Gap []float64
	// Silhouette is the mean silhouette, from −1 to 1 (Rousseeuw 1987). Stability is the mean adjusted Rand
	// index of pairs of groupings of four fifths of the samples, on their common samples.
	Silhouette, Stability []float64
	Samples               int // the number of samples in use
}

// Best returns the place of the number with the largest gap, the first of several.
func (c *CountCurve) Best() int { return slices.Index(c.Gap, slices.Max(c.Gap)) }

const (
	countSubsets    = 6   // of each number of groups
	countRestarts   = 3   // of a clustering
	countPortion    = 0.8 // of the samples are in a subset
	countDirections = 50  // of points that are compacted
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
	return from, max(from, min(max(spec.MostCounted, from+10), len(rows)/3))
}

// checkCount returns an error if the number of groups of n samples cannot be chosen.
func (g Groups) checkCount(n int) error {
	switch {
	case g.Batch != 0:
		return errors.New("the number of groups cannot be chosen from batches: set -k")
	case g.by() == spec.Largest:
		return errors.New("the number of groups cannot be chosen when clustering by largest coefficient: set -k")
	case n < spec.LeastOfCounted:
		return fmt.Errorf("%d samples are too few to choose the number of groups: set -k", n)
	}
	return nil
}

// CountCurve groups the inputs, or 1,000 drawn ones, into each number of groups of a range. It calls
// progress, which may be nil, after each number of "counting groups". A panic is an error.
func (g Groups) CountCurve(ctx context.Context, in *input.Inputs, from, to int, progress input.Progress) (*CountCurve, error) {
	return input.Reported(ctx, progress, func(r *input.Reporter) (*CountCurve, error) {
		if d, _ := g.withoutCopies(in); d != nil && len(d.in.Rows) >= max(spec.LeastOfCounted, 2*to) {
			in, g = d.in, d.groups
		}
		n, _ := in.Dims()
		if from < 2 || to < from {
			return nil, fmt.Errorf("from %d to %d groups: expected a rising range from 2 or more", from, to)
		}
		if err := g.checkCount(n); err != nil {
			return nil, err
		}
		for _, g.K = range []int{from, to} {
			if err := g.check(in.Set, in.Rows); err != nil {
				return nil, err
			}
		}
		if _, err := g.ChooseRank(ctx, in, nil); err != nil {
			return nil, err
		}
		w, err := g.work(in, &input.Reporter{})
		if err != nil {
			return nil, err
		}
		release, err := g.acquire(ctx, in, w.Method, to)
		if err != nil {
			return nil, err
		}
		defer release()
		return g.countCurve(ctx, w, from, to, func(k int) { r.Tell("counting groups", k-from+1, to-from+1) })
	})
}

// countCurve groups some of the samples of the work, and calls done after each number of groups.
func (g Groups) countCurve(ctx context.Context, w *fitting.Work, from, to int, done func(k int)) (*CountCurve, error) {
	in, x := w.In, w.In.X
	n, _ := x.Dims()
	rows := fitting.SomeRows(n, fitting.CountSamples, in.Labels(), g.UseLabels, g.Seed)
	if to > len(rows)/2 {
		return nil, fmt.Errorf("%d groups are too many to evaluate on %d samples", to, len(rows))
	}
	if len(rows) < n {
		x = matrix.SelectRows(x, rows)
	}
	w.Rows, w.X = rows, func() mat.Matrix { return x }
	all := g.knowledge(in.Set)
	// known returns what is known of some of the rows.
	known := func(among []int) (known factor.Known) {
		if g.given() {
			_, known = all.of(matrix.Take(in.Rows, matrix.Take(rows, among)))
		}
		return known
	}
	w.Known = known(matrix.AllRows(x))
	subsets := make([][]int, countSubsets)
	for s := range subsets {
		subsets[s] = rng.New(g.Seed, "subset", s).Perm(len(rows))[:int(countPortion*float64(len(rows)))]
		slices.Sort(subsets[s])
	}
	gaps, err := cluster.EigenGaps(ctx, x, to)
	if err != nil {
		return nil, err
	}
	w.Cluster.Restarts, w.Cluster.Start = countRestarts, cluster.InitPlusPlus
	c := &CountCurve{Samples: len(rows)}
	var points mat.Matrix // of all numbers, where the features themselves are grouped
	by := w.Cluster       // of points, which may be compacted
	for k := from; k <= to; k++ {
		w.Seed = func(step string) uint64 { return rng.Seed(g.Seed, step, k) }
		res, err := w.Fit(ctx, g.rank(k, len(rows)))
		if err != nil {
			return nil, err
		}
		if points == nil || res != nil {
			if points, by.Distance, err = compact(ctx, w.Cluster, w.Points(res)); err != nil {
				return nil, err
			}
		}
		silhouette, stability, err := suits(ctx, w, by, points, k, subsets, known)
		if err != nil {
			return nil, fmt.Errorf("%d groups: %w", k, err)
		}
		c.K, c.Gap = append(c.K, k), append(c.Gap, gaps[k-1])
		c.Silhouette, c.Stability = append(c.Silhouette, silhouette), append(c.Stability, stability)
		done(k)
	}
	return c, nil
}

// compact returns points of many columns in their leading principal directions, which k-means puts into
// nearly the same groups in less time. For the cosine distance rows get unit length, and the Euclidean
// distance is returned.
func compact(ctx context.Context, by spec.Cluster, points mat.Matrix) (mat.Matrix, cluster.Distance, error) {
	dense, ok := points.(*mat.Dense)
	ok = ok && slices.Contains([]string{"", spec.KMeans, "constrained-kmeans", "guided-kmeans", "seeded-kmeans"}, by.By)
	n, m := points.Dims()
	if !ok || m <= 2*countDirections || n <= countDirections {
		return points, by.Distance, nil
	}
	if by.Distance == cluster.DistanceCosine {
		dense = matrix.UnitRows(dense)
	}
	res, err := factor.PCA{}.Fit(ctx, dense, factor.Known{}, factor.Options{Rank: countDirections})
	if err != nil {
		return nil, 0, err
	}
	return res.Coefficients, cluster.DistanceEuclidean, nil
}

// suits returns the silhouette and the stability of points in k groups.
func suits(ctx context.Context, w *fitting.Work, by spec.Cluster, points mat.Matrix, k int, subsets [][]int, known func(rows []int) factor.Known) (silhouette, stability float64, err error) {
	groups, err := fitting.ClusterRows(ctx, by, points, k, cluster.Known(w.Known), w.Seed("k-means"))
	if err != nil {
		return 0, 0, err
	}
	if slices.Max(groups) == slices.Min(groups) {
		return 0, 0, nil // all are the same
	}
	if silhouette, err = cluster.Silhouette(ctx, points, groups, by.Distance); err != nil {
		return 0, 0, err
	}
	n, _ := points.Dims()
	found := make([][]int, len(subsets)) // the group of each point, −1 outside of the subset
	for s, rows := range subsets {
		groups, err := fitting.ClusterRows(ctx, by, matrix.SelectRows(points, rows), k, cluster.Known(known(rows)), w.Seed(fmt.Sprint("subset ", s)))
		if err != nil {
			return 0, 0, err
		}
		found[s] = slices.Repeat([]int{-1}, n)
		for at, i := range rows {
			found[s][i] = groups[at]
		}
	}
	for a := range found {
		for b := range a {
			var one, other []int
			for i := range n {
				if found[a][i] >= 0 && found[b][i] >= 0 {
					one, other = append(one, found[a][i]), append(other, found[b][i])
				}
			}
			stability += eval.ARI(one, other)
		}
	}
	return silhouette, stability / (countSubsets * (countSubsets - 1) / 2), nil
}
