// Package grouping clusters the samples of one set by one method. [Groups] chooses the number of groups and the rank by
// default, obeys labels and links, and leaves out copies of images. [Fit] factorises only, and [Regrouped] describes
// groups after corrections.
package grouping

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/internal/timing"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/internal/fitting"
	"github.com/seed4492f2cd/partwise/pipeline/models"
	"github.com/seed4492f2cd/partwise/pipeline/record"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// Groups holds the settings of one grouping of a set.
type Groups struct {
	K int // the number of groups; 0 means the number of classes
	// Method is the method. Its solver is fast, unless its settings name another or fast does not support it.
	Method spec.Method
	// UseLabels gives the set's classes to the method and the clustering as labels. Each class becomes one group with
	// all of its labelled samples.
	UseLabels bool
	// Links are pairs of samples of the set that share a group (must) or never do (cannot).
	Links datasets.Links
	// Rank is the number of basis vectors. nil means min(2k, n), or k if Cluster.By is spec.Largest.
	Rank *spec.Rank
	// Cluster clusters the representation. With labels or links, k-means becomes constrained k-means; the
	// groups of other algorithms are repaired with the fewest moves.
	Cluster spec.Cluster
	Seed    uint64
	// Copies, if set, holds for each row the original of its stack of copies, as in Pictures.CopyOf. Methods that cluster
	// the features themselves then cluster the originals, and copies follow. A label of a copy labels the stack, unless
	// labels or links of the stack contradict each other.
	Copies []int
	// MinSize, if set, is the smallest number of samples of a group, at least 2. Samples of smaller groups, and
	// those in no dense region, make up the last group, Others: see [cluster.Strays]. Labelled and linked samples stay.
	MinSize int
	// Batch is the number of samples of a block for inputs prepared with InBlocks, else 0. The methods nmf, nmf-kl, cnmf
	// and cnmf-kl then learn from blocks, as [factor.MiniBatch] does.
	Batch int
	// Parts, if set, holds the part of each row, from 0, such as the day of a photo. No group has rows of two parts: each
	// part is grouped by itself, into K groups. K 0 means a choice for each part by Count.
	Parts []int
	Count spec.GroupCount

	coefficients factor.Stored // as Fit.Coefficients
}

// Grouping is the result of Groups.Find.
type Grouping struct {
	// Groups holds the group of each row of the inputs, from 0, the largest group first, Others last.
	Groups      []int
	Others      bool                 // the last group holds the samples that belong to none: see Groups.MinSize
	Memberships []cluster.Membership // how well each row fits its group
	// Method is the name of the method. Result is its factorisation, nil if the features themselves were clustered.
	Method  string
	Result  *factor.Result
	Rank    int          // the number of basis vectors
	Cluster spec.Cluster // the clustering of the representation
	// Stability is the agreement of the method's restarts, and Consensus the mean consensus of the pairs in each group;
	// nil without restarts.
	Stability *cluster.Stability
	Consensus []float64
	// GroupClasses holds the labelled class of each group, an index of the set's classes, or −1. It is nil without
	// labels.
	GroupClasses []int
	Notes        []string // warnings
	// Scores compare the groups with the classes, over the samples with a known class; the names are as in
	// record.Record. With labels, only unlabelled samples count, and the classes are the set's own.
	Scores map[string]float64
	Scored int            // the number of samples in Scores
	Links  datasets.Links // the given links, by samples of the set

	settings spec.Method // the settings of the method
}

// Find groups the inputs. It calls progress, which may be nil, with "factorising" after each iteration. A panic becomes
// an error.
func (g Groups) Find(ctx context.Context, in *input.Inputs, progress input.Progress) (*Grouping, error) {
	return input.Reported(ctx, progress, func(r *input.Reporter) (*Grouping, error) { return g.find(ctx, in, r), nil })
}

