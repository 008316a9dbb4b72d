package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/internal/timing"
)

// Groups says how a set is put into groups: by one method, once.
type Groups struct {
	// K is the number of groups; 0 means the number of classes.
	K int
	// Method is the method. Its solver is fast, if that serves it and the method names no other.
	Method Method
	// UseLabels gives the set's classes to the method and the clustering as labels. Each class gets a
	// group of its own with all of its samples.
	UseLabels bool
	// Links are pairs of samples of the set that share a group (must) or never do (cannot).
	Links datasets.Links
	// Rank is the number of basis vectors, nil for min(2k, n), or k if Largest makes the groups.
	Rank *Rank
	// Cluster clusters the representation. With labels or links, k-means becomes constrained k-means; the
	// groups of other algorithms are repaired with the fewest moves.
	Cluster Cluster
	Seed    uint64
	// Copies, if set, holds for each row the original of its stack of copies, as Pictures.CopyOf does.
	// Methods that cluster the features themselves group the originals, and copies follow. A label of a
	// copy counts for the stack, unless labels or links contradict each other there.
	Copies []int
	// Batch is the number of samples of a block, for inputs that were prepared InBlocks, else 0. nmf and
	// nmf-kl learn from blocks as [factor.MiniBatch] does.
	Batch int
}

// Grouping is a set in groups.
type Grouping struct {
	// Groups holds for each row of the inputs its group, from 0, the largest group first.
	Groups []int
	// Memberships compares each row with the centres of the groups.
	Memberships []cluster.Membership
	// Method is the name of the method. Result is nil for clustering of the features themselves.
	Method string
	Result *factor.Result
	// Rank is the number of basis vectors.
	Rank int
	// Cluster says how the representation was clustered.
	Cluster Cluster
	// GroupClasses holds for each group its labelled class, a place among the set's classes, or −1. It is
	// nil without labels.
	GroupClasses []int
	// Notes are warnings.
	Notes []string
	// Scores compare the groups with the classes, as in Record, over the samples with a known class. With
	// labels, they compare unlabelled samples with the set's own classes.
	Scores map[string]float64
	// Scored is the number of samples in Scores.
	Scored int
	// Links are the given ones, by samples of the set.
	Links datasets.Links

	settings Method // those of Method
}

// Find puts the inputs into groups. It calls progress, which may be nil, after each iteration of
// "factorising". A panic is an error.
func (g Groups) Find(ctx context.Context, in *Inputs, progress Progress) (out *Grouping, err error) {
	out, err = reported(ctx, progress, func(r *reporter) (*Grouping, error) { return g.find(ctx, in, r) })
	var fault *guard.PanicError
	if errors.As(err, &fault) {
		err = fmt.Errorf("%s: %w", g.Method.Label(), err)
	}
	return out, err
}

// find groups the rows without copies, and then completes the groups of all rows.
func (g Groups) find(ctx context.Context, all *Inputs, progress *reporter) (*Grouping, error) {
	in, originals := all, g
	copies, notes := g.withoutCopies(all)
	if copies != nil {
		in, originals = copies.in, copies.groups
	}
	if err := originals.check(in.Set, in.Rows); err != nil {
		return nil, err
	}
	if _, err := originals.ChooseRank(ctx, in, nil); err != nil {
		return nil, err
	}
	w, err := originals.work(in, progress)
	if err != nil {
		return nil, err
	}
	n, _ := in.Dims()
	k := g.count(in.Set.Classes)
	rank := originals.rank(k, n)
	release, err := originals.acquire(ctx, in, w.method, k)
	if err != nil {
		return nil, err
	}
	defer release()
	out := &Grouping{Method: w.Label(), Cluster: w.cluster, Notes: notes, Links: g.Links, settings: g.Method}
	if out.Result, err = w.fit(ctx, rank); err != nil {
		return nil, err
	}
	if out.Result != nil {
		out.Rank = rank
		if note := UnconvergedFit(w.Label(), out.Result); note != "" && in.Blocks == nil { // whose objectives are before and after a block
			out.Notes = append(out.Notes, note)
		}
	}
	clusters, err := w.group(ctx, out.Result, k)
	if err != nil {
		return nil, err
	}
	known := newClassLabels(w.known.Labels, len(in.Set.Classes))
	if g.UseLabels {
		known.enforce(clusters)
	}
	points := w.points(out.Result)
	if !g.Links.None() {
		if err := known.bind(clusters, k, w.known, points, w.cluster.Distance); err != nil {
			return nil, err
		}
	}
	if copies != nil {
		clusters, points = take(clusters, copies.of), all.X
	}
	out.Groups = bySize(clusters)
	if found := slices.Max(out.Groups) + 1; found < k {
		out.Notes = append(out.Notes, fmt.Sprintf("%d groups are asked for, and samples are in %d only", k, found))
	}
	var given classLabels
	if g.given() {
		given, _ = g.knowledge(all.Set).of(all.Rows)
	}
	return out, g.complete(ctx, all, out, points, given)
}

