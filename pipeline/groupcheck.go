package pipeline

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/datasets"
)

// Check returns an error for groups that the set cannot have, before its features are made. Find checks
// the same of the samples that can be used.
func (g Groups) Check(set *datasets.Set) error {
	return g.check(set, allOf(set.Len()))
}

// check is Check for these samples of the set.
func (g Groups) check(set *datasets.Set, rows []int) error {
	n, classes := len(rows), set.Classes
	k := g.count(classes)
	method := g.Method
	switch {
	case method.Name == Original:
		return fmt.Errorf("the method %s classifies, and finds no groups", method.Name)
	case OnFeatures(method.Name) && g.Cluster.By != "" && g.Cluster.By != method.Name:
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
			return fmt.Errorf("%s needs the classes of some samples, or links of them; give labels or links", by)
		}
		return fmt.Errorf("%s needs the classes of some samples; give labels", by)
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
	if !g.given() {
		return nil
	}
	if err := set.CheckLinks(&g.Links, g.UseLabels); err != nil {
		return err
	}
	of := g.knowledge(set)
	sizes, free := of.sizes(rows)
	var names []string
	for c, size := range sizes {
		if size > 0 {
			names = append(names, classes[c])
		}
	}
	known := len(names)
	switch {
	case known > k:
		return fmt.Errorf("%d groups are asked for, and samples are told to be of %d classes (%s), each of which has a group of its own", k, known, someOf(names))
	case k > known+free && g.Links.None():
		return fmt.Errorf("%d groups are asked for, and %d classes are told, which leaves %d samples for the other %d groups", k, known, free, k-known)
	case k > known+free:
		return fmt.Errorf("%d groups are asked for, and samples that are told to belong together leave %d at most", k, known+free)
	}
	if !g.Links.None() {
		_, links := of.of(rows)
		if err := cluster.CheckLinks(n, k, cluster.Known(links)); errors.Is(err, cluster.ErrDeadEnd) {
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

// count returns the number of groups.
func (g Groups) count(classes []string) int {
	if g.K == 0 {
		return len(classes)
	}
	return g.K
}

// Notes returns warnings about the given labels.
func (g Groups) Notes(in *Inputs) []string {
	if !g.UseLabels || !g.Method.needs().TiesLabels {
		return nil
	}
	var lone []string
	for c, size := range classSizes(in.Labels(), len(in.Set.Classes)) {
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
