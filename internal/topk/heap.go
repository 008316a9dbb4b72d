package topk

import "slices"

// Heap keeps the k least of many values where k is large: a value takes a time of log k, where
// it takes one of k with Insert.
type Heap[T any] struct {
	k       int
	compare func(a, b T) int
	heap    []T // the largest first, and none larger than that at half its place
}

// NewHeap returns a heap of at most k values.
func NewHeap[T any](k int, compare func(a, b T) int) Heap[T] {
	return Heap[T]{k: k, compare: compare}
}

// Add keeps x, and drops the largest of more than k.
func (h *Heap[T]) Add(x T) {
	if len(h.heap) < h.k {
		at := len(h.heap)
		h.heap = append(h.heap, x)
		for at > 0 && h.compare(x, h.heap[(at-1)/2]) > 0 {
			h.heap[at] = h.heap[(at-1)/2]
			at = (at - 1) / 2
		}
		h.heap[at] = x
		return
	}
	if h.k == 0 || h.compare(x, h.heap[0]) >= 0 {
		return
	}
	at := 0
	for below := 1; below < h.k; below = 2*at + 1 {
		if below+1 < h.k && h.compare(h.heap[below+1], h.heap[below]) > 0 {
			below++
		}
		if h.compare(x, h.heap[below]) >= 0 {
			break
		}
		h.heap[at] = h.heap[below]
		at = below
	}
	h.heap[at] = x
}

// Last returns the largest of the k values that are kept, or ok is false where there is room for more.
func (h *Heap[T]) Last() (x T, ok bool) {
	if len(h.heap) < h.k || h.k == 0 {
		return x, false
	}
	return h.heap[0], true
}

// Values returns what is kept, rising. Nothing can be added then.
func (h *Heap[T]) Values() []T {
	slices.SortFunc(h.heap, h.compare)
	return h.heap
}