// find groups the rows without copies, and then adds the copies. It calls guard.Fail.
func (g Groups) find(ctx context.Context, all *input.Inputs, progress *input.Reporter) *Grouping {
	if g.Parts != nil {
		return g.findInParts(ctx, all, progress)
	}
	in, originals := all, g
	copies, notes := g.withoutCopies(all)
	if copies != nil {
		in, originals = copies.in, copies.groups
	}
	guard.Check(originals.checkRows(in.Set, in.Rows))
	guard.Must(originals.ChooseRank(ctx, in, nil))
	w := originals.work(in, progress)
	n, _ := in.Dims()
	k := cmp.Or(g.K, len(in.Set.Classes))
	rank := originals.rank(k, n)
	defer originals.acquire(ctx, in, w.Method, k)()
	out := &Grouping{Method: w.Label(), Cluster: w.Cluster, Notes: notes, Links: g.Links, settings: g.Method}
	w.Clusters = k
	if out.Result = guard.Must(w.Fit(ctx, rank)); out.Result != nil {
		out.Rank = rank
		if note := record.UnconvergedFit(w.Label(), out.Result); note != "" && in.Blocks == nil { // the objectives of blocks are before and after each block
			out.Notes = append(out.Notes, note)
		}
	}
	clusters, stability, err := w.Group(ctx, out.Result, k)
	guard.Check(err)
	out.Stability = stability
	known := newClassLabels(w.Known.Labels, len(in.Set.Classes))
	if g.UseLabels {
		known.enforce(clusters)
	}
	points := w.Points(out.Result)
	if !g.Links.None() {
		guard.Check(known.satisfyLinks(clusters, k, w.Known, points, w.Cluster.Distance))
	}
	if g.MinSize > 0 {
		out.Others = originals.removeStrays(ctx, in, out.Result, clusters, k, w.Known)
	}
	if copies != nil {
		clusters, points = matrix.Take(clusters, copies.rowOf), all.X
	}
	out.Groups = bySize(clusters, k)
	out.Consensus = w.MeanConsensus(out.Groups)
	if found := slices.Max(out.Groups) + 1; found < k && !out.Others {
		out.Notes = append(out.Notes, fmt.Sprintf("%d groups requested, but only %d found", k, found))
	}
	var given classLabels
	if g.hasConstraints() {
		given, _ = g.constraints(all.Set).forRows(all.Rows)
	}
	g.addScores(ctx, all, out, points, given)
	return out
}

func (g Groups) work(in *input.Inputs, progress *input.Reporter) *fitting.Work {
	m := guard.Must(fitting.Resolve(g.Method, spec.Clustering, g.Cluster))
	epochs := factor.DefaultIterations
	switch {
	case (g.Batch != 0) != (in.Blocks != nil):
		guard.Fail("Groups.Batch needs inputs prepared in batches, and such inputs need Groups.Batch")
	case in.Blocks != nil:
		b := guard.Must(MiniBatch(g.Method, g.Batch))
		b.Coefficients, b.Missing = g.coefficients, in.Set.Missing
		m.Factoriser, epochs = inBlocks{b, in.Blocks, m.Needs.TiesLabels}, factor.DefaultEpochs
	}
	guard.Check(fitting.CheckValues(in, []*fitting.Method{m}))
	w := &fitting.Work{Method: m, In: in, X: func() mat.Matrix { return in.X }, Best: true, Seed: func(step string) uint64 { return rng.Seed(g.Seed, step) }}
	if g.hasConstraints() {
		_, w.Known = g.constraints(in.Set).forRows(in.Rows)
		if m.Cluster.By == "" || m.Cluster.By == spec.KMeans {
			m.Cluster.By = "constrained-kmeans"
		}
	}
	done, total := 0, cmp.Or(m.Iterations, epochs)*max(m.Restarts, 1)
	w.OnIteration = func(i int, _ float64) {
		done++
		progress.Report("factorising", done, total)
	}
	return w
}