// work returns the work of finding the groups.
func (g Groups) work(in *Inputs, progress *reporter) (*work, error) {
	m, err := resolve(g.Method, Clustering, g.Cluster)
	if err != nil {
		return nil, err
	}
	epochs := factor.DefaultIterations
	switch {
	case (g.Batch != 0) != (in.Blocks != nil):
		return nil, errors.New("blocks of samples are for inputs that were prepared in blocks, and these for nothing else")
	case in.Blocks != nil:
		b, err := batchOf(g.Method, g.Batch)
		if err != nil {
			return nil, err
		}
		m.factoriser, epochs = inBlocks{b, in.Blocks}, factor.DefaultEpochs
	}
	if err := checkSigns(in, []*method{m}); err != nil {
		return nil, err
	}
	w := &work{method: m, in: in, x: func() mat.Matrix { return in.X }, best: true, seed: func(step string) uint64 { return rng.Seed(g.Seed, step) }}
	if g.given() {
		_, w.known = g.knowledge(in.Set).of(in.Rows)
		m.cluster = m.cluster.withLabels()
	}
	if progress.to != nil {
		total := cmp.Or(m.Iterations, epochs)
		w.onIteration = func(i int, _ float64) { progress.tell("factorising", i, total) }
	}
	return w, nil
}

// complete adds to the groups their classes, memberships and scores. known holds the given labels.
func (g Groups) complete(ctx context.Context, in *Inputs, out *Grouping, points mat.Matrix, known classLabels) (err error) {
	truth, classes := in.Labels(), in.Set.Classes
	if g.UseLabels {
		out.GroupClasses = known.ofGroups(out.Groups)
		truth, classes = in.ownLabels(), in.Set.OwnClasses
	}
	if out.Memberships, err = cluster.Memberships(ctx, out.Cluster.Distance, points, out.Groups); err != nil {
		return err
	}
	defer timing.Start(ctx, timing.Scores)()
	if len(classes) < 2 {
		return nil
	}
	outcome := ofKnownClass(eval.Outcome{Truth: truth, Found: out.Groups, Labels: known.labels})
	if out.Scored = len(outcome.Truth); out.Scored > 0 {
		out.Scores, err = eval.Compute(eval.Clustering, outcome)
	}
	if g.UseLabels {
		eval.OnlyUnlabelled(out.Scores)
		out.Scored = 0
		for _, label := range outcome.Labels {
			if label < 0 {
				out.Scored++
			}
		}
	}
	return err
}

// ofKnownClass returns the part of the outcome of a clustering whose classes are known.
func ofKnownClass(o eval.Outcome) eval.Outcome {
	if !slices.Contains(o.Truth, -1) {
		return o
	}
	var rows []int
	for i, class := range o.Truth {
		if class >= 0 {
			rows = append(rows, i)
		}
	}
	known := eval.Outcome{Truth: take(o.Truth, rows), Found: take(o.Found, rows)}
	if o.Labels != nil {
		known.Labels = take(o.Labels, rows)
	}
	return known
}

// by returns the name of the clustering algorithm, "" for k-means.
func (g Groups) by() string {
	if _, own := builtin(g.Method.Name); own {
		return g.Method.Name
	}
	return cmp.Or(g.Method.By, g.Cluster.By)
}

// rank returns the number of basis vectors for k groups of n samples.
func (g Groups) rank(k, n int) int {
	switch {
	case g.Rank != nil:
		return g.Rank.Of(k)
	case g.by() == Largest:
		return k
	}
	return min(2*k, n)
}

// bySize numbers groups by their size, the largest first, and groups of one size by their first samples.
func bySize(groups []int) []int {
	k := slices.Max(groups) + 1
	size, first := make([]int, k), make([]int, k)
	for i, g := range slices.Backward(groups) {
		size[g]++
		first[g] = i
	}
	order := allOf(k)
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(size[b]-size[a], first[a]-first[b]) })
	number := make([]int, k)
	for at, g := range order {
		number[g] = at
	}
	return take(number, groups)
}

// unitRows returns x with rows of unit length, except for rows of zeros.
func unitRows(x *mat.Dense) *mat.Dense {
	rows := mat.DenseCopyOf(x)
	n, _ := x.Dims()
	for i := range n {
		if length := elementary.Norm(rows.RawRowView(i)); length > 0 {
			floats.Scale(1/length, rows.RawRowView(i))
		}
	}
	return rows
}
