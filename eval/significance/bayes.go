package significance

import (
	"slices"

	"github.com/seed4492f2cd/partwise/internal/rng"
)

// bayesSamples is how many times the weights of the differences are drawn. A probability is
// then known within ±0.01.
const bayesSamples = 20_000

// BayesSignedRank returns the probabilities that a[i] − b[i] lies below −rope, within ±rope
// and above rope, by the Bayesian signed-rank test (Benavoli, Corani, Demšar and Zaffalon 2017):
// the differences have weights of a Dirichlet process, whose prior is one difference of 0, and
// of the three regions the one counts in which the means of pairs of differences weigh most;
// those that weigh the same share the count. Without any differences the prior alone speaks, and
// all is within. The same seed gives the same numbers. It panics if the lengths differ.
func BayesSignedRank(a, b []float64, rope float64, seed uint64) Probabilities {
	z := append(differences(a, b), 0)
	slices.Sort(z)
	// From above[i] on, z[i] and a later one have a mean above the rope, and up to below[i] one
	// below it.
	n := len(z)
	above, below := make([]int, n), make([]int, n)
	for i, x := range z {
		above[i] = firstAfter(z, func(y float64) bool { return x+y > 2*rope })
		below[i] = firstAfter(z, func(y float64) bool { return x+y >= -2*rope })
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

// firstAfter returns the place of the first of sorted values for which a condition holds that
// holds for all later ones.
func firstAfter(z []float64, holds func(float64) bool) int {
	lo, hi := 0, len(z)
	for lo < hi {
		if mid := int(uint(lo+hi) >> 1); holds(z[mid]) {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}