// addScores adds the classes, memberships and scores of the groups. known holds the given labels. It calls guard.Fail.
func (g Groups) addScores(ctx context.Context, in *input.Inputs, out *Grouping, points mat.Matrix, known classLabels) {
	truth, classes := in.Labels(), in.Set.Classes
	if g.UseLabels {
		out.GroupClasses = known.classesOfGroups(out.Groups)
		truth, classes = in.OwnLabels(), in.Set.OwnClasses
	}
	out.Memberships = guard.Must(cluster.Memberships(ctx, out.Cluster.Distance, points, out.Groups))
	defer timing.Start(ctx, timing.Scores)()
	if len(classes) < 2 {
		return
	}
	rows := lists.Indices(truth, isKnown)
	outcome := eval.Outcome{Truth: matrix.Take(truth, rows), Found: matrix.Take(out.Groups, rows)}
	if known.labels != nil {
		outcome.Labels = matrix.Take(known.labels, rows)
	}
	if out.Scored = len(rows); out.Scored > 0 {
		out.Scores = guard.Must(eval.Compute(eval.Clustering, outcome))
	}
	if g.UseLabels {
		eval.OnlyUnlabelled(out.Scores)
		out.Scored = len(lists.Indices(outcome.Labels, func(label int) bool { return label < 0 }))
	}
}

// algorithm returns the name of the clustering algorithm, "" for k-means.
func (g Groups) algorithm() string {
	if spec.OnFeatures(g.Method.Name) {
		return g.Method.Name
	}
	return g.Method.ClusteredBy(g.Cluster)
}

func (g Groups) rank(k, n int) int {
	switch {
	case g.Rank != nil:
		return g.Rank.Of(k)
	case g.algorithm() == spec.Largest:
		return k
	}
	return min(2*k, n)
}

// removeStrays moves rows that belong to no group into the group others, and reports whether there are any. Labelled and
// linked rows always belong to theirs.
func (g Groups) removeStrays(ctx context.Context, in *input.Inputs, of *factor.Result, groups []int, others int, known factor.Known) bool {
	x := in.X
	if weighted, ok := x.(*factor.Weighted); ok {
		if x = weighted.Matrix; in.Set.Missing || weighted.Entries != nil {
			x = guard.Must(factor.Impute(ctx, of.Model, weighted, of.Coefficients))
		}
	}
	strays := guard.Must(cluster.Strays(ctx, x, groups, g.MinSize))
	for i, label := range known.Labels {
		strays[i] = strays[i] && label < 0
	}
	for _, pair := range slices.Concat(known.MustLink, known.CannotLink) {
		strays[pair[0]], strays[pair[1]] = false, false
	}
	guard.FailIf(!slices.Contains(strays, false),
		"min-size %d: no group has so many samples that belong to it", g.MinSize)
	for i, stray := range strays {
		if stray {
			groups[i] = others
		}
	}
	return slices.Contains(strays, true)
}

// GroupName returns the name of a group: its labelled class, one of classes; Others; or "".
func (g *Grouping) GroupName(group int, classes []string) string {
	switch {
	case g.GroupClasses != nil && g.GroupClasses[group] >= 0:
		return classes[g.GroupClasses[group]]
	case g.Others && group == slices.Max(g.Groups):
		return "Others"
	}
	return ""
}

// StabilityText describes Stability and Consensus in words.
func (g *Grouping) StabilityText() string {
	means := strings.Trim(fmt.Sprintf("%.2f", g.Consensus), "[]")
	return fmt.Sprintf("cophenetic correlation %.3f, dispersion %.3f over %d restarts; mean consensus of the groups %s",
		g.Stability.Cophenetic, g.Stability.Dispersion, g.Stability.Runs, strings.ReplaceAll(means, " ", ", "))
}

