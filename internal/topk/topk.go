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

// Least returns the k least of v in rising order, or all of fewer, in room, which it is lent.
func Least[T cmp.Ordered](v []T, k int, room []T) []T {
	least := room[:0]
	for _, x := range v {
		if len(least) < k || k > 0 && x < least[k-1] {
			least = Among(least, k, x)
		}
	}
	return least
}

// Among returns least, at most k values in rising order, with x in its place among them, without the largest if
// they were k.
func Among[T cmp.Ordered](least []T, k int, x T) []T {
	if len(least) < k {
		least = append(least, x)
	} else if k == 0 || x >= least[k-1] {
		return least
	}
	at := len(least) - 1
	for ; at > 0 && x < least[at-1]; at-- {
		least[at] = least[at-1]
	}
	least[at] = x
	return least
}
