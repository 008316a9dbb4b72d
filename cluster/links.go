package cluster

import (
	"math"
	"slices"

	"github.com/seed4492f2cd/partwise/internal/links"
)

// Close follows the must-links among n samples to their end: groups holds for
// each sample the number of its group, the samples that must-links join to it
// directly or through others, numbered from 0 in the order of their first
// samples. A row that is not within 0 and n−1 is an error, and so is a pair
// that cannot link and yet must, directly or through others; the error names
// the must-links that say so.
func Close(n int, must, cannot [][2]int) (groups []int, err error) {
	return links.Close(n, must, cannot)
}

// linked holds links while samples are placed one after the other.
type linked struct {
	groups []int
	sizes  []int   // of the groups
	apart  [][]int // the groups that each group cannot share a cluster with
	places []int   // the groups' clusters, -1 for those not placed yet
}

// newLinked returns the links among n samples, with no group placed.
func newLinked(n int, must, cannot [][2]int) (*linked, error) {
	groups, err := Close(n, must, cannot)
	if err != nil {
		return nil, err
	}
	count := slices.Max(groups) + 1
	l := &linked{groups, make([]int, count), make([][]int, count), make([]int, count)}
	for _, g := range groups {
		l.sizes[g]++
	}
	for _, p := range cannot {
		a, b := groups[p[0]], groups[p[1]]
		l.apart[a] = append(l.apart[a], b)
		l.apart[b] = append(l.apart[b], a)
	}
	l.lift()
	return l, nil
}

// lift takes all groups out of their clusters.
func (l *linked) lift() {
	for g := range l.places {
		l.places[g] = -1
	}
}

// place puts sample i, with its group, in a cluster.
func (l *linked) place(i, cluster int) { l.places[l.groups[i]] = cluster }

// placed returns the cluster that sample i's group is in, or -1.
func (l *linked) placed(i int) int { return l.places[l.groups[i]] }

// alone reports whether no must-link holds sample i.
func (l *linked) alone(i int) bool { return l.sizes[l.groups[i]] == 1 }

// forbid sets to infinity the scores of the clusters that hold what sample i
// cannot link with, and reports whether a cluster is left.
func (l *linked) forbid(i int, scores []float64) bool {
	apart := l.apart[l.groups[i]]
	if len(apart) == 0 {
		return true
	}
	for _, g := range apart {
		if at := l.places[g]; at >= 0 {
			scores[at] = math.Inf(1)
		}
	}
	return slices.Min(scores) < math.Inf(1)
}
