package eval

import (
	"cmp"
	"slices"

	"github.com/seed4492f2cd/partwise/internal/elementary"
)

// contingency is a sparse contingency table. Clusters and classes are numbered in the order of their first samples, so
// that scores do not depend on their names.
type contingency struct {
	counts             [][]cell // the non-zero cells of each cluster, by class
	clusters, classes  []int    // names of clusters and classes
	inCluster, inClass []int    // numbers of their samples
	samples            int
}

// cell is the number of samples of a cluster that have a class.
type cell struct{ class, count int }

// tabulate returns the contingency table of the samples with a class. It panics if the lengths differ.
func tabulate(truth, assigned []int) *contingency {
	checkLengths(truth, assigned)
	t := &contingency{}
	number := func(names, sizes *[]int, places map[int]int, name int) int {
		at, ok := places[name]
		if !ok {
			at = len(*names)
			places[name], *names, *sizes = at, append(*names, name), append(*sizes, 0)
		}
		(*sizes)[at]++
		return at
	}
	classAt, clusterAt := map[int]int{}, map[int]int{}
	type pair struct{ cluster, class int }
	var pairs []pair
	for i, class := range truth {
		if class >= 0 {
			pairs = append(pairs, pair{number(&t.clusters, &t.inCluster, clusterAt, assigned[i]), number(&t.classes, &t.inClass, classAt, class)})
		}
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

// AC returns the clustering accuracy, from 0 to 1: the fraction of samples whose cluster maps to their class under the
// best one-to-one mapping (see [Mapping]). It panics if the lengths differ.
func AC(truth, assigned []int) float64 { return tabulate(truth, assigned).ac() }

func (t *contingency) ac() float64 {
	right := 0
	for c, l := range hungarian(t.counts, len(t.classes)) {
		for _, x := range t.counts[c] {
			if x.class == l {
				right += x.count
			}
		}
	}
	return fraction(right, t.samples)
}

// Mapping returns the one-to-one mapping from clusters to classes that is correct for the most samples. Unmatched
// clusters get the remaining classes in the order of their first samples.
func Mapping(truth, assigned []int) map[int]int {
	t := tabulate(truth, assigned)
	matched := hungarian(t.counts, len(t.classes))
	taken := make([]bool, len(t.classes))
	for _, l := range matched {
		if l >= 0 {
			taken[l] = true
		}
	}
	mapping, next := map[int]int{}, 0
	for c, l := range matched {
		for ; l < 0 && next < len(taken); next++ {
			if !taken[next] {
				l = next
			}
		}
		if l >= 0 {
			mapping[t.clusters[c]] = t.classes[l]
		}
	}
	return mapping
}

// NMI returns the normalised mutual information of classes and clusters, from 0 to 1: MI/max(H, H'). Like the papers it
// divides by the larger entropy, not by the mean. A single cluster of a single class scores 1. It panics if the lengths
// differ.
func NMI(truth, assigned []int) float64 { return tabulate(truth, assigned).nmi() }

func (t *contingency) nmi() float64 {
	if t.samples == 0 {
		return 0
	}
	n := float64(t.samples)
	entropy := max(t.entropy(t.inCluster), t.entropy(t.inClass))
	if entropy == 0 {
		return 1
	}
	var information float64
	for c, row := range t.counts {
		for _, x := range row {
			p := float64(x.count)
			information += p / n * elementary.Log(p*n/(float64(t.inCluster[c])*float64(t.inClass[x.class])))
		}
	}
	return min(max(information/entropy, 0), 1)
}

// entropy returns −Σ p·log p for the fractions p of samples.
func (t *contingency) entropy(sizes []int) float64 {
	var sum float64
	for _, size := range sizes {
		p := float64(size) / float64(t.samples)
		sum -= p * elementary.Log(p)
	}
	return sum
}

// ARI returns the adjusted Rand index, from −1 to 1 (Hubert and Arabie 1985): 1 for identical partitions, 0 on average
// for random ones. It panics if the lengths differ.
func ARI(truth, assigned []int) float64 { return tabulate(truth, assigned).ari() }

func (t *contingency) ari() float64 {
	if t.samples == 0 {
		return 0
	}
	var both float64
	for _, row := range t.counts {
		for _, x := range row {
			both += pairs(x.count)
		}
	}
	inClusters, inClasses, all := pairs(t.inCluster...), pairs(t.inClass...), pairs(t.samples)
	if inClusters == inClasses && (inClusters == 0 || inClusters == all) {
		return 1 // both partitions are trivial: all singletons, or one block
	}
	expected := inClusters * inClasses / all
	return (both - expected) / ((inClusters+inClasses)/2 - expected)
}

func pairs(sizes ...int) float64 {
	var sum float64
	for _, s := range sizes {
		sum += float64(s) * float64(s-1) / 2
	}
	return sum
}

// Purity returns the fraction of samples whose class is the most frequent one of their cluster. It panics if the lengths
// differ.
func Purity(truth, assigned []int) float64 { return tabulate(truth, assigned).purity() }

func (t *contingency) purity() float64 {
	commonest := 0
	for _, row := range t.counts {
		commonest += slices.MaxFunc(row, func(a, b cell) int { return a.count - b.count }).count
	}
	return fraction(commonest, t.samples)
}

// VI returns the variation of information of classes C and clusters K, H(C|K) + H(K|C), in nats (Meilă 2007). It is a
// metric: 0 for identical partitions, and at most ln n for n samples. It panics if the lengths differ.
func VI(truth, assigned []int) float64 { return tabulate(truth, assigned).vi() }

func (t *contingency) vi() float64 {
	var sum float64
	for c, row := range t.counts {
		for _, x := range row {
			p := float64(x.count)
			sum -= p / float64(t.samples) * (elementary.Log(p/float64(t.inCluster[c])) + elementary.Log(p/float64(t.inClass[x.class])))
		}
	}
	return max(sum, 0) // avoids −0
}
