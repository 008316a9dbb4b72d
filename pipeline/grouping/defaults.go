package grouping

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/internal/fitting"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// DefaultMethod returns the default method before the features are known: nmf, or cnmf with labels.
// Groups.DefaultMethod refines it.
func DefaultMethod(labelled bool) spec.Method {
	if labelled {
		return spec.Method{Name: "cnmf"}
	}
	return spec.Method{Name: "nmf"}
}

// DefaultFeatures returns the default features: chosen by the images, or colours if the inputs are read in blocks.
func DefaultFeatures(inBlocks bool) spec.Features {
	if inBlocks {
		return spec.Features{Extractor: features.Pixels{Colour: true}}
	}
	return spec.Features{Auto: true}
}

// DefaultMethod returns the default method for the inputs. Network features and features with negative values are
// clustered directly, by propagated k-means.
func (g Groups) DefaultMethod(in *input.Inputs) spec.Method {
	if g.Cluster.By == spec.Largest || !in.OfNetwork() && !in.HasNegative() {
		return DefaultMethod(g.UseLabels)
	}
	return spec.Method{Name: cmp.Or(g.Cluster.By, "propagated-kmeans")}
}

// choosesCount reports whether the number of groups is chosen by the samples, else it sets K. Without a count, K is the
// number of labelled classes if the method gives samples no other group, or the number of classes in the data, unless
// the classes are labels or fewer than two.
func (g *Groups) choosesCount(count spec.GroupCount, set *datasets.Set, rows []int) bool {
	g.K = count.From
	if count != (spec.GroupCount{}) {
		return count.Auto
	}
	by := []string{"eccf", "harmonic", "label-spreading", "logistic", "nearest-labelled", "self-training"}
	if g.UseLabels && (slices.Contains(by, g.Method.Name) || slices.Contains(by, g.algorithm())) {
		labels, _ := g.constraints(set).forRows(rows)
		g.K = len(labels.classes)
	}
	return g.K == 0 && (g.UseLabels || len(set.Classes) < 2)
}

// CheckCountOf is Check for a number of groups that may be chosen later.
func (g Groups) CheckCountOf(count spec.GroupCount, set *datasets.Set) error {
	if !g.choosesCount(count, set, matrix.Range(set.Len())) {
		return g.Check(set)
	}
	numbers := []int{count.From, count.To}
	if count.To == 0 {
		least, _ := g.CountRange(set, matrix.Range(set.Len()))
		numbers = []int{least}
	}
	for _, g.K = range numbers {
		if err := g.Check(set); err != nil {
			return err
		}
	}
	return g.checkCount(set.Len())
}

// ChooseCount sets K. If it chooses K, it returns the curve, else nil.
func (g *Groups) ChooseCount(ctx context.Context, in *input.Inputs, count spec.GroupCount, progress input.Progress) (*CountCurve, error) {
	if !g.choosesCount(count, in.Set, in.Rows) {
		return nil, nil
	}
	from, to := count.From, count.To
	if to == 0 {
		from, to = g.CountRange(in.Set, in.Rows)
	}
	curve, err := g.CountCurve(ctx, in, from, to, progress)
	if err == nil {
		g.K = curve.K[curve.Best]
	}
	return curve, err
}

// ChooseRank sets Rank and returns the choice, or nil if the rank is given or not needed.
func (g *Groups) ChooseRank(ctx context.Context, in *input.Inputs, progress input.Progress) (*spec.RankChoice, error) {
	if g.Rank == nil || g.Rank.Auto == nil || spec.OnFeatures(g.Method.Name) {
		return nil, nil
	}
	c, err := ChooseRank(ctx, *g.Rank.Auto, in, g.Seed, progress)
	if err == nil {
		g.Rank = &spec.Rank{Fixed: true, Plus: c.Rank}
	}
	return c, err
}

// ChooseRank chooses the number of basis vectors of the inputs by NMF, without labels. It calls progress, which may be
// nil, with "choosing the rank" after each rank. A panic becomes an error.
func ChooseRank(ctx context.Context, a spec.AutoRank, in *input.Inputs, seed uint64, progress input.Progress) (*spec.RankChoice, error) {
	return input.Reported(ctx, progress, func(r *input.Reporter) (*spec.RankChoice, error) {
		if in.X == nil {
			return nil, errors.New("the rank cannot be chosen from batches: set rank")
		}
		guard.Check(in.CheckRank())
		n, m := in.Dims()
		s := fitting.Problem{N: n, M: m, Weighted: in.IsWeighted()}
		s.Sparse, s.Stored = in.Density()
		what := fmt.Sprintf("choosing the rank of %d samples of %d features", n, m)
		defer guard.Must(memory.FromContext(ctx).Acquire(ctx, fitting.RankMemory(a, s), what))()
		c, err := fitting.ChooseRank(ctx, a, in.X, rng.Seed(seed, "rank"), r.Of("choosing the rank"))
		return c, in.NameRows(err, nil)
	})
}

