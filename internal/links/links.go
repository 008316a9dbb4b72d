// Package links computes with labels and with must-links and cannot-links, pairs of samples that must and must not be in
// the same class.
package links

import (
	"fmt"
	"slices"

	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/matrix"
)

// Close returns the transitive closure of must-links: for each of n samples the number of its connected component, from 0
// in the order of first samples. A cannot-link within a component is an error.
func Close(n int, must, cannot [][2]int) (groups []int, err error) {
	for kind, pairs := range [][][2]int{must, cannot} {
		for _, p := range pairs {
			if min(p[0], p[1]) < 0 || max(p[0], p[1]) >= n {
				return nil, fmt.Errorf("%s-link (%d, %d): expected samples from 0 to less than %d", [...]string{"must", "cannot"}[kind], p[0], p[1], n)
			}
		}
	}
	// Union-find: each sample points to an earlier one of its component, the first one to itself.
	groups = matrix.Range(n)
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
			groups[i] = groups[to] // to is earlier, so it already has its number
			continue
		}
		groups[i] = count
		count++
	}
	return groups, nil
}

// distinctPairs returns the distinct pairs of different samples, lower row first, without the pairs that leftOut reports.
func distinctPairs(pairs [][2]int, leftOut func(i, j int) bool) [][2]int {
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

// contradiction returns the error for a cannot-link within a component of must-links and labels.
func contradiction(pair [2]int) error {
	if pair[0] == pair[1] {
		return fmt.Errorf("cannot-link (%d, %d) joins a sample with itself", pair[0], pair[1])
	}
	return fmt.Errorf("cannot-link (%d, %d) contradicts must-links or labels", pair[0], pair[1])
}

// Known holds labels and links of n samples. Its zero value has none.
type Known struct {
	// Labels holds each sample's class, numbered from 0, or -1 if it is unlabelled; it has n elements or none. The
	// labels of two samples imply their link.
	Labels []int
	// MustLink and CannotLink hold pairs of rows that must, and must not, be in the same class.
	MustLink, CannotLink [][2]int
}

// Check returns an error if labels and links do not fit n samples or contradict each other.
func (k Known) Check(n int) error {
	if len(k.MustLink) == 0 && len(k.CannotLink) == 0 {
		return k.checkLabels(n)
	}
	_, err := k.Close(n)
	return err
}

func (k Known) checkLabels(n int) error {
	if len(k.Labels) != 0 && len(k.Labels) != n {
		return fmt.Errorf("%d labels for %d samples", len(k.Labels), n)
	}
	for i, c := range k.Labels {
		if c < -1 {
			return fmt.Errorf("sample %d has label %d; expected 0 or more, or -1 for unknown", i+1, c)
		}
	}
	return nil
}

// Close is the function Close with must-links implied by labels. A component with two labels is an error.
func (k Known) Close(n int) (groups []int, err error) {
	defer guard.Catch(&err)
	guard.Check(k.checkLabels(n))
	var must [][2]int
	first := map[int]int{}
	for i, c := range k.Labels {
		if f, ok := first[c]; ok {
			must = append(must, [2]int{f, i})
		} else if c >= 0 {
			first[c] = i
		}
	}
	groups = guard.Must(Close(n, append(must, k.MustLink...), k.CannotLink))
	labelled := map[int]int{} // the first labelled sample of each component
	for i, c := range k.Labels {
		if c < 0 {
			continue
		}
		if f, ok := labelled[groups[i]]; ok && k.Labels[f] != c {
			return nil, contradiction([2]int{f, i})
		} else if !ok {
			labelled[groups[i]] = i
		}
	}
	return groups, nil
}

// BothLabelled reports whether samples i and j both have a label, so that a link between them is redundant.
func (k Known) BothLabelled(i, j int) bool {
	return len(k.Labels) > 0 && k.Labels[i] >= 0 && k.Labels[j] >= 0
}

// BeyondLabels returns the distinct links that labels do not imply, lower row first. It returns the same errors as Close.
func (k Known) BeyondLabels(n int) (must, cannot [][2]int, err error) {
	defer guard.Catch(&err)
	guard.Must(k.Close(n))
	return distinctPairs(k.MustLink, k.BothLabelled), distinctPairs(k.CannotLink, k.BothLabelled), nil
}

// Labelled returns the samples with a label of 0 or more.
func Labelled(labels []int) (samples []int) {
	return lists.Indices(labels, func(c int) bool { return c >= 0 })
}

// Pairs returns an iterator over all pairs of labelled samples and all other links of n samples, and their number.
func (k Known) Pairs(n int) (each func(f func(i, j int, must bool)), count int, err error) {
	must, cannot, err := k.BeyondLabels(n)
	if err != nil {
		return nil, 0, err
	}
	labelled := Labelled(k.Labels)
	return func(f func(i, j int, must bool)) {
		for at, i := range labelled {
			for _, j := range labelled[:at] {
				f(j, i, k.Labels[i] == k.Labels[j])
			}
		}
		for at, p := range slices.Concat(must, cannot) {
			f(p[0], p[1], at < len(must))
		}
	}, len(must) + len(cannot) + len(labelled)*(len(labelled)-1)/2, nil
}

// Classes returns the classes of n samples, renumbered from 0 in the order of first samples, or -1 for unlabelled
// samples, and the number of classes. Labels may be any numbers ≥ 0.
func (k Known) Classes(n int) (class []int, count int) {
	number := map[int]int{}
	class = slices.Repeat([]int{-1}, n)
	for i, label := range k.Labels {
		if label < 0 {
			continue
		}
		if _, ok := number[label]; !ok {
			number[label] = len(number)
		}
		class[i] = number[label]
	}
	return class, len(number)
}
