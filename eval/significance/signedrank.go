package significance

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/rng"
)

// exactP returns the probability that, with random signs, either side of the ranks sums to at most least.
const exactPairs = 25

// Wilcoxon returns the two-sided p-value of the signed-rank test on the pairs a[i], b[i] (Wilcoxon 1945).
// Pairs without a difference are dropped; tied differences share their mean rank. Up to 25 pairs p is exact,
// ties or not; above, it is the normal approximation with corrections for ties and continuity. Without any
// difference p is 1. It panics if the lengths differ.
func Wilcoxon(a, b []float64) float64 {
	ranks, positive := signedRanks(a, b)
	n := len(ranks)
	if n == 0 {
		return 1
	}
	// Doubled ranks are whole numbers.
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
	// The variance of ΣR over random signs is ΣR²/4, which is
	// n(n+1)(2n+1)/24 less the correction for ties. Halves undo the doubling.
	deviation := math.Abs(float64(sum)-float64(total)/2) / 2
	z := max(0, deviation-0.5) / (math.Sqrt(squares/4) / 2)
	return elementary.Erfc(z / math.Sqrt2)
}

// signedRanks returns the doubled ranks of the nonzero differences, by size, and their signs.
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

// exactP returns the probability that, with random signs, either side of the doubled ranks sums to at most
// least.
func exactP(ranks []int, total, least int) float64 {
	ways := make([]float64, total+1) // the sets of ranks with each sum
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

// RankBiserial is the share of Wilcoxon's ranks that favours a minus the share that favours b (Kerby 2014),
// from −1 to 1. Without any difference it is 0.
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
