package eval

import (
	"github.com/seed4492f2cd/partwise/internal/elementary"
)

// NMI returns the normalised mutual information of classes and clusters,
// MI/max(H, H'): the papers divide by the larger entropy, not by the mean. A
// single cluster of a single class scores 1. It panics if the lengths differ.
func NMI(truth, assigned []int) float64 { return tabulate(truth, assigned).nmi() }

func (t *contingency) nmi() float64 {
	if t.samples == 0 {
		return 0
	}
	n := float64(t.samples)
	clusters, classes := t.sizes()
	entropy := max(t.entropy(clusters), t.entropy(classes))
	if entropy == 0 {
		return 1
	}
	var information float64
	for c, row := range t.counts {
		for _, x := range row {
			p := float64(x.count)
			information += p / n * elementary.Log(p*n/(float64(clusters[c])*float64(classes[x.class])))
		}
	}
	return min(max(information/entropy, 0), 1)
}

// entropy returns −Σ p·log p of the shares of the samples.
func (t *contingency) entropy(sizes []int) float64 {
	var sum float64
	for _, size := range sizes {
		p := float64(size) / float64(t.samples)
		sum -= p * elementary.Log(p)
	}
	return sum
}
