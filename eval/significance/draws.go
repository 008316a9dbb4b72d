package significance

import "math"

// Draws are the draws of an experiment from one set, as far as they overlap.
type Draws struct {
	// Classes are the different numbers of classes drawn, and Of is how many the set has. A
	// score over several of them is the mean of one at each.
	Classes []int
	Of      int
	// Where all classes are drawn, Learned is how many samples are drawn to be learned from
	// or to be labelled, and Scored how many of the others are scored; 0 where none are drawn.
	Learned, Scored int
}

// Ratio is what the variance of a mean difference over draws is corrected by: ρ/(1−ρ), where
// ρ is the correlation between the differences of two draws. What differs from class to
// class, and is no less in a method's favour because the same class is drawn again, makes it.
//
// Draws of k of C classes have k²/C classes in common on average, so that ρ = k/C if the
// difference were a matter of the classes alone, which is the worst case: the ratio is k/(C−k). The
// mean of one draw of each of K numbers of classes has ρ = K²/(K²−K+Σ C/k), hence K²/Σ(C/k−1). Where
// all classes are drawn ρ is the share of the samples that a draw scores, as in Nadeau and
// Bengio 2003: the ratio is scored/learned. Where no samples are drawn either, nothing but
// starts differs, the draws are independent, and the ratio is 0: then a difference is one on
// these samples.
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

// Beyond says in words what a mean difference over the draws is one of.
func (d Draws) Beyond() string {
	of := 0
	for _, k := range d.Classes {
		of = max(of, k)
	}
	switch {
	case math.IsInf(d.Ratio(), 1), d.Ratio() == 0:
		return "these samples"
	case of < d.Of:
		return "classes like these"
	}
	return "samples like these"
}
