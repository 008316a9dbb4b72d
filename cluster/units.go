package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/matrix"
)

// units are groups of samples that are assigned together: the connected components of must-links.
type units struct {
	unitOf  []int   // unit of each sample
	members [][]int // samples of each unit, increasing
	fixed   []int   // cluster of each unit by labels, or −1
	apart   [][]int // units with a cannot-link to each unit, without repeats
	linked  []int   // units that have cannot-links
	colours []int   // a valid assignment of the linked and fixed units, from findClusters
}

// ofSamples returns the cluster of each sample, given the cluster of each unit.
func (u *units) ofSamples(clusters []int) []int { return matrix.Take(clusters, u.unitOf) }

// newUnits returns the units of n samples. Labels are clusters from 0 to k−1.
func newUnits(n, k int, known Known) (*units, error) {
	of, err := known.Close(n)
	if err != nil {
		return nil, err
	}
	count := slices.Max(of) + 1
	u := &units{unitOf: of, members: make([][]int, count), fixed: slices.Repeat([]int{-1}, count), apart: make([][]int, count)}
	for i, at := range of {
		u.members[at] = append(u.members[at], i)
		if len(known.Labels) == 0 || known.Labels[i] < 0 {
			continue
		}
		if known.Labels[i] >= k {
			return nil, fmt.Errorf("sample %d has label %d; expected less than %d", i+1, known.Labels[i], k)
		}
		u.fixed[at] = known.Labels[i]
	}
	for _, p := range known.CannotLink {
		a, b := of[p[0]], of[p[1]]
		u.apart[a], u.apart[b] = append(u.apart[a], b), append(u.apart[b], a)
	}
	for at := range u.apart {
		slices.Sort(u.apart[at])
		if u.apart[at] = slices.Compact(u.apart[at]); len(u.apart[at]) > 0 {
			u.linked = append(u.linked, at)
		}
	}
	return u, nil
}

// mostSteps bounds the search for an assignment of low cost, and mostColouring the search for any valid assignment.
const mostSteps, mostColouring = 20_000, 2_000_000

// errNoClusters means that no assignment satisfies the links; the search was exhaustive.
var errNoClusters = errors.New("the links cannot be satisfied")

// findClusters sets colours. It returns an error if no assignment to k clusters satisfies the links, or none is found.
func (u *units) findClusters(k int) error {
	if u.colours != nil {
		return nil
	}
	placed, err := u.search(k, make([]float64, len(u.members)*k), true, mostColouring)
	switch {
	case errors.Is(err, errNoClusters):
		return fmt.Errorf("the cannot-links need more than %d clusters: %w", k, ErrDeadEnd)
	case err != nil:
		return fmt.Errorf("found no %d clusters that satisfy all cannot-links: %w", k, ErrDeadEnd)
	}
	u.colours = placed
	return nil
}

// place returns the cluster with the lowest cost for each unit. Units with cannot-links get the clusters of search, or
// the clusters of colours if it fails.
func (u *units) place(k int, costs []float64) ([]int, error) {
	if err := u.findClusters(k); err != nil {
		return nil, err
	}
	placed, err := u.search(k, costs, false, mostSteps)
	if err != nil {
		placed = slices.Clone(u.colours)
	}
	for at := range placed {
		if placed[at] < 0 {
			placed[at] = floats.MinIdx(costs[at*k : (at+1)*k])
		}
	}
	return placed, nil
}

// search assigns the units with cannot-links by backtracking, the unit with the fewest choices first. With alike it
// ignores costs. Other units that are not fixed get −1. It takes at most most steps.
func (u *units) search(k int, costs []float64, alike bool, most int) ([]int, error) {
	placed, choices := slices.Clone(u.fixed), slices.Repeat([]int{k}, len(u.fixed))
	blocked := make([]int32, len(placed)*k) // number of cannot-links of each unit in each cluster
	held := make([]int, k)                  // number of units in each cluster
	put := func(at, j int, by int) {
		held[j] += by
		for _, other := range u.apart[at] {
			before := blocked[other*k+j]
			if blocked[other*k+j] += int32(by); min(before, before+int32(by)) == 0 {
				choices[other] -= by
			}
		}
	}
	var open []int
	for at, j := range placed {
		if j >= 0 {
			put(at, j, 1)
		}
	}
	for _, at := range u.linked {
		switch j := placed[at]; {
		case j < 0:
			open = append(open, at)
		case blocked[at*k+j] > 0:
			return nil, errNoClusters
		}
	}
	// Ties go to the unit that loses most in its second choice.
	matters := make([]float64, len(placed))
	for _, at := range open {
		if matters[at] = float64(len(u.apart[at])); !alike {
			if _, first, second := leastTwo(costs[at*k : (at+1)*k]); k > 1 {
				matters[at] = second - first
			}
		}
	}
	slices.SortStableFunc(open, func(a, b int) int { return cmp.Compare(matters[b], matters[a]) })

	steps := 0
	var rest func(left int) error
	rest = func(left int) error {
		if left == 0 {
			return nil
		}
		next := -1
		for _, at := range open {
			if placed[at] < 0 && (next < 0 || choices[at] < choices[next]) {
				next = at
			}
		}
		order := make([]int, 0, k)
		for j, empty := 0, false; j < k; j++ {
			if blocked[next*k+j] > 0 || alike && empty && held[j] == 0 {
				continue
			}
			empty = empty || held[j] == 0
			order = append(order, j)
		}
		if !alike {
			slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(costs[next*k+a], costs[next*k+b]) })
		}
		for _, j := range order {
			if steps++; steps > most {
				return ErrDeadEnd
			}
			placed[next] = j
			put(next, j, 1)
			err := rest(left - 1)
			if !errors.Is(err, errNoClusters) {
				return err
			}
			put(next, j, -1)
			placed[next] = -1
		}
		return errNoClusters
	}
	return placed, rest(len(open))
}

