package significance

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
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
// ranks of Ranks, corrected for ties, with the F distribution of Iman and Davenport 1980. It is
// 1 with fewer than two sets or methods and where all are tied, and 0 where all sets agree, of
// which the distribution says no more.
func Friedman(scores [][]float64, better func(a, b float64) bool) float64 {
	n := float64(len(scores))
	if n < 2 || len(scores[0]) < 2 {
		return 1
	}
	m := float64(len(scores[0]))
	var between, all float64
	for _, r := range Ranks(scores, better) {
		between += n * (r - (m+1)/2) * (r - (m+1)/2)
	}
	for _, of := range scores {
		for _, r := range ranksOf(of, better) {
			all += (r - (m+1)/2) * (r - (m+1)/2)
		}
	}
	if between <= rounding*all {
		return 1
	}
	within := (all - between) / (n - 1)
	if within <= rounding*all {
		return 0
	}
	f := distuv.F{D1: m - 1, D2: (m - 1) * (n - 1)}
	p := 1 - f.CDF(between/within)
	return min(1, max(0, p))
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
