package eval

// ARI returns the adjusted Rand index (Hubert and Arabie 1985): 1 for the same partition, about 0 for a
// random one. It panics if the lengths differ.
func ARI(truth, assigned []int) float64 { return tabulate(truth, assigned).ari() }

func (t *contingency) ari() float64 {
	if t.samples == 0 {
		return 0
	}
	var both float64
	clusters, classes := t.sizes()
	for _, row := range t.counts {
		for _, x := range row {
			both += pairs([]int{x.count})
		}
	}
	inClusters, inClasses := pairs(clusters), pairs(classes)
	all := pairs([]int{t.samples})
	if inClusters == inClasses && (inClusters == 0 || inClusters == all) {
		return 1 // every sample alone, or all together, in both
	}
	expected := inClusters * inClasses / all
	return (both - expected) / ((inClusters+inClasses)/2 - expected)
}

// pairs returns how many pairs there are within groups of the sizes.
func pairs(sizes []int) float64 {
	var sum float64
	for _, s := range sizes {
		sum += float64(s) * float64(s-1) / 2
	}
	return sum
}
