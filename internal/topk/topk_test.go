package topk

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTopK: all give what sorting gives.
func TestTopK(t *testing.T) {
	type item struct{ value, at int }
	src := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		n, k := src.IntN(20), src.IntN(8)
		values := make([]int, n)
		items := make([]item, n)
		for i := range n {
			values[i] = src.IntN(10)
			items[i] = item{values[i], i}
		}
		byValue := func(a, b item) int { return cmp.Compare(a.value, b.value) }
		byBoth := func(a, b item) int { return cmp.Or(byValue(a, b), a.at-b.at) }
		var got []item
		heap := NewHeap(k, byBoth)
		for _, x := range items {
			got = Insert(got, k, x, byBoth)
			heap.Add(x)
		}
		want := slices.Clone(items)
		slices.SortStableFunc(want, byValue)
		want = want[:min(k, n)]
		if !slices.Equal(got, want) {
			t.Fatalf("the %d least of %v: %v, want %v", k, items, got, want)
		}
		if last, full := heap.Last(); full != (k > 0 && k <= n) || full && last != want[k-1] {
			t.Fatalf("the last of the %d least of %v is %v, want %v", k, items, last, want)
		}
		if kept := heap.Values(); !slices.Equal(kept, want) {
			t.Fatalf("the %d least of %v in a heap: %v, want %v", k, items, kept, want)
		}
		least := Least(values, k, nil)
		slices.Sort(values)
		if !slices.Equal(least, values[:min(k, n)]) {
			t.Fatalf("the %d least are %v, want %v", k, least, values[:min(k, n)])
		}
	}
}
