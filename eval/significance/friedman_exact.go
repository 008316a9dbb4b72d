package significance

import (
	"maps"
	"slices"
)

// mostSteps bounds the work of friedmanExact: how often the ranks of a set are added to sums.
const mostSteps = 1 << 20

// friedmanExact returns the share of all ways to order the ranks of each set among the methods
// that bring the sums of the methods at least as far apart as they are, or false where that takes
// too long. Only the sums matter, in any order, so that after each set the ways are counted by
// the sums they lead to.
func friedmanExact(ranks [][]int) (p float64, ok bool) {
	type ways struct {
		sums  []int
		share float64
	}
	first := slices.Sorted(slices.Values(ranks[0]))
	now := map[string]ways{"": {first, 1}}
	steps := 0
	for _, of := range ranks[1:] {
		orders := ordersOf(of)
		if steps += len(now) * len(orders); orders == nil || steps > mostSteps {
			return 0, false
		}
		next := make(map[string]ways)
		sums, key := make([]int, len(of)), make([]byte, 0, 2*len(of))
		for _, at := range slices.Sorted(maps.Keys(now)) { // sums of shares depend on their order
			w := now[at]
			for _, order := range orders {
				for j, r := range order {
					sums[j] = w.sums[j] + r
				}
				slices.Sort(sums)
				key = key[:0]
				for _, s := range sums {
					key = append(key, byte(s), byte(s>>8))
				}
				to, known := next[string(key)]
				if !known {
					to.sums = slices.Clone(sums)
				}
				to.share += w.share / float64(len(orders))
				next[string(key)] = to
			}
		}
		now = next
	}
	observed := apart(sumsOf(ranks))
	for _, at := range slices.Sorted(maps.Keys(now)) {
		if w := now[at]; apart(w.sums) >= observed {
			p += w.share
		}
	}
	return min(1, p), true
}

// ordersOf returns all orders of x that differ, or nil where they are too many.
func ordersOf(x []int) [][]int {
	at := slices.Sorted(slices.Values(x))
	orders := [][]int{slices.Clone(at)}
	for {
		// The next one in lexical order.
		i := len(at) - 2
		for i >= 0 && at[i] >= at[i+1] {
			i--
		}
		if i < 0 {
			return orders
		}
		j := len(at) - 1
		for at[j] <= at[i] {
			j--
		}
		at[i], at[j] = at[j], at[i]
		slices.Reverse(at[i+1:])
		if len(orders) == mostSteps/16 {
			return nil
		}
		orders = append(orders, slices.Clone(at))
	}
}
