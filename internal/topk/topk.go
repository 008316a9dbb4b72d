// Package topk keeps the least of many values.
package topk

import (
	"cmp"
	"slices"
)

// Insert returns least, at most k values in rising order, with x in its place among them, without the largest
// if they were k. No two values may be equal by compare.
func Insert[T any](least []T, k int, x T, compare func(a, b T) int) []T {
	if len(least) == k {
		if k == 0 || compare(x, least[k-1]) >= 0 {
			return least
		}
		least = least[:k-1]
	}
	at, _ := slices.BinarySearchFunc(least, x, compare)
	return slices.Insert(least, at, x)
}

// Least returns the k least of v in rising order, or all of fewer, in the memory of least.
func Least[T cmp.Ordered](v []T, k int, least []T) []T {
	least = least[:0]
	for _, x := range v {
		if len(least) < k {
			least = append(least, x)
		} else if k == 0 || x >= least[k-1] {
			continue
		}
		at := len(least) - 1
		for ; at > 0 && x < least[at-1]; at-- {
			least[at] = least[at-1]
		}
		least[at] = x
	}
	return least
}
