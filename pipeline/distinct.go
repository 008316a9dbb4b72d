package pipeline

import (
	"fmt"
	"slices"

	"github.com/seed4492f2cd/partwise/internal/links"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
)

// distinct are inputs without copies.
type distinct struct {
	in     *Inputs
	groups Groups // to make of in
	of     []int  // for each row with copies, its place or its original's in in
}

// withoutCopies returns the inputs without copies, nil if no rows can be left out.
func (g Groups) withoutCopies(in *Inputs) (d *distinct, notes []string) {
	if g.Copies == nil || !OnFeatures(g.Method.Name) || in.X == nil {
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
	d.of = take(d.of, copies)
	if len(rows) == len(copies) || len(rows) < g.count(in.Set.Classes) {
		return nil, notes
	}
	d.in = &Inputs{Set: in.Set, Features: in.Features, X: selectRows(in.X, rows), images: in.images, Rows: take(in.Rows, rows)}
	return d, notes
}

// agreeing returns the copies without stacks that labels or links contradict, and their number.
func (g Groups) agreeing(in *Inputs) (copies []int, parted int) {
	copies = slices.Clone(g.Copies)
	if !g.given() {
		return copies, 0
	}
	for known := g.knowledge(in.Set); ; {
		// A unit of samples that stacks and must-links join has one class, and no cannot-link within.
		must := slices.Clone(g.Links.Must)
		for i, c := range copies {
			must = append(must, [2]int{in.Rows[c], in.Rows[i]})
		}
		unit, _ := links.Close(in.Set.Len(), must, nil)
		wrong, class := map[int]bool{}, map[int]int{}
		for i, label := range known.labels {
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
				stacks[c] = true
			}
		}
		if len(stacks) == 0 {
			return copies, parted
		}
		parted += len(stacks)
		for i, c := range copies {
			if stacks[c] {
				copies[i] = i
			}
		}
	}
}