// bySize renumbers groups, the largest first, and the group others, if it occurs, last. Groups of equal size keep the
// order of their first samples.
func bySize(groups []int, others int) []int {
	k := max(others, slices.Max(groups)) + 1
	size, first := make([]int, k), make([]int, k)
	for i, g := range slices.Backward(groups) {
		size[g]++
		first[g] = i
	}
	order := slices.DeleteFunc(matrix.Range(k), func(g int) bool { return size[g] == 0 || g == others })
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(size[b]-size[a], first[a]-first[b]) })
	number := make([]int, k)
	for at, g := range append(order, others) {
		number[g] = at
	}
	return matrix.Take(number, groups)
}

// acquire takes the memory that k groups of the inputs need from the budget.
func (g Groups) acquire(ctx context.Context, in *input.Inputs, m *fitting.Method, k int) (release func()) {
	n, columns := in.Dims()
	s := fitting.Problem{N: n, M: columns, Classes: k, Groups: k, Rank: g.rank(k, n), Signed: in.HasNegative()}
	s.Weighted = in.IsWeighted()
	s.Sparse, s.Stored = in.Density()
	s.Links = len(g.Links.Must) + len(g.Links.Cannot)
	if g.UseLabels {
		s.Labelled = len(lists.Indices(in.Labels(), isKnown))
	}
	what := fmt.Sprintf("%s with %d groups of %d samples of %d features", m.Label(), k, n, columns)
	if m.Factoriser != nil {
		what = fmt.Sprintf("%s of rank %d with %d groups of %d samples of %d features", m.Label(), s.Rank, k, n, columns)
	}
	budget, need := memory.FromContext(ctx), m.Need(s, spec.Clustering, spec.Classifier{})
	if g.MinSize > 0 {
		need = max(need, int64(cluster.Propagation{Ridge: cluster.DefaultRidge}.Memory(n, columns)))
	}
	if in.Blocks != nil {
		// The images of a block take memory of their own.
		return guard.Must(budget.Keep(need-int64(s.Input()), what))
	}
	return guard.Must(budget.Acquire(ctx, need, what))
}

// Model returns the model of the grouping for new samples.
func (g *Grouping) Model(ctx context.Context, in *input.Inputs) (m *models.Model, err error) {
	defer guard.Catch(&err)
	m = guard.Must(models.NewModel(ctx, in, g.Method, g.Result))
	points := in.X
	switch {
	case in.Blocks != nil:
		points = g.Result.Coefficients // the best restart's coefficients
	case m.Represents():
		points = guard.Must(factor.Represent(ctx, g.Result.Model, in.X))
	}
	of := &models.ModelGroups{Method: g.settings, By: g.Cluster.By, Groups: g.Groups}
	of.Centres = guard.Must(cluster.NewCentres(g.Cluster.Distance, points, g.Groups))
	of.Spread = guard.Must(of.Centres.Spread(points, g.Groups))
	of.Names = make([]string, len(of.Centres.Sizes))
	for i := range of.Names {
		of.Names[i] = g.GroupName(i, in.Set.Classes)
	}
	if m.Represents() && g.Cluster.By == spec.Largest {
		v := g.Result.Coefficients
		_, k := v.Dims()
		of.Columns = slices.Repeat([]int{-1}, k)
		for i, group := range slices.Backward(g.Groups) {
			of.Columns[floats.MaxIdx(v.RawRowView(i))] = group
		}
	}
	of.Samples = models.ContentsOf(in)
	m.Groups = of
	return m, nil
}

// Illustrate shows the visual words and the result on some photographs of each group. It returns nil for features that
// are neither visual words nor local network features.
func (g *Grouping) Illustrate(ctx context.Context, in *input.Inputs) (*models.Illustrations, error) {
	if !models.Illustrates(in) {
		return nil, nil
	}
	var fitted []models.Learned
	if g.Result != nil {
		fitted = []models.Learned{{Method: g.Method, Model: g.Result.Model}}
	}
	return models.Illustrate(ctx, in, &input.View{X: func() mat.Matrix { return in.X }, Learned: in.Learned}, matrix.Range(len(in.Rows)), g.Groups, fitted)
}

