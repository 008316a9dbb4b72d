package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// units are samples that are placed as one: those that must-links join, directly or through others.
type units struct {
	of      []int   // the unit of each sample
	members [][]int // the samples of each unit, rising
	fixed   []int   // the cluster that labels give each unit, or −1
	apart   [][]int // the units that links part from each unit, each once
	linked  []int   // the units that are parted from any
	colours []int   // an answer for the linked and the fixed units, once one was looked for
}

// newUnits returns what is known of n samples, whose labels are clusters from 0 to k−1.
func newUnits(n, k int, known Known) (*units, error) {
	of, err := known.Close(n)
	if err != nil {
		return nil, err
	}
	count := slices.Max(of) + 1
	u := &units{of: of, members: make([][]int, count), fixed: slices.Repeat([]int{-1}, count), apart: make([][]int, count)}
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

// mostSteps bounds the search for clusters of units that links part, and mostColouring that for any such
// clusters.
const mostSteps, mostColouring = 20_000, 2_000_000

// errNoClusters says that links allow no such clusters, which is certain.
var errNoClusters = errors.New("the links cannot be satisfied")

// findClusters returns an error where no k clusters hold to the links, or none are found.
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

// place returns the cheapest cluster of each unit. Units that links part get the clusters that search finds in
// time, or any that hold to the links.
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

// search finds clusters for the units that links part, the one with the least choice first, and goes back from
// dead ends. With alike costs say nothing. Other units that are not fixed get −1.
func (u *units) search(k int, costs []float64, alike bool, most int) ([]int, error) {
	placed, choices := slices.Clone(u.fixed), slices.Repeat([]int{k}, len(u.fixed))
	blocked := make([]int32, len(placed)*k) // how many units in each cluster a unit is parted from
	held := make([]int, k)                  // units in each cluster
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
	// Of units with equal choice the one goes first to which its choice matters most.
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

// lowerAll moves units to the cheapest clusters that links allow, and swaps two parted units where that costs
// less, until none moves, within limits. placed must hold to the links.
func (u *units) lowerAll(k int, costs []float64, placed []int) {
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
				if less(c, own[placed[at]]) && !u.holds(placed, at, j, -1) {
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
				if less(costs[a*k+j]+costs[b*k+i], costs[a*k+i]+costs[b*k+j]) && !u.holds(placed, a, j, b) && !u.holds(placed, b, i, a) {
					placed[a], placed[b], moved = j, i, true
				}
			}
		}
	}
}

// holds tells whether cluster j holds a unit that unit at is parted from, but for one.
func (u *units) holds(placed []int, at, j, except int) bool {
	for _, other := range u.apart[at] {
		if other != except && placed[other] == j {
			return true
		}
	}
	return false
}

// CheckLinks returns an error where what is known of n samples contradicts itself, where a label is not below
// k, or where no k clusters part all samples that cannot link: that error wraps ErrDeadEnd.
func CheckLinks(n, k int, known Known) error {
	_, err := placeable(n, k, known)
	return err
}

// placeable returns units that can be placed in k clusters.
func placeable(n, k int, known Known) (*units, error) {
	u, err := newUnits(n, k, known)
	if err == nil {
		err = u.findClusters(k)
	}
	return u, err
}

// Bind moves as few samples as it can so that groups, the clusters of n samples from 0 to k−1, hold to the
// links and labels. cost returns what sample i costs in cluster j, which decides between equal numbers of moves.
func Bind(groups []int, k int, known Known, cost func(i, j int) float64) error {
	u, err := newUnits(len(groups), k, known)
	if err != nil {
		return err
	}
	costs := make([]float64, len(u.members)*k)
	for at, members := range u.members {
		if len(members) == 1 && len(u.apart[at]) == 0 {
			continue // stays
		}
		for j := range k {
			for _, i := range members {
				costs[at*k+j] += cost(i, j)
			}
		}
	}
	u.keep(groups, k, costs)
	placed, err := u.place(k, costs)
	if err != nil {
		return err
	}
	u.lowerAll(k, costs, placed)
	for i, at := range u.of {
		groups[i] = placed[at]
	}
	return nil
}

// keep makes it cost more to move a sample out of its group than all else.
func (u *units) keep(groups []int, k int, costs []float64) {
	most := 1.0 // more than all costs of a unit together
	for at := range u.members {
		sum := 0.0
		for _, c := range costs[at*k : (at+1)*k] {
			sum += math.Abs(c)
		}
		most = max(most, 2*sum)
	}
	for i, at := range u.of {
		costs[at*k+groups[i]] -= most
	}
}
