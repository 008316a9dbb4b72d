package significance

import (
	"cmp"
	"fmt"
	"slices"
)

// Holm returns p-values corrected for their number: at any level, the probability of a false difference among
// those below it is at most that level, however they depend on each other (Holm 1979). Larger weights are
// corrected less; nil stands for equal weights. It panics if the lengths differ.
func Holm(p, weights []float64) []float64 {
	if weights == nil {
		weights = slices.Repeat([]float64{1}, len(p))
	}
	if len(weights) != len(p) {
		panic(fmt.Sprintf("significance: %d weights of %d p-values", len(weights), len(p)))
	}
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a]/weights[a], p[b]/weights[b]) })
	left := make([]float64, len(p)+1) // the weights from one on, added up from the end
	for at, i := range slices.Backward(order) {
		left[at] = left[at+1] + weights[i]
	}
	out := make([]float64, len(p))
	least := 0.0
	for at, i := range order {
		least = max(least, min(1, p[i]/weights[i]*left[at]))
		out[i] = max(least, p[i])
	}
	return out
}
