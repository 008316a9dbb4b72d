// Package lloyd holds what all forms of k-means share: starts by k-means++, and samples for empty clusters. It
// knows samples by their number only.
package lloyd

// FillEmpty gives each empty cluster the sample that costs most in its own, of those that are free to move and
// not alone there, ties to the lower index. Where there is none, clusters stay empty.
func FillEmpty[T int | int32](labels []T, counts []int, costs []float64, free func(i int) bool) {
	for j := range counts {
		if counts[j] > 0 {
			continue
		}
		farthest := -1
		for i, from := range labels {
			if counts[from] > 1 && free(i) && (farthest < 0 || costs[i] > costs[farthest]) {
				farthest = i
			}
		}
		if farthest < 0 {
			return
		}
		counts[labels[farthest]]--
		labels[farthest], counts[j] = T(j), 1
	}
}
