package significance

import "slices"

// Draws describes the overlap of an experiment's draws from one set.
type Draws struct {
	// Classes are the different numbers of classes drawn, of the set's number Of. A score over several of
	// them is the mean of one at each.
	Classes []int
	Of      int
	// Learned and Scored are the samples that a classification learns from and is tested on, if these are
	// drawn; else 0.
	Learned, Scored int
}

// Ratio is the correction of the variance of a mean difference over draws: ρ/(1−ρ), where ρ is the correlation
// between the differences of two draws, due to what they share.
//
// Draws of k of C classes share k²/C classes on average, so that ρ = k/C if a difference depends on the
// classes alone, which is the worst case: the ratio is k/(C−k). The mean of one draw of each of K numbers of
// classes has ρ = K²/(K²−K+Σ C/k), hence K²/Σ(C/k−1). If all classes are drawn, ρ is the share of the samples
// that a classification is tested on, and the ratio scored/learned (Nadeau and Bengio 2003). A clustering of
// all classes has the same samples each time, and independent labels, links and starts: the ratio is 0.
func (d Draws) Ratio() float64 {
	var sum float64
	for _, k := range d.Classes {
		sum += max(0, float64(d.Of)/float64(k)-1)
	}
	switch n := float64(len(d.Classes)); {
	case sum > 0:
		return n * n / sum
	case d.Learned > 0:
		return float64(d.Scored) / float64(d.Learned)
	}
	return 0
}

// Beyond names the population that a difference over the draws is tested for.
func (d Draws) Beyond() string {
	switch {
	case slices.ContainsFunc(d.Classes, func(k int) bool { return k < d.Of }):
		return "classes like these"
	case d.Ratio() > 0:
		return "samples like these"
	}
	return "these samples"
}
