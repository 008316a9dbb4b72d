// Package links is the algebra of must-links and cannot-links, pairs of samples that belong together and that
// do not.
package links

import (
	"fmt"
	"strings"
)

// Close returns for each of n samples the number of its group: the samples that must-links join to it, directly
// or through others, numbered from 0 in the order of their first samples. A cannot-link within a group is an
// error that names the must-links.
func Close(n int, must, cannot [][2]int) (groups []int, err error) {
	if err := CheckRows(n, must, cannot); err != nil {
		return nil, err
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
			return nil, contradiction(n, must, p)
		}
	}
	count := 0
	for i, to := range groups {
		if to == i {
			groups[i] = count
			count++
		} else {
			groups[i] = groups[to] // which is earlier, and has its number
		}
	}
	return groups, nil
}

// CheckRows returns an error for a link to a missing row.
func CheckRows(n int, must, cannot [][2]int) error {
	for kind, pairs := range [][][2]int{must, cannot} {
		for _, p := range pairs {
			if min(p[0], p[1]) < 0 || max(p[0], p[1]) >= n {
				return fmt.Errorf("%s-link (%d, %d) among %d samples", [...]string{"must", "cannot"}[kind], p[0], p[1], n)
			}
		}
	}
	return nil
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

// contradiction returns the error for a pair that cannot link although the must-links join it, which names the
// shortest way.
func contradiction(n int, must [][2]int, pair [2]int) error {
	joined := make([][]int, n)
	for _, p := range must {
		joined[p[0]] = append(joined[p[0]], p[1])
		joined[p[1]] = append(joined[p[1]], p[0])
	}
	from, to := pair[0], pair[1]
	if from == to {
		return fmt.Errorf("cannot-link (%d, %d) parts a sample from itself", from, to)
	}
	next := map[int]int{to: to} // on the way to to
	for queue := []int{to}; ; queue = queue[1:] {
		if _, ok := next[from]; ok {
			break
		}
		for _, j := range joined[queue[0]] {
			if _, ok := next[j]; !ok {
				next[j] = queue[0]
				queue = append(queue, j)
			}
		}
	}
	var way []string
	for i := from; i != to; i = next[i] {
		way = append(way, fmt.Sprintf("(%d, %d)", i, next[i]))
	}
	return fmt.Errorf("cannot-link (%d, %d) contradicts must-link %s", from, to, strings.Join(way, ", "))
}
