package significance

import (
	"cmp"
	"slices"
)

// Holm returns p-values corrected for how many there are: with those below a level taken for
// differences, the probability that any one of them is none is below that level, however they
// depend on each other (Holm 1979). Each is at least what it was, and at most 1.
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	out := make([]float64, len(p))
	least := 0.0
	for at, i := range order {
		least = max(least, min(1, p[i]*float64(len(p)-at)))
		out[i] = least
	}
	return out
}
