package significance

import (
	"slices"
	"sort"

	"github.com/seed4492f2cd/partwise/internal/rng"
)

// bayesSamples is the number of draws of the weights, which gives probabilities within ±0.01.
const bayesSamples = 20_000

// BayesSignedRank returns the probabilities that a[i] − b[i] lies below −rope, within ±rope and above rope, by
// the Bayesian signed-rank test (Benavoli, Corani, Demšar and Zaffalon 2017). Differences have weights of a
// Dirichlet process, whose prior is one difference of 0. Each draw counts for the region in which the means of
// pairs of differences weigh most; ties share the count. The same seed gives the same numbers. It panics if the
// lengths differ.
func BayesSignedRank(a, b []float64, rope float64, seed uint64) Probabilities {
	z := append(differences(a, b), 0)
	slices.Sort(z)
	// The mean of z[i] and z[j] is above the rope for j ≥ above[i], and below it for j < below[i].
	n := len(z)
	above, below := make([]int, n), make([]int, n)
	for i, x := range z {
		above[i] = sort.Search(n, func(j int) bool { return x+z[j] > 2*rope })
		below[i] = sort.Search(n, func(j int) bool { return x+z[j] >= -2*rope })
	}
	random := rng.New(seed, "weights", n)
	sums := make([]float64, n+1) // of the weights before each
	var count [3]float64         // the draws for each region
	for range bayesSamples {
		for i := range z {
			sums[i+1] = sums[i] + random.ExpFloat64()
		}
		all := sums[n]
		var weigh [3]float64 // below, within and above
		for i := range z {
			w := sums[i+1] - sums[i]
			weigh[0] += w * sums[below[i]]
			weigh[2] += w * (all - sums[above[i]])
		}
		weigh[1] = max(0, all*all-weigh[0]-weigh[2])
		var best []int // equal to rounding
		for region, w := range weigh {
			if slices.Max(weigh[:])-w <= 1e-9*all*all {
				best = append(best, region)
			}
		}
		for _, region := range best {
			count[region] += 1 / float64(len(best))
		}
	}
	return Probabilities{count[0] / bayesSamples, count[1] / bayesSamples, count[2] / bayesSamples}
}
