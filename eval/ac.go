package eval

// AC returns the accuracy of a clustering: the share of the samples whose
// cluster is mapped to their class by the best one-to-one mapping (see
// Mapping). It panics if the lengths differ.
func AC(truth, assigned []int) float64 { return tabulate(truth, assigned).ac() }

// Mapping returns the one-to-one mapping from clusters to classes that is right
// for the most samples. Where there are more clusters than classes, those left
// over are not in it.
func Mapping(truth, assigned []int) map[int]int {
	t := tabulate(truth, assigned)
	mapping := map[int]int{}
	for c, l := range hungarian(t.counts) {
		if l >= 0 {
			mapping[t.clusters[c]] = t.classes[l]
		}
	}
	return mapping
}

func (t *contingency) ac() float64 {
	right := 0
	for c, l := range hungarian(t.counts) {
		if l >= 0 {
			right += t.counts[c][l]
		}
	}
	return share(right, t.samples)
}
