package pictures

import (
	"math"

	"github.com/seed4492f2cd/partwise/internal/elementary"
)

const (
	// OutlierNeighbours is how many neighbours outliers are told by.
	OutlierNeighbours = 15
	// leastNeighbours is how many a picture needs to be told.
	leastNeighbours = 5
	// deviations is the number of standard deviations, λ, by which normal is told from not, and leastOutlier
	// the probability from which a picture is an outlier.
	deviations   = 2
	leastOutlier = 0.9
)

// Outliers returns for each of n pictures the probability that it is an outlier, by the local outlier
// probabilities of Kriegel, Kröger, Schubert and Zimek (2009), and 0 where that is below 0.9. near holds for
// each the pictures nearest by their features, without copies, and distances how far they are; with fewer than
// 5 it is 0.
//
// With the 15 neighbours S of a picture o, σ(o) = √(Σ d(o,s)²/|S|), p(o) = σ(o)/mean σ(s) − 1, and the
// probability is erf(p/(2·√mean p²·√2)), or 0.
func Outliers(near [][]int, distances [][]float64) []float64 {
	n := len(near)
	sigma := make([]float64, n)
	for i, all := range distances {
		for _, d := range all[:min(len(all), OutlierNeighbours)] {
			sigma[i] += d * d / float64(min(len(all), OutlierNeighbours))
		}
		sigma[i] = math.Sqrt(sigma[i])
	}
	out := make([]float64, n)
	var square, counted float64
	for i, all := range near {
		all = all[:min(len(all), OutlierNeighbours)]
		if len(all) < leastNeighbours {
			continue
		}
		var mean float64
		for _, j := range all {
			mean += sigma[j] / float64(len(all))
		}
		if mean > 0 {
			out[i] = sigma[i]/mean - 1
		}
		square += out[i] * out[i]
		counted++
	}
	width := deviations * math.Sqrt(square/max(counted, 1)) * math.Sqrt2
	for i, p := range out {
		out[i] = 0
		if p > 0 && width > 0 {
			if found := elementary.Erf(p / width); found >= leastOutlier {
				out[i] = found
			}
		}
	}
	return out
}
