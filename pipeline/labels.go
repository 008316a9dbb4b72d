package pipeline

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/eval"
)

// Check reports what cannot be asked of a set, before its features are made. Find
// checks the same of the samples that can be used.
func (g Groups) Check(set *datasets.Set) error {
	return g.check(set, allOf(set.Len()))
}

// check is Check for these samples of the set.
func (g Groups) check(set *datasets.Set, rows []int) error {
	n, classes := len(rows), set.Classes
	k := g.count(classes)
	method := g.Method
	switch _, own := builtin(method.Name); {
	case method.Name == Original:
		return fmt.Errorf("the method %s classifies, and finds no groups", method.Name)
	case own && g.Cluster.By != "" && g.Cluster.By != method.Name:
		return fmt.Errorf("the method %s clusters the features themselves, and %s is to cluster what a method makes of them: say one of them", method.Name, g.Cluster.By)
	}
	if g.Batch != 0 {
		if _, err := batchOf(method, g.Batch); err != nil {
			return err
		}
	}
	if g.Cluster.By != "" && method.By == "" {
		method.By = g.Cluster.By
	}
	needs := method.needs()
	switch {
	case k < 2:
		return fmt.Errorf("the number of groups is not known: say it with -k, 2 or more")
	case k > n:
		return fmt.Errorf("%d groups are asked for, and there are %d samples", k, n)
	case needs.lackLabels(g.UseLabels, !g.Links.None()):
		by := method.Label()
		if a, ok := cluster.Lookup(method.By); ok && a.NeedsLabels {
			by = method.By
		}
		if needs.takesLinks {
			return fmt.Errorf("%s needs the classes of some samples, or links of them; tell them with --labels or --links", by)
		}
		return fmt.Errorf("%s needs the classes of some samples; tell them with --labels", by)
	}
	if g.Rank != nil {
		switch rank := g.Rank.Of(k); {
		case g.Rank.Auto != nil && g.by() == Largest:
			return fmt.Errorf("rank: %s; each basis vector is a group where samples are grouped by their largest coefficient", g.Rank)
		case g.Rank.Auto != nil:
			if err := g.Rank.Auto.check(n); err != nil {
				return err
			}
		case rank != k && g.by() == Largest:
			return fmt.Errorf("rank: %s is %d for %d groups; each basis vector is a group where samples are grouped by their largest coefficient", g.Rank, rank, k)
		case rank < 1:
			return fmt.Errorf("rank: %s is %d for %d groups; it must be 1 or more", g.Rank, rank, k)
		case rank > n:
			return fmt.Errorf("rank: %s is %d for %d groups, above the number of samples, %d", g.Rank, rank, k, n)
		}
	}
	if !g.tells() {
		return nil
	}
	if err := set.CheckLinks(&g.Links, g.UseLabels); err != nil {
		return err
	}
	told := g.told(set)
	free, known := told.free(rows), 0
	sizes := told.sizes(rows)
	var names []string
	for c, size := range sizes {
		if size > 0 {
			names = append(names, classes[c])
			known++
		}
	}
	switch {
	case known > k:
		return fmt.Errorf("%d groups are asked for, and samples are told to be of %d classes (%s), each of which has a group of its own", k, known, someOf(names))
	case k > known+free && g.Links.None():
		return fmt.Errorf("%d groups are asked for, and %d classes are told, which leaves %d samples for the other %d groups", k, known, free, k-known)
	case k > known+free:
		return fmt.Errorf("%d groups are asked for, and samples that are told to belong together leave %d at most", k, known+free)
	}
	if !g.Links.None() {
		_, of := told.of(rows)
		if err := cluster.CheckLinks(n, k, cluster.Known(of)); errors.Is(err, cluster.ErrDeadEnd) {
			return fmt.Errorf("%d groups are asked for, and no %d groups part all samples that are told not to belong together", k, k)
		} else if err != nil {
			return err
		}
	}
	if !g.UseLabels {
		return nil
	}
	return needs.checkClasses(method.Label(), slices.DeleteFunc(sizes, func(size int) bool { return size == 0 }))
}