// CountCurve rates several numbers of groups. All slices have one value for each number.
type CountCurve struct {
	// K are some numbers of groups, increasing, and Length their [cluster.DescriptionLengths]. K[Best] is the chosen
	// number, of those from From to To.
	K              []int
	Length         []float64
	Best, From, To int
	// Silhouette is the mean silhouette, from −1 to 1 (Rousseeuw 1987). Stability is the mean adjusted Rand index
	// between groupings of random subsets of 80 %, on their common samples.
	Silhouette, Stability []float64
	Samples               int // the number of samples used for Silhouette and Stability
}

const (
	countSubsets    = 6   // for each number of groups
	countRestarts   = 3   // of each clustering
	countPortion    = 0.8 // of the samples in each subset
	countDirections = 50  // of compacted points
	shownCounts     = 30  // numbers of groups that are all rated
)

// CountRange returns the default range of the number of groups. It is 2 to 500, or less for few samples, and at least
// the number of labelled classes and enough to satisfy the links. rows are samples of the set.
func (g Groups) CountRange(set *datasets.Set, rows []int) (from, to int) {
	from = 2
	if g.hasConstraints() {
		labels, known := g.constraints(set).forRows(rows)
		from = max(from, len(labels.classes))
		for from < len(rows) && !g.Links.None() && errors.Is(cluster.CheckLinks(len(rows), from, cluster.Known(known)), cluster.ErrDeadEnd) {
			from++
		}
	}
	return from, max(from, min(max(cluster.MostCounted, from+10), len(rows)/3))
}

// checkCount returns an error if the number of groups cannot be chosen for n samples.
func (g Groups) checkCount(n int) (err error) {
	defer guard.Catch(&err)
	guard.FailIf(g.Batch != 0, "the number of groups cannot be chosen from batches: set -k")
	guard.FailIf(g.algorithm() == spec.Largest,
		"the number of groups cannot be chosen when clustering by largest coefficient: set -k")
	guard.FailIf(n < spec.LeastOfCounted, "%d samples are too few to choose the number of groups: set -k", n)
	return nil
}

// CountCurve chooses from from, …, to groups of the inputs, or of 10,000 random ones. It rates some numbers up to twice
// the chosen one on 1,000 random inputs, all numbers if they are at most 30. It calls progress, which may be nil,
// with "choosing the number of groups" after each number. A panic becomes an error.
func (g Groups) CountCurve(ctx context.Context, in *input.Inputs, from, to int, progress input.Progress) (*CountCurve, error) {
	return input.Reported(ctx, progress, func(r *input.Reporter) (*CountCurve, error) {
		if d, _ := g.withoutCopies(in); d != nil && len(d.in.Rows) >= max(spec.LeastOfCounted, 2*to) {
			in, g = d.in, d.groups
		}
		n, _ := in.Dims()
		if from < 2 || to < from {
			return nil, fmt.Errorf("from %d to %d groups: expected a rising range from 2 or more", from, to)
		}
		guard.Check(g.checkCount(n))
		for _, g.K = range []int{from, to} {
			guard.Check(g.checkRows(in.Set, in.Rows))
		}
		guard.Must(g.ChooseRank(ctx, in, nil))
		w := g.work(in, &input.Reporter{})
		defer g.acquire(ctx, in, w.Method, to)()
		return g.countCurve(ctx, w, from, to, func(done, all int) { r.Report("choosing the number of groups", done, all) }), nil
	})
}

