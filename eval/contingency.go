package eval

import (
	"cmp"
	"fmt"
	"slices"
)

// contingency counts the classes of the samples of each cluster. Both are numbered in the order of their
// first samples, so that nothing depends on their names.
type contingency struct {
	counts            [][]cell // for each cluster the classes that its samples have, rising
	clusters, classes []int    // their names
	samples           int
}

// cell counts the samples of a cluster with one class.
type cell struct{ class, count int }

// tabulate counts the samples with a known class. It panics if the lengths differ.
func tabulate(truth, assigned []int) *contingency {
	if len(truth) != len(assigned) {
		panic(fmt.Sprintf("eval: %d classes and %d clusters of samples", len(truth), len(assigned)))
	}
	t := &contingency{}
	classAt, clusterAt := map[int]int{}, map[int]int{}
	type pair struct{ cluster, class int }
	var pairs []pair
	for i, class := range truth {
		if class < 0 {
			continue
		}
		l, ok := classAt[class]
		if !ok {
			l = len(t.classes)
			classAt[class] = l
			t.classes = append(t.classes, class)
		}
		c, ok := clusterAt[assigned[i]]
		if !ok {
			c = len(t.clusters)
			clusterAt[assigned[i]] = c
			t.clusters = append(t.clusters, assigned[i])
		}
		pairs = append(pairs, pair{c, l})
	}
	t.samples = len(pairs)
	slices.SortFunc(pairs, func(a, b pair) int { return cmp.Or(a.cluster-b.cluster, a.class-b.class) })
	t.counts = make([][]cell, len(t.clusters))
	for _, p := range pairs {
		row := &t.counts[p.cluster]
		if n := len(*row); n > 0 && (*row)[n-1].class == p.class {
			(*row)[n-1].count++
		} else {
			*row = append(*row, cell{p.class, 1})
		}
	}
	return t
}

// sizes returns the numbers of samples in the clusters and in the classes.
func (t *contingency) sizes() (clusters, classes []int) {
	clusters, classes = make([]int, len(t.clusters)), make([]int, len(t.classes))
	for c, row := range t.counts {
		for _, x := range row {
			clusters[c] += x.count
			classes[x.class] += x.count
		}
	}
	return clusters, classes
}