// Regrouped returns other groups of the samples of a model, numbered from 0 without gaps. points is what m.Represent
// returns for the inputs. With useLabels the set's classes are labels, and each class is one group.
func Regrouped(ctx context.Context, in *input.Inputs, m *models.Model, points mat.Matrix, groups []int, useLabels bool, links datasets.Links) (*Grouping, error) {
	g := Groups{Method: m.Groups.Method, UseLabels: useLabels, Links: links}
	how := spec.Cluster{Distance: m.Groups.Centres.Distance, By: m.Groups.By}
	if how.By == spec.Largest {
		how.By = "" // coefficients no longer name the groups
	}
	out := &Grouping{Groups: groups, Method: m.Method, Cluster: how, Links: links, settings: g.Method}
	if v, ok := points.(*mat.Dense); ok && m.Represents() {
		out.Result = &factor.Result{Model: m.Result.Model, Basis: m.Result.Basis, Coefficients: v}
		_, out.Rank = v.Dims()
	}
	var given classLabels
	if useLabels {
		given = newClassLabels(in.Labels(), len(in.Set.Classes))
	}
	return out, guard.Try(func() { g.addScores(ctx, in, out, points, given) })
}

// CheckParts rejects settings that Parts does not support.
func (g Groups) CheckParts() (err error) {
	defer guard.Catch(&err)
	guard.FailIf(!spec.OnFeatures(g.Method.Name), "needs a method that clusters features, such as kmeans")
	guard.FailIf(g.UseLabels || !g.Links.None(), "not with labels or links, which may join two parts")
	guard.FailIf(g.Batch > 0, "not with batches")
	guard.FailIf(g.MinSize > 0, "not with min-size, whose group Others may join two parts")
	return nil
}

// fewest is the smallest number of images of a part whose number of groups is chosen; smaller parts are one group.
const fewest = 6

// findInParts groups each part by itself. Groups have the order of their parts.
func (g Groups) findInParts(ctx context.Context, all *input.Inputs, progress *input.Reporter) *Grouping {
	guard.Check(g.CheckParts())
	w := g.work(all, progress)
	out := &Grouping{Groups: make([]int, len(all.Rows)), Method: w.Label(), Cluster: w.Cluster, settings: g.Method}
	total := 0
	for part := range slices.Max(g.Parts) + 1 {
		rows := slices.DeleteFunc(matrix.AllRows(all.X), func(i int) bool { return g.Parts[i] != part })
		if len(rows) == 0 {
			continue
		}
		in := all.Subset(rows)
		of := g
		of.Parts, of.Copies = nil, copiesAmong(rows, g.Copies)
		if g.K == 0 && len(rows) >= fewest {
			count := g.Count
			count.To = min(count.To, len(rows))
			_, err := of.ChooseCount(ctx, in, count, nil)
			guard.Check(in.NameRows(err, nil))
		}
		of.K = min(of.K, len(rows))
		found := &Grouping{Groups: make([]int, len(rows))}
		if of.K > 1 {
			guard.Check(in.NameRows(guard.Try(func() { found = of.find(ctx, in, progress) }), nil))
		}
		for at, i := range rows {
			out.Groups[i] = total + found.Groups[at]
		}
		total += slices.Max(found.Groups) + 1
		out.Notes = lists.Unique(append(out.Notes, found.Notes...))
	}
	g.addScores(ctx, all, out, all.X, classLabels{})
	return out
}

// copiesAmong returns the copies among some rows, by their index in rows. The original is the first of its copies if it is
// not among them itself.
func copiesAmong(rows, copies []int) (of []int) {
	if copies == nil {
		return nil
	}
	place, original := map[int]int{}, map[int]int{}
	for at, i := range slices.Backward(rows) {
		place[i], original[copies[i]] = at, at
	}
	for _, i := range rows {
		if at, ok := place[copies[i]]; ok {
			of = append(of, at)
		} else {
			of = append(of, original[copies[i]])
		}
	}
	return of
}