// localSearch is a local search: it moves units to the allowed clusters with the lowest cost, and swaps two cannot-linked
// units if that lowers the cost, until nothing changes or the limit is reached. placed must satisfy the links.
func (u *units) localSearch(k int, costs []float64, placed []int) {
	less := func(a, b float64) bool { return a < b-1e-12*math.Abs(b) }
	moved := true
	for turn := 0; moved && turn < defaultMaxIterations; turn++ {
		moved = false
		for at, from := range placed {
			if u.fixed[at] >= 0 {
				continue
			}
			own := costs[at*k : (at+1)*k]
			for j, c := range own {
				if less(c, own[placed[at]]) && !u.conflicts(placed, at, j, -1) {
					placed[at] = j
				}
			}
			moved = moved || placed[at] != from
		}
		for _, a := range u.linked {
			for _, b := range u.apart[a] {
				if b < a || u.fixed[a] >= 0 || u.fixed[b] >= 0 {
					continue
				}
				i, j := placed[a], placed[b]
				if less(costs[a*k+j]+costs[b*k+i], costs[a*k+i]+costs[b*k+j]) && !u.conflicts(placed, a, j, b) && !u.conflicts(placed, b, i, a) {
					placed[a], placed[b], moved = j, i, true
				}
			}
		}
	}
}

// conflicts reports whether cluster j holds a unit with a cannot-link to unit at, other than except.
func (u *units) conflicts(placed []int, at, j, except int) bool {
	for _, other := range u.apart[at] {
		if other != except && placed[other] == j {
			return true
		}
	}
	return false
}

// CheckLinks returns an error if labels and links of n samples contradict each other or if a label is not below k. If no
// k clusters satisfy the cannot-links, or none are found, the error wraps ErrDeadEnd.
func CheckLinks(n, k int, known Known) error {
	_, err := assignableUnits(n, k, known)
	return err
}

// assignableUnits returns the units of n samples, or an error if they have no assignment to k clusters.
func assignableUnits(n, k int, known Known) (*units, error) {
	u, err := newUnits(n, k, known)
	if err == nil {
		err = u.findClusters(k)
	}
	return u, err
}

// Bind repairs groups, the clusters of n samples from 0 to k−1, so that they satisfy the links and labels. It aims at
// the fewest moves, then at the smallest sum of cost(i, j) for sample i in cluster j. The error may wrap ErrDeadEnd.
func Bind(groups []int, k int, known Known, cost func(i, j int) float64) (err error) {
	defer guard.Catch(&err)
	u := guard.Must(newUnits(len(groups), k, known))
	costs := make([]float64, len(u.members)*k)
	for at, members := range u.members {
		if len(members) == 1 && len(u.apart[at]) == 0 {
			continue // keeps its group
		}
		for j := range k {
			for _, i := range members {
				costs[at*k+j] += cost(i, j)
			}
		}
	}
	u.favourGroups(groups, k, costs)
	placed := guard.Must(u.place(k, costs))
	u.localSearch(k, costs, placed)
	copy(groups, u.ofSamples(placed))
	return nil
}

// favourGroups lowers the cost of each unit in its samples' groups by more than all other costs together.
func (u *units) favourGroups(groups []int, k int, costs []float64) {
	most := 1.0 // exceeds the sum of any unit's costs
	for at := range u.members {
		sum := 0.0
		for _, c := range costs[at*k : (at+1)*k] {
			sum += math.Abs(c)
		}
		most = max(most, 2*sum)
	}
	for i, at := range u.unitOf {
		costs[at*k+groups[i]] -= most
	}
}
