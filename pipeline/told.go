package pipeline

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/links"
)

// tells reports whether anything is told of the samples.
func (g Groups) tells() bool { return g.UseLabels || !g.Links.None() }

// told is what is known of the samples of a set. Must-links are followed to their end,
// also through samples that are left out later.
type told struct {
	unit    []int // of each sample: those that must-links join
	labels  []int // the class of each sample, or that of one that it must link to, or −1
	classes int
	links   datasets.Links
}

// told returns what is known of the samples of a set, which holds no contradictions.
func (g Groups) told(set *datasets.Set) told {
	t := told{labels: slices.Repeat([]int{-1}, set.Len()), classes: len(set.Classes), links: g.Links}
	t.unit, _ = links.Close(set.Len(), g.Links.Must, nil) // whose rows are checked where they are read
	if !g.UseLabels {
		return t
	}
	class := slices.Repeat([]int{-1}, set.Len()) // of each unit
	for i, c := range set.Labels {
		if c >= 0 {
			class[t.unit[i]] = c
		}
	}
	for i, u := range t.unit {
		t.labels[i] = class[u]
	}
	return t
}

// sizes returns how many of some samples are known to be of each class.
func (t told) sizes(rows []int) []int {
	sizes := make([]int, t.classes)
	for _, i := range rows {
		if c := t.labels[i]; c >= 0 {
			sizes[c]++
		}
	}
	return sizes
}

// free returns how many groups some samples of no known class could be in, those that belong
// together in one.
func (t told) free(rows []int) int {
	units := map[int]bool{}
	for _, i := range rows {
		if t.labels[i] < 0 {
			units[t.unit[i]] = true
		}
	}
	return len(units)
}

// of returns what is known of some samples, by their places among rows. A sample that is not
// among them stands for the first that is, of those that must link to it.
func (t told) of(rows []int) (classLabels, factor.Known) {
	labels := make([]int, len(rows))
	place, first := map[int]int{}, map[int]int{} // of a sample, and of the first of a unit
	for at, i := range rows {
		labels[at] = t.labels[i]
		place[i] = at
		if _, ok := first[t.unit[i]]; !ok {
			first[t.unit[i]] = at
		}
	}
	keep := func(pairs [][2]int) (kept [][2]int) {
		for _, p := range pairs {
			var to [2]int
			all := true
			for end, i := range p {
				at, ok := place[i]
				if !ok {
					at, ok = first[t.unit[i]]
				}
				to[end] = at
				all = all && ok
			}
			if all && to[0] != to[1] {
				kept = append(kept, to)
			}
		}
		return kept
	}
	known := newClassLabels(labels, t.classes)
	return known, factor.Known{Labels: known.labels, MustLink: keep(t.links.Must), CannotLink: keep(t.links.Cannot)}
}

// bind moves samples so that groups, of which k are asked for, hold to links: as few as may
// be, and those to groups whose means among the points are near. Samples of known classes
// stay.
func (t classLabels) bind(groups []int, k int, known factor.Known, points mat.Matrix, d cluster.Distance) error {
	k = max(k, slices.Max(groups)+1)
	known.Labels = slices.Repeat([]int{-1}, len(groups))
	for i, c := range t.labels {
		if c >= 0 {
			known.Labels[i] = groups[i]
		}
	}
	if holds(groups, known) {
		return nil
	}
	n, m := points.Dims()
	means, sizes, weights := mat.NewDense(k, m, nil), make([]float64, k), make([]float64, n)
	eachValue(points, allRows(points), func(i, _ int, v float64) { weights[i] += v * v })
	for i, w := range weights {
		switch weights[i] = 1; {
		case d == cluster.DistanceCosine && w > 0:
			weights[i] = 1 / math.Sqrt(w)
		}
		sizes[groups[i]]++
	}
	eachValue(points, allRows(points), func(i, j int, v float64) {
		means.Set(groups[i], j, means.At(groups[i], j)+weights[i]*v/sizes[groups[i]])
	})
	lengths := make([]float64, k)
	for g := range k {
		lengths[g] = mat.Dot(means.RowView(g), means.RowView(g))
	}
	return cluster.Bind(groups, k, cluster.Known(known), func(i, g int) float64 {
		cost := lengths[g]
		eachValue(points, []int{i}, func(_, j int, v float64) { cost -= 2 * weights[i] * v * means.At(g, j) })
		return cost
	})
}

// holds tells whether groups hold to links already.
func holds(groups []int, known factor.Known) bool {
	for _, p := range known.MustLink {
		if groups[p[0]] != groups[p[1]] {
			return false
		}
	}
	for _, p := range known.CannotLink {
		if groups[p[0]] == groups[p[1]] {
			return false
		}
	}
	return true
}
