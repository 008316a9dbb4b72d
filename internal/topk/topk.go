// Package topk keeps the least of many values.
package topk

import (
	"cmp"
	"math"
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

// Selection keeps the values of the k least of many keys where k is large: it takes values until there are 2k
// and then leaves k. Of equal keys the earlier are the lesser. A key that is not a number is not kept.
type Selection[V any] struct {
	k, added int
	kept     []keyed[V]
	limit    float64
}

type keyed[V any] struct {
	key   float64
	place int
	value V
}

// NewSelection returns one of at most k values, 1 or more.
func NewSelection[V any](k int) *Selection[V] { return &Selection[V]{k: k, limit: math.Inf(1)} }

// Limit returns a key above which nothing is kept any more.
func (s *Selection[V]) Limit() float64 { return s.limit }

// Add keeps the value, until k others are known to come before it.
func (s *Selection[V]) Add(key float64, value V) {
	if key <= s.limit {
		s.added++
		if s.kept = append(s.kept, keyed[V]{key, s.added, value}); len(s.kept)-s.k == s.k {
			s.cut()
		}
	}
}

// Last returns the k-th least key, or infinity of fewer.
func (s *Selection[V]) Last() float64 {
	if len(s.kept) >= s.k {
		s.cut()
	}
	return s.limit
}

// Each calls f with the values of the k least keys, or of all where they are fewer, in the order in which they
// came.
func (s *Selection[V]) Each(f func(value V)) {
	s.Last()
	slices.SortFunc(s.kept, func(a, b keyed[V]) int { return cmp.Compare(a.place, b.place) })
	for _, x := range s.kept {
		f(x.value)
	}
}

// cut leaves the k least of at least k values, by Hoare's algorithm FIND.
func (s *Selection[V]) cut() {
	before := func(a, b *keyed[V]) bool { return a.key < b.key || a.key == b.key && a.place < b.place }
	x, last, lo, hi := s.kept, s.k-1, 0, len(s.kept)-1
	for lo < hi {
		pivot, i, j := x[last], lo, hi
		for i <= j {
			for before(&x[i], &pivot) {
				i++
			}
			for before(&pivot, &x[j]) {
				j--
			}
			if i <= j {
				x[i], x[j] = x[j], x[i]
				i, j = i+1, j-1
			}
		}
		if j < last {
			lo = i
		}
		if last < i {
			hi = j
		}
	}
	s.kept, s.limit = x[:s.k], x[last].key
}
