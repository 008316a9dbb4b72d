package eval

// AC returns the accuracy of a clustering: the share of the samples whose cluster the best one-to-one mapping
// maps to their class (see Mapping). It panics if the lengths differ.
func AC(truth, assigned []int) float64 { return tabulate(truth, assigned).ac() }

// Mapping returns the one-to-one mapping from clusters to classes that is right for the most samples.
// Clusters without a match get the remaining classes, in the order of their first samples, as far as there
// are any.
func Mapping(truth, assigned []int) map[int]int {
	t := tabulate(truth, assigned)
	mapping := map[int]int{}
	taken := make([]bool, len(t.classes))
	matched := hungarian(t.counts, len(t.classes))
	for c, l := range matched {
		if l >= 0 {
			mapping[t.clusters[c]] = t.classes[l]
			taken[l] = true
		}
	}
	next := 0
	for c, l := range matched {
		for next < len(taken) && taken[next] {
			next++
		}
		if l < 0 && next < len(taken) {
			mapping[t.clusters[c]] = t.classes[next]
			next++
		}
	}
	return mapping
}

func (t *contingency) ac() float64 {
	right := 0
	for c, l := range hungarian(t.counts, len(t.classes)) {
		for _, x := range t.counts[c] {
			if x.class == l {
				right += x.count
			}
		}
	}
	return share(right, t.samples)
}
