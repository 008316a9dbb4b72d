package grouping

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/links"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

func (g Groups) hasConstraints() bool { return g.UseLabels || !g.Links.None() }

// constraints holds the labels and links of all samples of a set. Must-links also join samples through skipped ones.
type constraints struct {
	unit    []int // of each sample: must-linked samples share a unit
	labels  []int // the class of each sample's unit, or −1
	classes int
	links   datasets.Links
}

// constraints returns the consistent labels and links of the samples of a set.
func (g Groups) constraints(set *datasets.Set) constraints {
	t := constraints{labels: slices.Repeat([]int{-1}, set.Len()), classes: len(set.Classes), links: g.Links}
	t.unit, _ = links.Close(set.Len(), g.Links.Must, nil) // readers have checked the rows
	if !g.UseLabels {
		return t
	}
	class := slices.Repeat([]int{-1}, set.Len()) // of each unit
	for _, i := range lists.Indices(set.Labels, isKnown) {
		class[t.unit[i]] = set.Labels[i]
	}
	t.labels = matrix.Take(class, t.unit)
	return t
}

// sizes returns the number of rows of each class, and the number of units among the unlabelled rows.
func (t constraints) sizes(rows []int) (sizes []int, free int) {
	units := map[int]bool{}
	for _, i := range rows {
		if t.labels[i] < 0 {
			units[t.unit[i]] = true
		}
	}
	return classSizes(matrix.Take(t.labels, rows), t.classes), len(units)
}

// forRows returns the labels and links of rows, by their index in rows. In links, the first row of a unit replaces its
// skipped samples.
func (t constraints) forRows(rows []int) (classLabels, factor.Known) {
	first := map[int]int{} // row of a unit
	for at, i := range slices.Backward(rows) {
		first[t.unit[i]] = at
	}
	place := input.PlacesOf(rows, len(t.unit))
	for i, unit := range t.unit {
		if at, ok := first[unit]; ok && place[i] < 0 {
			place[i] = at
		}
	}
	keep := func(pairs [][2]int) [][2]int {
		return slices.DeleteFunc(input.PairsAt(pairs, place), func(p [2]int) bool { return p[0] == p[1] })
	}
	known := newClassLabels(matrix.Take(t.labels, rows), t.classes)
	return known, factor.Known{Labels: known.labels, MustLink: keep(t.links.Must), CannotLink: keep(t.links.Cannot)}
}

func isKnown(class int) bool { return class >= 0 }

func classSizes(labels []int, classes int) []int {
	sizes := make([]int, classes)
	for _, c := range labels {
		if c >= 0 {
			sizes[c]++
		}
	}
	return sizes
}

// classLabels are the labels of samples, numbered without classes that have no sample.
type classLabels struct {
	labels  []int // the class of each sample, an index of classes, or −1
	classes []int // indices of the set's classes
}

// newClassLabels numbers the classes of labels, which are below classes.
func newClassLabels(labels []int, classes int) classLabels {
	used := lists.Indices(classSizes(labels, classes), func(size int) bool { return size > 0 })
	t := classLabels{slices.Repeat([]int{-1}, len(labels)), used}
	number := input.PlacesOf(used, classes)
	for _, i := range lists.Indices(labels, isKnown) {
		t.labels[i] = number[labels[i]]
	}
	return t
}

// enforce moves labelled samples so that each class has one group: the group of the best one-to-one mapping of groups
// to classes, else the smallest unmapped group, else a new group.
func (t classLabels) enforce(groups []int) {
	if len(t.classes) == 0 {
		return
	}
	labelled := lists.Indices(t.labels, isKnown)
	to := slices.Repeat([]int{-1}, len(t.classes))
	size := classSizes(groups, max(slices.Max(groups)+1, len(to)))
	others := matrix.Range(len(size))
	slices.SortStableFunc(others, func(a, b int) int { return size[a] - size[b] })
	for group, c := range eval.Mapping(matrix.Take(t.labels, labelled), matrix.Take(groups, labelled)) {
		to[c] = group
		others = slices.DeleteFunc(others, func(g int) bool { return g == group })
	}
	for c := range to {
		if to[c] < 0 {
			to[c], others = others[0], others[1:]
		}
	}
	for _, i := range labelled {
		groups[i] = to[t.labels[i]]
	}
}

// classesOfGroups returns the class of each group's labelled samples, an index of the set's classes, or −1.
func (t classLabels) classesOfGroups(groups []int) []int {
	out := slices.Repeat([]int{-1}, slices.Max(groups)+1)
	for _, i := range lists.Indices(t.labels, isKnown) {
		out[groups[i]] = t.classes[t.labels[i]]
	}
	return out
}

