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
	// Method is the method. Its objective is lowered by the solver fast, where that
	// serves it and the method does not say otherwise.
	Method Method
	// UseLabels gives the classes that are known to the method and to the clustering:
	// each class has a group of its own, in which all of its samples are.
	UseLabels bool
	// Links are pairs of samples of the set that belong together, which share a group, and
	// that do not, which never do. Methods that take links are told of them.
	Links datasets.Links
	// Rank is the number of basis vectors, nil for 2k or as many as there are
	// samples. It is the number of groups where Largest makes them.
	Rank *Rank
	// Cluster is how the representation is clustered. Where classes or links are told,
	// constrained k-means stands for k-means, and what another algorithm puts
	// elsewhere is moved afterwards, as few samples as may be.
	Cluster Cluster
	Seed    uint64
	// Copies, if set, holds for each row of the inputs the original of its stack of copies,
	// as Pictures.CopyOf does. k-means on the features themselves, constrained or not, groups
	// the original of each stack, and its copies follow: they weigh no more than one sample, and
	// what is told of one is told of all. Copies that are told to be of different classes, or
	// not to belong together, are samples of their own, which a note says.
	Copies []int
	// Batch is how many samples a block has, of inputs that were prepared InBlocks, from
	// which nmf and nmf-kl learn as [factor.MiniBatch] does; else 0. An iteration is an
	// epoch.
	Batch int
}

// Grouping is a set in groups.
type Grouping struct {
	// Groups holds for each row of the inputs its group, from 0, the largest
	// group first.
	Groups []int
	// Memberships says for each row how well it goes with its group, by the centres of the
	// groups among what was clustered.
	Memberships []cluster.Membership
	// Method is what the method is called, and Result what it found, or nil for
	// k-means on the features.
	Method string
	Result *factor.Result
	// Rank is the number of basis vectors.
	Rank int
	// Cluster is how the representation was clustered.
	Cluster Cluster
	// GroupClasses holds for each group the class that was told of samples in it, a place
	// among the set's classes, or −1. It is nil where no classes were told.
	GroupClasses []int
	// Notes says, a line each, what somebody should know of the groups.
	Notes []string
	// Scores compares the groups with the classes, as in Record, over the samples whose
	// class is known, where the classes were not told. Where others were told, it compares
	// them with the set's own, over the samples of which none was told.
	Scores map[string]float64
	// Scored is the number of samples that Scores are over.
	Scored int
	// Links are those that were told, by samples of the set.
	Links datasets.Links

	settings Method // those of Method
}

// Find puts the inputs into groups. It calls progress, which may be nil, after
// each iteration of "factorising". A panic is an error.
func (g Groups) Find(ctx context.Context, in *Inputs, progress Progress) (out *Grouping, err error) {
	out, err = reported(ctx, progress, func(r *reporter) (*Grouping, error) { return g.findDistinct(ctx, in, r) })
	if err == nil {
		out.Links, out.settings = g.Links, g.Method
	}
	var fault *guard.PanicError
	if errors.As(err, &fault) {
		err = fmt.Errorf("%s: %w", g.Method.Label(), err)
	}
	return out, err
}

