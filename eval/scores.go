package eval

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
)

// scores is the registry, in display order. The first score of a task is its main score.
var scores = []Score{
	{Name: "accuracy", Title: "Accuracy", Task: Classification, Max: 1, Unit: UnitPercent, Prominence: Headline,
		Help:  "Percentage of test samples that are classified correctly.",
		Value: func(o *Outcome) (float64, bool, error) { return Accuracy(o.Truth, o.Found), true, nil }},
	{Name: "AC", Title: "Clustering accuracy (AC)", Max: 1, Unit: UnitPercent, Prominence: Headline, OfSamples: true,
		Help:  "Percentage of samples in the right cluster, after the best one-to-one match of clusters and classes.",
		Value: ofClusters((*contingency).ac)},
	{Name: "NMI", Title: "Normalised mutual information (NMI)", Max: 1, Unit: UnitPercent, Prominence: Headline, OfSamples: true,
		Help:  "Mutual information of clusters and classes, divided by the larger of their entropies: 0 means independent, 100 identical.",
		Value: ofClusters((*contingency).nmi)},
	{Name: "ARI", Title: "Adjusted Rand index (ARI)", Min: -1, Max: 1, Unit: UnitPercent, OfSamples: true,
		Help:  "Agreement of clusters and classes on pairs of samples, adjusted for chance: 0 is expected by chance, 100 means identical.",
		Value: ofClusters((*contingency).ari)},
	{Name: "purity", Title: "Purity", Max: 1, Unit: UnitPercent, OfSamples: true,
		Help:  "Percentage of samples in the most frequent class of their cluster. It favours many small clusters.",
		Value: ofClusters((*contingency).purity)},
	{Name: "VI", Title: "Variation of information (VI)", Max: math.Inf(1), LowerIsBetter: true, Unit: UnitNats, Optional: true, OfSamples: true,
		Help:  "Sum of the two conditional entropies of clusters and classes: 0 means identical, and the maximum is the logarithm of the number of samples.",
		Value: ofClusters((*contingency).vi)},
	{Name: "cophenetic", Title: "Cophenetic correlation of the restarts", Max: 1,
		Help:  "Stability of the clusters over the restarts of a factorisation: 1 means that average linkage reproduces their consensus.",
		Value: ofRestarts(func(s *cluster.Stability) float64 { return s.Cophenetic })},
	{Name: "dispersion", Title: "Dispersion of the consensus", Max: 1,
		Help:  "Stability of the clusters over the restarts of a factorisation: 1 means that all restarts agree on all pairs of samples.",
		Value: ofRestarts(func(s *cluster.Stability) float64 { return s.Dispersion })},
	{Name: "basis purity", Title: "Purity of the parts", Task: Classification, Max: 1, Unit: UnitPercent, Prominence: Major,
		Help: "Percentage of a basis vector's coefficients that belong to the class that uses it most, averaged over basis vectors.",
		Value: ifNonNegative(func(o *Outcome) (float64, error) {
			_, purity, err := BasisPurity(o.Coefficients, o.Classes)
			return purity, err
		})},
	{Name: "basis sparsity", Title: "Sparsity of the parts", Task: Classification, Max: 1, Unit: UnitPercent,
		Help:  "Hoyer sparsity of the basis vectors: 0 means all values are equal, 100 that only one is non-zero.",
		Value: ifNonNegative(func(o *Outcome) (float64, error) { return meanSparsity(o.Basis) })},
	{Name: "coefficient sparsity", Title: "Sparsity of the coefficients", Task: Classification, Max: 1, Unit: UnitPercent,
		Help:  "Hoyer sparsity of the coefficients of a basis vector: 0 means all values are equal, 100 that only one is non-zero.",
		Value: ifNonNegative(func(o *Outcome) (float64, error) { return meanSparsity(o.Coefficients) })},
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

// ofRestarts turns a measure of the restarts into a Score.Value.
func ofRestarts(f func(*cluster.Stability) float64) func(*Outcome) (float64, bool, error) {
	return func(o *Outcome) (float64, bool, error) {
		if o.Stability == nil {
			return 0, false, nil
		}
		return f(o.Stability), true, nil
	}
}

// ifNonNegative turns f into a Score.Value that applies only if both factors are ≥ 0, so that basis vectors are parts.
func ifNonNegative(f func(*Outcome) (float64, error)) func(*Outcome) (float64, bool, error) {
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
