package eval

import "fmt"

// contingency counts which classes the samples of each cluster have.
// Classes and clusters are numbered in the order of their first samples, so
// that nothing depends on their names.
type contingency struct {
	counts            [][]int // clusters × classes
	clusters, classes []int   // their names
	samples           int
}

// tabulate counts the samples that have a class. It panics if the lengths
// differ.
func tabulate(truth, assigned []int) *contingency {
	if len(truth) != len(assigned) {
		panic(fmt.Sprintf("eval: %d classes and %d clusters of samples", len(truth), len(assigned)))
	}
	t := &contingency{}
	classAt, clusterAt := map[int]int{}, map[int]int{}
	for i, class := range truth {
		if class < 0 {
			continue
		}
		if _, ok := classAt[class]; !ok {
			classAt[class] = len(t.classes)
			t.classes = append(t.classes, class)
		}
		if _, ok := clusterAt[assigned[i]]; !ok {
			clusterAt[assigned[i]] = len(t.clusters)
			t.clusters = append(t.clusters, assigned[i])
		}
		t.samples++
	}
	t.counts = make([][]int, len(t.clusters))
	for c := range t.counts {
		t.counts[c] = make([]int, len(t.classes))
	}
	for i, class := range truth {
		if class >= 0 {
			t.counts[clusterAt[assigned[i]]][classAt[class]]++
		}
	}
	return t
}

// sizes returns the numbers of samples in the clusters and in the classes.
func (t *contingency) sizes() (clusters, classes []int) {
	clusters, classes = make([]int, len(t.clusters)), make([]int, len(t.classes))
	for c, row := range t.counts {
		for l, count := range row {
			clusters[c] += count
			classes[l] += count
		}
	}
	return clusters, classes
}
