package significance

import "slices"

// Draws are the draws of an experiment from one set, as far as they overlap.
type Draws struct {
	// Classes are the different numbers of classes drawn, and Of is how many the set has. A
	// score over several of them is the mean of one at each.
	Classes []int
	Of      int
	// Learned and Scored are how many samples a classification learns from and is tested on,
	// where these are drawn; else both are 0.
	Learned, Scored int
}

// Ratio is what the variance of a mean difference over draws is corrected by: ρ/(1−ρ), where
// ρ is the correlation between the differences of two draws. What makes it is what two draws have
// in common, and what they would not have in common with draws from another set.
//
// Draws of k of C classes have k²/C classes in common on average, so that ρ = k/C if a difference
// is a matter of the classes alone, which is the worst case: the ratio is k/(C−k). The mean of one
// draw of each of K numbers of classes has ρ = K²/(K²−K+Σ C/k), hence K²/Σ(C/k−1). Where all classes
// are drawn ρ is the share of the samples that a classification is tested on, and the ratio
// scored/learned (Nadeau and Bengio 2003). A clustering of all classes groups the same samples
// each time; labels, links and starts are drawn anew, independently of each other, and the
// ratio is 0: a difference is then one on these samples.
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

// Beyond says in words what a difference over the draws is tested for.
func (d Draws) Beyond() string {
	switch {
	case slices.ContainsFunc(d.Classes, func(k int) bool { return k < d.Of }):
		return "classes like these"
	case d.Ratio() > 0:
		return "samples like these"
	}
	return "these samples"
}
