package topk

import (
	"math"

	"github.com/seed4492f2cd/partwise/internal/freelist"
)

// Selection keeps the values of the k least of many keys where k is large: it takes values until there
// are 2k and then leaves k, so that one takes a time that does not grow with k, where it takes one of k with
// Insert. Of equal keys those that came before are the lesser. A key that is not a number is not kept.
type Selection[V any] struct {
	k     int
	kept  []keyed[V]
	limit float64
}

// keyed is a value and its key.
type keyed[V any] struct {
	key   float64
	value V
}

// NewSelection returns one of at most k values, 1 or more.
func NewSelection[V any](k int) *Selection[V] {
	const most = 1 << 13
	return &Selection[V]{k: k, kept: make([]keyed[V], 0, 2*min(k, most)), limit: math.Inf(1)}
}

// Limit returns a key above which nothing is kept any more.
func (s *Selection[V]) Limit() float64 { return s.limit }

// Add keeps the value, until it is seen that k others come before it.
func (s *Selection[V]) Add(key float64, value V) {
	if !(key <= s.limit) {
		return
	}
	s.kept = append(s.kept, keyed[V]{key, value})
	if len(s.kept)-s.k == s.k {
		s.cut()
	}
}

// Last returns the k-th least key, or infinity of fewer.
func (s *Selection[V]) Last() float64 {
	if len(s.kept) >= s.k {
		s.cut()
	}
	return s.limit
}

// Each calls f with the values of the k least keys, or of all where they are fewer, in the order in which
// they came.
func (s *Selection[V]) Each(f func(value V)) {
	s.Last()
	for _, x := range s.kept {
		f(x.value)
	}
}

// cut leaves k of as many values or more.
func (s *Selection[V]) cut() {
	keys := rooms.Get()
	defer rooms.Put(keys)
	*keys = (*keys)[:0]
	for _, x := range s.kept {
		*keys = append(*keys, ordered(x.key))
	}
	key, equal := nth(*keys, s.k)
	s.limit = number(key)
	left := 0
	for _, x := range s.kept {
		s.kept[left] = x // and the next one over it, if it is not to stay: without a branch
		if x.key == s.limit {
			if equal--; equal < 0 {
				continue
			}
		}
		if x.key <= s.limit {
			left++
		}
	}
	s.kept = s.kept[:left]
}

// rooms hold the keys of which the k-th is looked for.
var rooms = freelist.List[*[]uint64]{New: func() *[]uint64 { return new([]uint64) }}

// nth returns the k-th least of keys, from 1, and how many of those that are equal to it are among the k
// least. It looks at a digit of all at a time, from the highest on, leaves those that have the k-th's, and
// overwrites keys.
func nth(keys []uint64, k int) (key uint64, equal int) {
	const bits = 8
	for shift := 64 - bits; shift >= 0; shift -= bits {
		var count [1 << bits]int
		for _, x := range keys {
			count[uint8(x>>shift)]++
		}
		digit := 0
		for ; count[digit] < k; digit++ {
			k -= count[digit]
		}
		same := 0
		for _, x := range keys {
			keys[same] = x
			if uint8(x>>shift) == uint8(digit) {
				same++
			}
		}
		keys = keys[:same]
	}
	return keys[0], k
}

const sign = 1 << 63

// ordered returns a whole number that is ordered as x is among others; number returns x.
func ordered(x float64) uint64 {
	bits := math.Float64bits(x + 0) // of −0 as of 0
	if bits&sign != 0 {
		return ^bits
	}
	return bits | sign
}

func number(key uint64) float64 {
	if key&sign != 0 {
		return math.Float64frombits(key &^ sign)
	}
	return math.Float64frombits(^key)
}
