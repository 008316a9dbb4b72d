package eval

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// scores is the registry, in display order. The first score of a task is its main score.
var scores = []Score{
	{Name: "accuracy", Title: "Accuracy", Task: Classification, Max: 1, Unit: UnitPercent, Prominence: Headline,
		Help:  "The share of test samples whose class was found.",
		Value: func(o *Outcome) (float64, bool, error) { return Accuracy(o.Truth, o.Found), true, nil }},
	{Name: "AC", Title: "Clustering accuracy (AC)", Max: 1, Unit: UnitPercent, Prominence: Headline, OfSamples: true,
		Help:  "The share of samples that are in the right group. Each group is matched with one class, and the matching that gives the most hits counts.",
		Value: ofClusters((*contingency).ac)},
	{Name: "NMI", Title: "Normalised mutual information (NMI)", Max: 1, Unit: UnitPercent, Prominence: Headline, OfSamples: true,
		Help:  "How much the group of a sample tells about its class: 0 is nothing, 100 is everything.",
		Value: ofClusters((*contingency).nmi)},
	{Name: "ARI", Title: "Adjusted Rand index (ARI)", Min: -1, Max: 1, Unit: UnitPercent, OfSamples: true,
		Help:  "How often the groups and the classes agree on whether two samples belong together: 100 is always, 0 is what chance would give.",
		Value: ofClusters((*contingency).ari)},
	{Name: "purity", Title: "Purity", Max: 1, Unit: UnitPercent, OfSamples: true,
		Help:  "The share of samples whose class is the most frequent one of their group. It favours many small groups.",
		Value: ofClusters((*contingency).purity)},
	{Name: "VI", Title: "Variation of information (VI)", Max: math.Inf(1), LowerIsBetter: true, Unit: UnitNats, Optional: true, OfSamples: true,
		Help:  "What the group of a sample leaves unknown of its class, and the class of its group: 0 where both say the same, and at most the logarithm of the number of samples.",
		Value: ofClusters((*contingency).vi)},
	{Name: "basis purity", Title: "Purity of the parts", Task: Classification, Max: 1, Unit: UnitPercent, Prominence: Major,
		Help: "How much of a part's whole use falls to the one class that uses it most: 100 is all of it.",
		Value: ofParts(func(o *Outcome) (float64, error) {
			_, purity, err := BasisPurity(o.Coefficients, o.Classes)
			return purity, err
		})},
	{Name: "basis sparsity", Title: "Sparsity of the parts", Task: Classification, Max: 1, Unit: UnitPercent,
		Help:  "How few pixels or features a part is made of (Hoyer): 0 is all alike, 100 is a single one.",
		Value: ofParts(func(o *Outcome) (float64, error) { return meanSparsity(o.Basis) })},
	{Name: "coefficient sparsity", Title: "Sparsity of the coefficients", Task: Classification, Max: 1, Unit: UnitPercent,
		Help:  "How few samples use a part (Hoyer): 0 is all alike, 100 is a single one.",
		Value: ofParts(func(o *Outcome) (float64, error) { return meanSparsity(o.Coefficients) })},
}

// ofClusters turns a function of the contingency table into a Score.Value.
func ofClusters(f func(*contingency) float64) func(*Outcome) (float64, bool, error) {
	return func(o *Outcome) (float64, bool, error) {
		if o.counts == nil {
			o.counts = tabulate(o.Truth, o.Found)
		}
		return f(o.counts), true, nil
	}
}

// ofParts turns f into a Score.Value that applies only if both factors are non-negative, so that basis vectors are
// parts.
func ofParts(f func(*Outcome) (float64, error)) func(*Outcome) (float64, bool, error) {
	return func(o *Outcome) (v float64, ok bool, err error) {
		if ok = o.Coefficients != nil && o.Basis != nil && !(mat.Min(o.Coefficients) < 0) && !(mat.Min(o.Basis) < 0); ok {
			v, err = f(o)
		}
		return v, ok, err
	}
}

func meanSparsity(factor *mat.Dense) (float64, error) {
	sparsity, err := Sparsity(factor)
	mean, _ := MeanSD(sparsity)
	return mean, err
}