// countCurve groups a sample of the inputs, and calls done after each rated number of groups.
func (g Groups) countCurve(ctx context.Context, w *fitting.Work, from, to int, done func(done, all int)) *CountCurve {
	in, x := w.In, w.In.X
	n, _ := x.Dims()
	rows := fitting.SomeRows(n, fitting.CountSamples, in.Labels(), g.UseLabels, g.Seed)
	guard.FailIf(to > len(rows)/2,
		"%d groups are too many to evaluate on %d samples; expected at most %d", to, len(rows), len(rows)/2)
	lengths := guard.Must(fitting.CountLengths(ctx, x, to, rng.Seed(g.Seed, "number of groups")))
	c := &CountCurve{From: from, To: to, Samples: len(rows)}
	chosen := cluster.ChooseCount(lengths, from)
	last := min(to, max(2*chosen, from+shownCounts-1))
	for k := from; k <= last; k++ {
		if k != chosen && last-from >= shownCounts && len(c.K) > 0 && k < c.K[len(c.K)-1]*7/6 {
			continue
		}
		if k == chosen {
			c.Best = len(c.K)
		}
		c.K, c.Length = append(c.K, k), append(c.Length, lengths[k-1])
	}
	if len(rows) < n {
		x = matrix.SelectRows(x, rows)
	}
	w.Rows, w.X = rows, func() mat.Matrix { return x }
	all := g.constraints(in.Set)
	// known returns the labels and links of some of the rows.
	known := func(among []int) (known factor.Known) {
		if g.hasConstraints() {
			_, known = all.forRows(matrix.Take(in.Rows, matrix.Take(rows, among)))
		}
		return known
	}
	w.Known = known(matrix.AllRows(x))
	subsets := make([][]int, countSubsets)
	for s := range subsets {
		subsets[s] = rng.New(g.Seed, "subset", s).Perm(len(rows))[:int(countPortion*float64(len(rows)))]
		slices.Sort(subsets[s])
	}
	w.Cluster.Restarts, w.Cluster.Start = countRestarts, cluster.InitPlusPlus
	w.Restarts = 0
	if w.Cluster.By == "propagated-kmeans" { // whose graphs take long for many numbers and subsets
		if w.Cluster.By = spec.KMeans; g.hasConstraints() {
			w.Cluster.By = "guided-kmeans"
		}
	}
	var points mat.Matrix // for all numbers of groups, if the features themselves are clustered
	by := w.Cluster       // of the points, which may be compacted
	for at, k := range c.K {
		w.Seed = func(step string) uint64 { return rng.Seed(g.Seed, step, k) }
		res := guard.Must(w.Fit(ctx, g.rank(k, len(rows))))
		if points == nil || res != nil {
			points, by.Distance = projectPoints(ctx, w.Cluster, w.Points(res))
		}
		silhouette, stability := rateCount(ctx, w, by, points, k, subsets, known)
		c.Silhouette, c.Stability = append(c.Silhouette, silhouette), append(c.Stability, stability)
		done(at+1, len(c.K))
	}
	return c
}

// projectPoints projects points with many columns to their leading principal directions, where k-means finds nearly the
// same groups faster. For the cosine distance it scales rows to unit length and returns the Euclidean distance.
func projectPoints(ctx context.Context, by spec.Cluster, points mat.Matrix) (mat.Matrix, cluster.Distance) {
	dense, ok := points.(*mat.Dense)
	ok = ok && slices.Contains([]string{"", spec.KMeans, "constrained-kmeans", "guided-kmeans", "seeded-kmeans"}, by.By)
	n, m := points.Dims()
	if !ok || m <= 2*countDirections || n <= countDirections {
		return points, by.Distance
	}
	if by.Distance == cluster.DistanceCosine {
		dense = matrix.UnitRows(dense)
	}
	res := guard.Must(factor.PCA{}.Fit(ctx, dense, factor.Known{}, factor.Options{Rank: countDirections}))
	return res.Coefficients, cluster.DistanceEuclidean
}

// rateCount returns the silhouette and the stability of k groups of the points.
func rateCount(ctx context.Context, w *fitting.Work, by spec.Cluster, points mat.Matrix, k int, subsets [][]int, known func(rows []int) factor.Known) (silhouette, stability float64) {
	find := func(points mat.Matrix, known factor.Known, step string) []int {
		groups, err := fitting.ClusterRows(ctx, by, points, k, cluster.Known(known), w.Seed(step))
		guard.Check(guard.Wrap(err, "%d groups", k))
		return groups
	}
	groups := find(points, w.Known, "k-means")
	if slices.Max(groups) == slices.Min(groups) {
		return 0, 0 // all points are in one group
	}
	silhouette = guard.Must(cluster.Silhouette(ctx, points, groups, by.Distance))
	n, _ := points.Dims()
	found := make([][]int, len(subsets)) // −1 outside of the subset
	for s, rows := range subsets {
		groups := find(matrix.SelectRows(points, rows), known(rows), fmt.Sprint("subset ", s))
		found[s] = slices.Repeat([]int{-1}, n)
		for at, i := range rows {
			found[s][i] = groups[at]
		}
	}
	for a := range found {
		for b := range a {
			both := slices.DeleteFunc(matrix.Range(n), func(i int) bool { return min(found[a][i], found[b][i]) < 0 })
			stability += eval.ARI(matrix.Take(found[a], both), matrix.Take(found[b], both))
		}
	}
	return silhouette, stability / (countSubsets * (countSubsets - 1) / 2)
}
