package significance

import (
	"cmp"
	"slices"
)

// Ranks returns the average ranks of methods over sets, 1 for the best: scores[i][j] is that of
// method j on set i, and better tells which of two is the better one. Methods that are as
// good share their mean rank. Without sets there are none.
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

// ranksOf are the ranks of one set.
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

// Friedman returns the p-value of the test that all methods are alike over the sets, by the
// ranks of Ranks, corrected for ties. With few sets and methods it is exact: the share of all ways to
// order the methods on each set, with the ties of that set, whose average ranks are at least as
// far apart. With more it is by the F distribution of Iman and Davenport 1980. It is 1 with fewer than two
// sets or methods and where all are tied.
func Friedman(scores [][]float64, better func(a, b float64) bool) (p float64, exact bool) {
	if len(scores) < 2 || len(scores[0]) < 2 {
		return 1, true
	}
	ranks := make([][]int, len(scores))
	for i, of := range scores {
		for _, r := range ranksOf(of, better) {
			ranks[i] = append(ranks[i], int(2*r))
		}
	}
	if p, ok := friedmanExact(ranks); ok {
		return p, true
	}
	return imanDavenport(ranks), false
}

// imanDavenport is the p-value of Friedman's test by the F distribution, of doubled ranks.
func imanDavenport(ranks [][]int) float64 {
	n, m := float64(len(ranks)), float64(len(ranks[0]))
	between, all := float64(apart(sumsOf(ranks)))/n, 0.0
	for _, of := range ranks {
		all += float64(apart(of))
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

// sumsOf are the sums of the ranks of each method.
func sumsOf(ranks [][]int) []int {
	sums := make([]int, len(ranks[0]))
	for _, of := range ranks {
		for j, r := range of {
			sums[j] += r
		}
	}
	return sums
}

// apart is the sum of the squares of the distances from the mean.
func apart(x []int) int {
	sum, squares := 0, 0
	for _, v := range x {
		sum += v
		squares += v * v
	}
	return squares - sum*sum/len(x) // the mean of doubled ranks is a whole number
}

// Groups returns the sets of methods that stand together: the longest runs of two or more, in
// the order of their average ranks, no two of which differ. A run that is part of another is left
// out. It is how Benavoli, Corani and Mangili 2016 draw the outcome of pairwise tests.
func Groups(ranks []float64, differ func(i, j int) bool) [][]int {
	order := make([]int, len(ranks))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ranks[a], ranks[b]) })
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
