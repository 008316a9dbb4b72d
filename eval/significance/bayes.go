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
	var count Probabilities
	for range bayesSamples {
		for i := range z {
			sums[i+1] = sums[i] + random.ExpFloat64()
		}
		all := sums[n]
		var left, right float64
		for i := range z {
			w := sums[i+1] - sums[i]
			right += w * (all - sums[above[i]])
			left += w * sums[below[i]]
		}
		within := max(0, all*all-left-right)
		most := max(left, within, right)
		// Equal to rounding.
		same := func(x float64) float64 {
			if most-x <= 1e-9*all*all {
				return 1
			}
			return 0
		}
		l, m, r := same(left), same(within), same(right)
		share := l + m + r
		count.Below += l / share
		count.Within += m / share
		count.Above += r / share
	}
	return Probabilities{count.Below / bayesSamples, count.Within / bayesSamples, count.Above / bayesSamples}
}
