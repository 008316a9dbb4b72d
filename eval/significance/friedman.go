package significance

import (
	"cmp"
	"maps"
	"slices"

	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/lists"
)

// Ranks returns the average rank of each method over data sets, 1 for the best. scores[i][j] is the score of method j on
// set i. Tied methods share their mean rank.
func Ranks(scores [][]float64, better func(a, b float64) bool) []float64 {
	if len(scores) == 0 {
		return nil
	}
	ranks := make([]float64, len(scores[0]))
	for _, of := range scores {
		for j, r := range ranksOf(of, better) {
			ranks[j] += r / float64(len(scores))
		}
	}
	return ranks
}

func ranksOf(scores []float64, better func(a, b float64) bool) []float64 {
	ranks := make([]float64, len(scores))
	for i, x := range scores {
		ranks[i] = 1
		for j, y := range scores {
			switch {
			case better(y, x):
				ranks[i]++
			case j != i && !better(x, y):
				ranks[i] += 0.5
			}
		}
	}
	return ranks
}

// Friedman returns the p-value of the Friedman test of equal methods over data sets, corrected for ties. For few sets and
// methods it is exact, by enumeration of the permutations of ranks on each set. Otherwise it uses the F distribution
// (Iman and Davenport 1980). It is 1 for fewer than two sets or methods, and if all are tied. scores and better are as for
// [Ranks].
func Friedman(scores [][]float64, better func(a, b float64) bool) (p float64, exact bool) {
	if len(scores) < 2 || len(scores[0]) < 2 {
		return 1, true
	}
	ranks := lists.Map(scores, func(of []float64) []int {
		return lists.Map(ranksOf(of, better), func(r float64) int { return int(2 * r) })
	})
	if p, ok := friedmanExact(ranks); ok {
		return p, true
	}
	return imanDavenport(ranks), false
}

// imanDavenport returns the p-value by the F distribution; ranks are doubled.
func imanDavenport(ranks [][]int) float64 {
	n, m := float64(len(ranks)), float64(len(ranks[0]))
	between, all := float64(squaredDeviations(sumsOf(ranks)))/n, 0.0
	for _, of := range ranks {
		all += float64(squaredDeviations(of))
	}
	within := (all - between) / (n - 1)
	switch {
	case between <= 0:
		return 1
	case within <= rounding*all: // all sets agree
		return 0
	}
	return beyondF(between/within, m-1, (m-1)*(n-1))
}

func sumsOf(ranks [][]int) []int {
	sums := make([]int, len(ranks[0]))
	for _, of := range ranks {
		for j, r := range of {
			sums[j] += r
		}
	}
	return sums
}

func squaredDeviations(x []int) int {
	sum, squares := 0, 0
	for _, v := range x {
		sum += v
		squares += v * v
	}
	return squares - sum*sum/len(x) // exact: the mean of doubled ranks is an integer
}

// Groups returns the maximal runs, in the order of average ranks, of two or more methods that do not differ pairwise
// (Benavoli, Corani and Mangili 2016).
func Groups(ranks []float64, differ func(i, j int) bool) [][]int {
	order := elementary.Order(len(ranks), func(a, b int) int { return cmp.Compare(ranks[a], ranks[b]) })
	var out [][]int
	reached := 0
	for first := range order {
		end := first + 1
		for end < len(order) && !slices.ContainsFunc(order[first:end], func(i int) bool { return differ(i, order[end]) }) {
			end++
		}
		if end-first > 1 && end > reached {
			out = append(out, slices.Clone(order[first:end]))
			reached = end
		}
	}
	return out
}

// mostSteps bounds the steps of friedmanExact.
const mostSteps = 1 << 20

// friedmanExact returns the fraction of permutations whose rank sums are at least as far apart as the observed ones, or
// false if it exceeds mostSteps. After each set it merges permutations with the same sorted sums.
func friedmanExact(ranks [][]int) (p float64, ok bool) {
	type ways struct {
		sums  []int
		share float64
	}
	first := slices.Sorted(slices.Values(ranks[0]))
	now := map[string]ways{"": {first, 1}}
	steps := 0
	for _, of := range ranks[1:] {
		orders := ordersOf(of)
		if steps += len(now) * len(orders); orders == nil || steps > mostSteps {
			return 0, false
		}
		next := make(map[string]ways)
		sums, key := make([]int, len(of)), make([]byte, 0, 2*len(of))
		for _, at := range slices.Sorted(maps.Keys(now)) { // a fixed order of summation
			w := now[at]
			for _, order := range orders {
				for j, r := range order {
					sums[j] = w.sums[j] + r
				}
				slices.Sort(sums)
				key = key[:0]
				for _, s := range sums {
					key = append(key, byte(s), byte(s>>8))
				}
				to, known := next[string(key)]
				if !known {
					to.sums = slices.Clone(sums)
				}
				to.share += w.share / float64(len(orders))
				next[string(key)] = to
			}
		}
		now = next
	}
	observed := squaredDeviations(sumsOf(ranks))
	for _, at := range slices.Sorted(maps.Keys(now)) {
		if w := now[at]; squaredDeviations(w.sums) >= observed {
			p += w.share
		}
	}
	return min(1, p), true
}

// ordersOf returns all distinct permutations of x, or nil if there are too many.
func ordersOf(x []int) [][]int {
	at := slices.Sorted(slices.Values(x))
	orders := [][]int{slices.Clone(at)}
	for {
		// The next permutation in lexical order.
		i := len(at) - 2
		for i >= 0 && at[i] >= at[i+1] {
			i--
		}
		if i < 0 {
			return orders
		}
		j := len(at) - 1
		for at[j] <= at[i] {
			j--
		}
		at[i], at[j] = at[j], at[i]
		slices.Reverse(at[i+1:])
		if len(orders) == mostSteps/16 {
			return nil
		}
		orders = append(orders, slices.Clone(at))
	}
}
