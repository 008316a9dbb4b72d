package eval

// Purity returns the share of the samples that have the commonest class of
// their cluster. It panics if the lengths differ.
func Purity(truth, assigned []int) float64 { return tabulate(truth, assigned).purity() }

func (t *contingency) purity() float64 {
	commonest := 0
	for _, row := range t.counts {
		most := 0
		for _, x := range row {
			most = max(most, x.count)
		}
		commonest += most
	}
	return share(commonest, t.samples)
}
