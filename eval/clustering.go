package eval

// Clustering holds the scores of a clustering. AC, NMI and Purity are within 0
// and 1, and ARI within −1 and 1.
type Clustering struct {
	AC, NMI, ARI, Purity float64
}

// Score returns all scores of a clustering. It panics if the lengths differ.
func Score(truth, assigned []int) Clustering {
	t := tabulate(truth, assigned)
	return Clustering{AC: t.ac(), NMI: t.nmi(), ARI: t.ari(), Purity: t.purity()}
}