// satisfyLinks satisfies the links with k groups by moving as few samples as possible to groups with near means. Labelled
// samples stay.
func (t classLabels) satisfyLinks(groups []int, k int, known factor.Known, points mat.Matrix, d cluster.Distance) error {
	k = max(k, slices.Max(groups)+1)
	known.Labels = slices.Repeat([]int{-1}, len(groups))
	for _, i := range lists.Indices(t.labels, isKnown) {
		known.Labels[i] = groups[i]
	}
	apart := func(p [2]int) bool { return groups[p[0]] != groups[p[1]] }
	if !slices.ContainsFunc(known.MustLink, apart) && !slices.ContainsFunc(known.CannotLink, func(p [2]int) bool { return !apart(p) }) {
		return nil
	}
	n, m := points.Dims()
	means, weights := mat.NewDense(k, m, nil), make([]float64, n)
	matrix.EachValue(points, matrix.AllRows(points), func(i, _ int, v float64) { weights[i] += v * v })
	for i, w := range weights {
		weights[i] = 1
		if d == cluster.DistanceCosine && w > 0 {
			weights[i] = 1 / math.Sqrt(w)
		}
	}
	sizes := classSizes(groups, k)
	matrix.EachValue(points, matrix.AllRows(points), func(i, j int, v float64) {
		means.Set(groups[i], j, means.At(groups[i], j)+weights[i]*v/float64(sizes[groups[i]]))
	})
	lengths := make([]float64, k)
	for g := range k {
		lengths[g] = mat.Dot(means.RowView(g), means.RowView(g))
	}
	return cluster.Bind(groups, k, cluster.Known(known), func(i, g int) float64 {
		cost := lengths[g]
		matrix.EachValue(points, []int{i}, func(_, j int, v float64) { cost -= 2 * weights[i] * v * means.At(g, j) })
		return cost
	})
}

type distinct struct {
	in     *input.Inputs
	groups Groups // the settings for in
	rowOf  []int  // for each row of all inputs, the row of in that holds it or its original
}

// withoutCopies returns the inputs without copies, or nil if no row is a copy.
func (g Groups) withoutCopies(in *input.Inputs) (d *distinct, notes []string) {
	if g.Copies == nil || !spec.OnFeatures(g.Method.Name) || in.X == nil {
		return nil, nil
	}
	copies, parted := g.consistentCopies(in)
	if parted > 0 {
		notes = append(notes, fmt.Sprintf("copies with different labels or links are treated as different images (%s of copies)", phrase.Count(parted, "stack", "stacks")))
	}
	var rows []int
	d = &distinct{groups: g, rowOf: make([]int, len(copies))}
	d.groups.Copies, d.groups.Links.Must = nil, slices.Clone(g.Links.Must)
	for i, c := range copies {
		if c == i {
			d.rowOf[i] = len(rows)
			rows = append(rows, i)
		} else if g.hasConstraints() {
			d.groups.Links.Must = append(d.groups.Links.Must, [2]int{in.Rows[c], in.Rows[i]})
		}
	}
	d.rowOf = matrix.Take(d.rowOf, copies)
	if len(rows) == len(copies) || len(rows) < cmp.Or(g.K, len(in.Set.Classes)) {
		return nil, notes
	}
	d.in = in.Subset(rows)
	return d, notes
}

// consistentCopies returns copies without the stacks that labels or links contradict, and the number of these stacks.
func (g Groups) consistentCopies(in *input.Inputs) (copies []int, parted int) {
	copies = slices.Clone(g.Copies)
	if !g.hasConstraints() {
		return copies, 0
	}
	// Samples that stacks and must-links join need one class and no cannot-link among them.
	must := slices.Clone(g.Links.Must)
	for i, c := range copies {
		must = append(must, [2]int{in.Rows[c], in.Rows[i]})
	}
	unit, _ := links.Close(in.Set.Len(), must, nil)
	wrong, class := map[int]bool{}, map[int]int{}
	for i, label := range g.constraints(in.Set).labels {
		if label < 0 {
			continue
		}
		if other, ok := class[unit[i]]; ok && other != label {
			wrong[unit[i]] = true
		}
		class[unit[i]] = label
	}
	for _, pair := range g.Links.Cannot {
		if unit[pair[0]] == unit[pair[1]] {
			wrong[unit[pair[0]]] = true
		}
	}
	stacks := map[int]bool{}
	for i, c := range copies {
		if c != i && wrong[unit[in.Rows[c]]] {
			stacks[c], copies[i] = true, i
		}
	}
	return copies, len(stacks)
}