// count returns how many groups there are to be.
func (g Groups) count(classes []string) int {
	if g.K == 0 {
		return len(classes)
	}
	return g.K
}

// classSizes returns how many samples are labelled in each class.
func classSizes(labels []int, classes []string) []int {
	sizes := make([]int, len(classes))
	for _, c := range labels {
		if c >= 0 {
			sizes[c]++
		}
	}
	return sizes
}

// Notes says, a line each, what somebody should know who tells the classes of some
// samples.
func (g Groups) Notes(in *Inputs) []string {
	if !g.UseLabels || !g.Method.needs().TiesLabels {
		return nil
	}
	var lone []string
	for c, size := range classSizes(in.Labels(), in.Set.Classes) {
		if size == 1 {
			lone = append(lone, in.Set.Classes[c])
		}
	}
	switch len(lone) {
	case 0:
		return nil
	case 1:
		return []string{fmt.Sprintf("one sample is told of the class %s: it ties nothing in %s, and the grouping alone honours it", lone[0], g.Method.Label())}
	}
	return []string{fmt.Sprintf("one sample each is told of the classes %s: they tie nothing in %s, and the grouping alone honours them", someOf(lone), g.Method.Label())}
}

// someOf lists names, only the first of many.
func someOf(names []string) string {
	const most = 5
	if len(names) > most {
		names = append(slices.Clone(names[:most]), "…")
	}
	return strings.Join(names, ", ")
}

// classLabels are the classes that are known of samples, without those of which no sample
// is left.
type classLabels struct {
	labels  []int // of the samples, numbers of these classes from 0, or −1
	classes []int // places among the set's classes
}

// newClassLabels returns what labels tell, which are numbers below classes.
func newClassLabels(labels []int, classes int) classLabels {
	number := make([]int, classes)
	t := classLabels{labels: make([]int, len(labels))}
	for _, c := range labels {
		if c >= 0 {
			number[c] = 1
		}
	}
	for c, present := range number {
		if present == 1 {
			number[c] = len(t.classes)
			t.classes = append(t.classes, c)
		}
	}
	for i, c := range labels {
		t.labels[i] = -1
		if c >= 0 {
			t.labels[i] = number[c]
		}
	}
	return t
}

// enforce moves the samples whose class is told, so that each class has a group of its
// own: the one that most of them are in by the best one-to-one mapping, and where
// there are not enough of these the smallest of the others, or a new one.
func (t classLabels) enforce(groups []int) {
	if len(t.classes) == 0 {
		return
	}
	var truth, found []int
	for i, c := range t.labels {
		if c >= 0 {
			truth, found = append(truth, c), append(found, groups[i])
		}
	}
	to := slices.Repeat([]int{-1}, len(t.classes))
	size := make([]int, max(slices.Max(groups)+1, len(to)))
	for _, g := range groups {
		size[g]++
	}
	others := make([]int, len(size))
	for g := range others {
		others[g] = g
	}
	slices.SortStableFunc(others, func(a, b int) int { return size[a] - size[b] })
	for group, c := range eval.Mapping(truth, found) {
		to[c] = group
		others = slices.DeleteFunc(others, func(g int) bool { return g == group })
	}
	for c := range to {
		if to[c] < 0 {
			to[c], others = others[0], others[1:]
		}
	}
	for i, c := range t.labels {
		if c >= 0 {
			groups[i] = to[c]
		}
	}
}

// ofGroups returns for each group the class that was told of samples in it, a
// place among the set's classes, or −1.
func (t classLabels) ofGroups(groups []int) []int {
	out := slices.Repeat([]int{-1}, slices.Max(groups)+1)
	for i, c := range t.labels {
		if c >= 0 {
			out[groups[i]] = t.classes[c]
		}
	}
	return out
}
