package eval

import "math"

// myScore is the entry of the list.
var myScore = Score{
	Name: "my-completeness", Title: "Completeness", Task: Clustering, Max: 1, Unit: UnitPercent, Optional: true, OfSamples: true,
	Help:  "How far all samples of a class are in one group: 100 is all of them. It favours few large groups.",
	Value: ofClusters((*contingency).myCompleteness),
}

// myCompleteness returns 1 − H(K|C)/H(K) for classes C and clusters K (Rosenberg and
// Hirschberg 2007), and 1 for a single cluster.
func (t *contingency) myCompleteness() float64 {
	entropy := t.entropy(t.inCluster)
	if entropy == 0 {
		return 1
	}
	var rest float64 // H(K|C)
	for _, row := range t.counts {
		for _, x := range row {
			p := float64(x.count)
			rest -= p / float64(t.samples) * math.Log(p/float64(t.inClass[x.class]))
		}
	}
	return min(max(1-rest/entropy, 0), 1)
}
