// Package links is the algebra of must-links and cannot-links, pairs of samples that belong together and that
// do not.
package links

import "fmt"

// Close returns for each of n samples the number of its group: the samples that must-links join, directly or not,
// numbered from 0 in the order of their first samples. A cannot-link within a group is an error.
func Close(n int, must, cannot [][2]int) (groups []int, err error) {
	for kind, pairs := range [][][2]int{must, cannot} {
		for _, p := range pairs {
			if min(p[0], p[1]) < 0 || max(p[0], p[1]) >= n {
				return nil, fmt.Errorf("%s-link (%d, %d) among %d samples", [...]string{"must", "cannot"}[kind], p[0], p[1], n)
			}
		}
	}
	// Each sample points to an earlier one of its group, the first to itself.
	groups = make([]int, n)
	for i := range groups {
		groups[i] = i
	}
	first := func(i int) int {
		for groups[i] != i {
			groups[i] = groups[groups[i]]
			i = groups[i]
		}
		return i
	}
	for _, p := range must {
		a, b := first(p[0]), first(p[1])
		groups[max(a, b)] = min(a, b)
	}
	for _, p := range cannot {
		if first(p[0]) == first(p[1]) {
			return nil, contradiction(p)
		}
	}
	count := 0
	for i, to := range groups {
		if to != i {
			groups[i] = groups[to] // which is earlier, and has its number
			continue
		}
		groups[i] = count
		count++
	}
	return groups, nil
}

// once returns each pair of two samples once, with its lower row first, unless it is left out.
func once(pairs [][2]int, leftOut func(i, j int) bool) [][2]int {
	var out [][2]int
	seen := map[[2]int]bool{}
	for _, p := range pairs {
		p = [2]int{min(p[0], p[1]), max(p[0], p[1])}
		if p[0] != p[1] && !seen[p] && !leftOut(p[0], p[1]) {
			seen[p] = true
			out = append(out, p)
		}
	}
	return out
}

// contradiction is the error for a pair that cannot link although must-links or labels join it.
func contradiction(pair [2]int) error {
	if pair[0] == pair[1] {
		return fmt.Errorf("cannot-link (%d, %d) parts a sample from itself", pair[0], pair[1])
	}
	return fmt.Errorf("cannot-link (%d, %d) contradicts must-links or labels, which join them", pair[0], pair[1])
}
