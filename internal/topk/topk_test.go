package topk

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed4492f2cd/partwise/internal/lists"
)

// TestTopK compares all functions with sorting.
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
		selection := NewSelection[item](max(k, 1))
		for _, x := range items {
			got = Insert(got, k, x, byBoth)
			if float64(x.value)-5 <= selection.Limit() {
				selection.Add(float64(x.value)-5, x)
			}
		}
		want := slices.Clone(items)
		slices.SortStableFunc(want, byValue)
		want = want[:min(k, n)]
		if !slices.Equal(got, want) {
			t.Fatalf("the %d least of %v: got %v, want %v", k, items, got, want)
		}
		var kept []item
		selection.Each(func(x item) { kept = append(kept, x) })
		slices.SortFunc(kept, byBoth)
		if !slices.Equal(kept[:min(k, len(kept))], want) || len(kept) != min(max(k, 1), n) {
			t.Fatalf("the %d least of %v in a selection: got %v, want %v", k, items, kept, want)
		}
		last := math.Inf(1)
		if n >= max(k, 1) {
			last = float64(kept[len(kept)-1].value) - 5
		}
		if selection.Last() != last {
			t.Fatalf("the last of the %d least of %v is %v, want %v", k, items, selection.Last(), last)
		}
		if k == 0 || k > n {
			continue
		}
		numbers := lists.Map(values, func(v int) float64 { return float64(v) })
		least, found := Within(numbers, k, 2, nil, nil)
		slices.SortFunc(found, Scored.Compare)
		slices.Sort(numbers)
		scores := lists.Map(found, func(f Scored) float64 { return f.Score })
		after, _ := slices.BinarySearch(numbers, numbers[k-1]+2.5)
		if !slices.Equal(least, numbers[:k]) || !slices.Equal(scores, numbers[:after]) {
			t.Fatalf("the %d least of %v are %v, and within 2 %v", k, numbers, least, scores)
		}
	}
}
