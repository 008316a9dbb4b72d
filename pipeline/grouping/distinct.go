package grouping

import (
	"fmt"
	"slices"

	"github.com/seed4492f2cd/partwise/internal/links"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// distinct are inputs without copies.
type distinct struct {
	in     *input.Inputs
	groups Groups // to make of in
	of     []int  // for each row with copies, its place or its original's in in
}

// withoutCopies returns the inputs without copies, nil if no rows can be left out.
func (g Groups) withoutCopies(in *input.Inputs) (d *distinct, notes []string) {
	if g.Copies == nil || !spec.OnFeatures(g.Method.Name) || in.X == nil {
		return nil, nil
	}
	copies, parted := g.agreeing(in)
	if parted > 0 {
		notes = append(notes, fmt.Sprintf("%s of copies, of which different things are told, are grouped as if they were no copies", phrase.Count(parted, "stack", "stacks")))
	}
	var rows []int
	d = &distinct{groups: g, of: make([]int, len(copies))}
	d.groups.Copies, d.groups.Links.Must = nil, slices.Clone(g.Links.Must)
	for i, c := range copies {
		if c == i {
			d.of[i] = len(rows)
			rows = append(rows, i)
		} else if g.given() {
			d.groups.Links.Must = append(d.groups.Links.Must, [2]int{in.Rows[c], in.Rows[i]})
		}
	}
	d.of = matrix.Take(d.of, copies)
	if len(rows) == len(copies) || len(rows) < g.count(in.Set.Classes) {
		return nil, notes
	}
	d.in = &input.Inputs{Set: in.Set, Features: in.Features, X: matrix.SelectRows(in.X, rows), Images: in.Images, Rows: matrix.Take(in.Rows, rows)}
	return d, notes
}

// agreeing returns the copies without stacks that labels or links contradict, and the number of these.
func (g Groups) agreeing(in *input.Inputs) (copies []int, parted int) {
	copies = slices.Clone(g.Copies)
	if !g.given() {
		return copies, 0
	}
	// A unit of samples that stacks and must-links join has one class, and no cannot-link within.
	must := slices.Clone(g.Links.Must)
	for i, c := range copies {
		must = append(must, [2]int{in.Rows[c], in.Rows[i]})
	}
	unit, _ := links.Close(in.Set.Len(), must, nil)
	wrong, class := map[int]bool{}, map[int]int{}
	for i, label := range g.knowledge(in.Set).labels {
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