func (g Groups) find(ctx context.Context, in *Inputs, progress *reporter) (*Grouping, error) {
	n, _ := in.Dims()
	labels := in.Labels()
	if err := g.check(in.Set, in.Rows); err != nil {
		return nil, err
	}
	g, err := g.ranked(ctx, in)
	if err != nil {
		return nil, err
	}
	k := g.count(in.Set.Classes)
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
	release, err := g.acquire(ctx, in, m, k)
	if err != nil {
		return nil, err
	}
	defer release()
	w := &work{method: m, in: in, x: func() mat.Matrix { return in.X }, best: true, seed: func(step string) uint64 { return rng.Seed(g.Seed, step) }}
	var known classLabels
	if g.tells() {
		known, w.known = g.told(in.Set).of(in.Rows)
		m.cluster = m.cluster.withLabels()
	}
	if progress.to != nil {
		total := cmp.Or(m.Iterations, epochs)
		w.onIteration = func(i int, _ float64) { progress.tell("factorising", i, total) }
	}
	rank := g.rank(k, n)
	res, err := w.fit(ctx, rank)
	if err != nil {
		return nil, err
	}
	clusters, err := w.group(ctx, res, k)
	if err != nil {
		return nil, err
	}
	out := &Grouping{Method: m.Label(), Result: res, Cluster: m.cluster}
	if res != nil {
		out.Rank = rank
		if note := UnconvergedFit(m.Label(), res); note != "" && in.Blocks == nil { // whose objectives are before and after a block
			out.Notes = append(out.Notes, note)
		}
	}
	truth, classes := labels, in.Set.Classes
	if g.UseLabels {
		known.enforce(clusters)
		truth, classes = in.ownLabels(), in.Set.OwnClasses
	}
	if !g.Links.None() {
		if err := known.bind(clusters, k, w.known, w.points(res), m.cluster.Distance); err != nil {
			return nil, err
		}
	}
	out.Groups = bySize(clusters)
	if found := slices.Max(out.Groups) + 1; found < k {
		out.Notes = append(out.Notes, fmt.Sprintf("%d groups are asked for, and samples are in %d only", k, found))
	}
	if g.UseLabels {
		out.GroupClasses = known.ofGroups(out.Groups)
	}
	if out.Memberships, err = cluster.Memberships(ctx, m.cluster.Distance, w.points(res), out.Groups); err != nil {
		return nil, err
	}
	return out, g.score(ctx, out, truth, classes, known.labels)
}

// score compares groups with classes. labels holds the class that was told of each sample.
func (g Groups) score(ctx context.Context, out *Grouping, truth []int, classes []string, labels []int) (err error) {
	defer timing.Start(ctx, timing.Scores)()
	if len(classes) > 1 {
		outcome := ofKnownClass(eval.Outcome{Truth: truth, Found: out.Groups, Labels: labels})
		if out.Scored = len(outcome.Truth); out.Scored > 0 {
			out.Scores, err = eval.Compute(eval.Clustering, outcome)
		}
		if g.UseLabels {
			eval.OnlyUnlabelled(out.Scores)
			out.Scored = countOf(outcome.Labels, -1)
		}
	}
	return err
}

// ofKnownClass returns the part of the outcome of a clustering whose classes are known.
func ofKnownClass(o eval.Outcome) eval.Outcome {
	if !slices.Contains(o.Truth, -1) {
		return o
	}
	var known eval.Outcome
	for i, class := range o.Truth {
		if class < 0 {
			continue
		}
		known.Truth, known.Found = append(known.Truth, class), append(known.Found, o.Found[i])
		if o.Labels != nil {
			known.Labels = append(known.Labels, o.Labels[i])
		}
	}
	return known
}

// countOf returns how often a value is among some.
func countOf(values []int, value int) (n int) {
	for _, v := range values {
		if v == value {
			n++
		}
	}
	return n
}

// by returns the name of what clusters, "" for k-means.
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

// bySize numbers groups by their size, the largest first, and groups of one
// size by their first samples.
func bySize(groups []int) []int {
	k := slices.Max(groups) + 1
	size, first := make([]int, k), make([]int, k)
	for i, g := range slices.Backward(groups) {
		size[g]++
		first[g] = i
	}
	order := make([]int, k)
	for g := range order {
		order[g] = g
	}
	slices.SortFunc(order, func(a, b int) int {
		if size[a] != size[b] {
			return size[b] - size[a]
		}
		return first[a] - first[b]
	})
	number := make([]int, k)
	for at, g := range order {
		number[g] = at
	}
	out := make([]int, len(groups))
	for i, g := range groups {
		out[i] = number[g]
	}
	return out
}

// unitRows returns x with rows of unit length, but for those of zeros.
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

// ranked returns the groups with a rank that is chosen already.
func (g Groups) ranked(ctx context.Context, in *Inputs) (Groups, error) {
	if _, own := builtin(g.Method.Name); own || g.Rank == nil || g.Rank.Auto == nil {
		return g, nil
	}
	c, err := chooseRankOf(ctx, *g.Rank.Auto, in, g.Seed, nil)
	if err == nil {
		g.Rank = &Rank{Fixed: true, Plus: c.Rank}
	}
	return g, err
}
