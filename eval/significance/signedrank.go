package significance

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/rng"
)

// exactPairs is the largest number of pairs with an exact p-value.
const exactPairs = 25

// Wilcoxon returns the two-sided p-value of the signed-rank test of the pairs a[i], b[i] (Wilcoxon 1945). Pairs without
// a difference are dropped; tied differences share their mean rank. For up to 25 pairs p is exact, also with ties. For
// more it is the normal approximation with corrections for ties and continuity. Without differences p is 1. It panics if
// the lengths differ.
func Wilcoxon(a, b []float64) float64 {
	ranks, positive := signedRanks(a, b)
	n := len(ranks)
	if n == 0 {
		return 1
	}
	// Doubled ranks are integers.
	var sum, total int
	var squares float64
	for i, r := range ranks {
		total += r
		squares += float64(r) * float64(r)
		if positive[i] {
			sum += r
		}
	}
	if n <= exactPairs {
		return exactP(ranks, total, min(sum, total-sum))
	}
	// The variance of ΣR over random signs is ΣR²/4, which is n(n+1)(2n+1)/24 minus the correction for ties. The
	// factors ½ undo the doubling.
	deviation := math.Abs(float64(sum)-float64(total)/2) / 2
	z := max(0, deviation-0.5) / (math.Sqrt(squares/4) / 2)
	return elementary.Erfc(z / math.Sqrt2)
}

// signedRanks returns the doubled ranks of the absolute non-zero differences, increasing, and their signs.
func signedRanks(a, b []float64) (ranks []int, positive []bool) {
	type difference struct{ size, signed, rounding float64 }
	var all []difference
	for i, d := range differences(a, b) {
		if d != 0 {
			all = append(all, difference{math.Abs(d), d, rounding * max(math.Abs(a[i]), math.Abs(b[i]))})
		}
	}
	slices.SortFunc(all, func(a, b difference) int { return cmp.Compare(a.size, b.size) })
	for first := 0; first < len(all); {
		end := first + 1
		for end < len(all) && all[end].size-all[end-1].size <= all[end].rounding {
			end++
		}
		for ; len(ranks) < end; ranks = append(ranks, first+1+end) {
			positive = append(positive, all[len(ranks)].signed > 0)
		}
		first = end
	}
	return ranks, positive
}

// exactP returns the probability that, with random signs, the doubled ranks of either sign sum to at most least.
func exactP(ranks []int, total, least int) float64 {
	ways := make([]float64, total+1) // number of subsets of ranks with each sum
	ways[0] = 1
	for _, r := range ranks {
		for s := total; s >= r; s-- {
			ways[s] += ways[s-r]
		}
	}
	var tail float64
	for _, w := range ways[:least+1] {
		tail += w
	}
	return min(1, 2*tail/elementary.Pow(2, float64(len(ranks))))
}

// RankBiserial returns the rank-biserial correlation, from −1 to 1: the fraction of the rank sum that favours a minus the
// fraction that favours b (Kerby 2014). Without differences it is 0.
func RankBiserial(a, b []float64) float64 {
	ranks, positive := signedRanks(a, b)
	var balance, total int
	for i, r := range ranks {
		total += r
		if positive[i] {
			balance += r
		} else {
			balance -= r
		}
	}
	if total == 0 {
		return 0
	}
	return float64(balance) / float64(total)
}

// bayesSamples is the number of Monte Carlo samples, which gives probabilities within ±0.01.
const bayesSamples = 20_000

// BayesSignedRank returns the posterior probabilities that a[i] − b[i] lies below −rope, within ±rope and above rope, by
// the Bayesian signed-rank test (Benavoli, Corani, Demšar and Zaffalon 2017). The weights of the differences follow a
// Dirichlet process with one prior observation of 0. Each Monte Carlo sample counts for the region with the largest
// weight of means of pairs; ties share the count. The result depends only on the arguments. It panics if the lengths
// differ.
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
	sums := make([]float64, n+1) // prefix sums of the weights
	var count [3]float64         // samples for each region
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
		var best []int // regions equal up to rounding
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
