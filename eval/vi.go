package eval

import (
	"github.com/seed4492f2cd/partwise/internal/elementary"
)

// VI returns the variation of information of classes C and clusters K in nats,
// H(C|K) + H(K|C) (Meilă 2007): 0 for the same partition, and at most ln n of n
// samples. It is a metric. It panics if the lengths differ.
func VI(truth, assigned []int) float64 { return tabulate(truth, assigned).vi() }

func (t *contingency) vi() float64 {
	clusters, classes := t.sizes()
	var sum float64
	for c, row := range t.counts {
		for _, x := range row {
			p := float64(x.count)
			sum -= p / float64(t.samples) * (elementary.Log(p/float64(clusters[c])) + elementary.Log(p/float64(classes[x.class])))
		}
	}
	return max(sum, 0) // and no −0
}
