// Package topk selects the k smallest of many values.
package topk

import (
	"cmp"
	"math"
	"slices"
)

// Scored is a row with a score, such as its distance.
type Scored struct {
	Row   int
	Score float64
}

// Compare orders by score, then by row.
func (a Scored) Compare(b Scored) int { return cmp.Or(cmp.Compare(a.Score, b.Score), a.Row-b.Row) }

// Insert inserts x into least, at most k values in increasing order, and drops the largest if there were k. No two
// values may be equal by compare. It costs O(k); see Selection for large k.
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

// Within returns the values of v that exceed the k-th smallest by slack at most, in any order; k is from 1 to the number of
// values. It reuses the memory of least and found.
func Within[T float32 | float64](v []T, k int, slack float64, least []T, found []Scored) ([]T, []Scored) {
	least, found = least[:0], found[:0]
	limit := T(math.Inf(1))
	for j, x := range v {
		if !(x <= limit) {
			continue
		}
		found = append(found, Scored{j, float64(x)})
		if len(least) < k {
			least = append(least, x)
		}
		at := len(least) - 1
		for ; at > 0 && x < least[at-1]; at-- {
			least[at] = least[at-1]
		}
		if least[at] = min(least[at], x); len(least) == k {
			limit = T(float64(least[k-1]) + slack)
		}
	}
	return least, slices.DeleteFunc(found, func(f Scored) bool { return f.Score > float64(limit) })
}

// Selection selects the values of the k smallest keys in amortised O(1) per value: it collects 2k values, then drops
// the k largest. Equal keys are ordered by their insertion. NaN keys are ignored.
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

// NewSelection returns a Selection of at most k ≥ 1 values.
func NewSelection[V any](k int) *Selection[V] { return &Selection[V]{k: k, limit: math.Inf(1)} }

// Limit returns an upper bound of the keys that Add still accepts.
func (s *Selection[V]) Limit() float64 { return s.limit }

// Add adds a value with its key.
func (s *Selection[V]) Add(key float64, value V) {
	if key <= s.limit {
		s.added++
		if s.kept = append(s.kept, keyed[V]{key, s.added, value}); len(s.kept)-s.k == s.k {
			s.cut()
		}
	}
}

// Last returns the k-th smallest key, or infinity if there are fewer.
func (s *Selection[V]) Last() float64 {
	if len(s.kept) >= s.k {
		s.cut()
	}
	return s.limit
}

// Each calls f with the values of the k smallest keys, or of all if there are fewer, in the order of their insertion.
func (s *Selection[V]) Each(f func(value V)) {
	s.Last()
	slices.SortFunc(s.kept, func(a, b keyed[V]) int { return cmp.Compare(a.place, b.place) })
	for _, x := range s.kept {
		f(x.value)
	}
}

// cut keeps the k smallest of at least k values, by quickselect (Hoare's FIND).
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
