package pipeline

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
)

// findDistinct is find, where copies follow the original of their stack.
func (g Groups) findDistinct(ctx context.Context, in *Inputs, progress *reporter) (*Grouping, error) {
	some, first, of, notes := g.distinct(in)
	if some == nil {
		out, err := g.find(ctx, in, progress)
		if err == nil {
			out.Notes = append(notes, out.Notes...)
		}
		return out, err
	}
	out, err := of.find(ctx, some, progress)
	if err != nil {
		return nil, err
	}
	out.Notes = append(notes, out.Notes...)
	groups := make([]int, len(first))
	for i, at := range first {
		groups[i] = out.Groups[at]
	}
	byClass := out.GroupClasses
	out.Groups = bySize(groups)
	if byClass != nil {
		out.GroupClasses = make([]int, len(byClass))
		for i, group := range out.Groups {
			out.GroupClasses[group] = byClass[groups[i]]
		}
	}
	if out.Memberships, err = cluster.Memberships(ctx, out.Cluster.Distance, in.X, out.Groups); err != nil {
		return nil, err
	}
	truth, classes := in.Labels(), in.Set.Classes
	var labels []int
	if g.tells() {
		known, _ := g.told(in.Set).of(in.Rows)
		labels = known.labels
	}
	if g.UseLabels {
		truth, classes = in.ownLabels(), in.Set.OwnClasses
	}
	return out, g.score(ctx, out, truth, classes, labels)
}

// distinct returns the inputs without copies, for each row of in which of theirs it is or
// is a copy of, and the groups to be made of them; nil where there is nothing to leave out.
func (g Groups) distinct(in *Inputs) (some *Inputs, first []int, of Groups, notes []string) {
	_, own := builtin(g.Method.Name)
	if g.Copies == nil || !own || in.X == nil {
		return nil, nil, g, nil
	}
	copies, told := g.agreeing(in)
	if told > 0 {
		notes = append(notes, fmt.Sprintf("%s of copies, of which different things are told, are grouped as if they were no copies", phrase.Count(told, "stack", "stacks")))
	}
	var rows []int
	first = make([]int, len(copies))
	of = g
	of.Copies, of.Links.Must = nil, slices.Clone(g.Links.Must)
	for i, c := range copies {
		if c == i {
			first[i] = len(rows)
			rows = append(rows, i)
		} else if g.tells() {
			of.Links.Must = append(of.Links.Must, [2]int{in.Rows[c], in.Rows[i]})
		}
	}
	for i, c := range copies {
		first[i] = first[c]
	}
	if len(rows) == len(copies) || len(rows) < g.count(in.Set.Classes) {
		return nil, nil, g, notes
	}
	some = &Inputs{Set: in.Set, Features: in.Features, X: selectRows(in.X, rows), images: in.images, Rows: make([]int, len(rows))}
	for at, i := range rows {
		some.Rows[at] = in.Rows[i]
	}
	return some, first, of, notes
}

// agreeing returns the copies without the stacks of which different classes are told, or
// which are told not to belong together, and how many stacks these are.
func (g Groups) agreeing(in *Inputs) (copies []int, without int) {
	copies = slices.Clone(g.Copies)
	if !g.tells() {
		return copies, 0
	}
	told := g.told(in.Set)
	for {
		// Stacks and must-links join units; where a unit would get two classes, or both
		// ends of a cannot-link, its stacks are parted.
		root := make([]int, in.Set.Len())
		find := func(i int) int {
			for root[i] != i {
				i = root[i]
			}
			return i
		}
		place := map[int]int{} // the first sample of a unit
		for i := range root {
			if _, ok := place[told.unit[i]]; !ok {
				place[told.unit[i]] = i
			}
			root[i] = place[told.unit[i]]
		}
		for i, c := range copies {
			if a, b := find(in.Rows[i]), find(in.Rows[c]); a != b {
				root[max(a, b)] = min(a, b)
			}
		}
		wrong := map[int]bool{}
		class := map[int]int{}
		for i, label := range told.labels {
			if label < 0 {
				continue
			}
			r := find(i)
			if other, ok := class[r]; ok && other != label {
				wrong[r] = true
			}
			class[r] = label
		}
		for _, pair := range g.Links.Cannot {
			if find(pair[0]) == find(pair[1]) {
				wrong[find(pair[0])] = true
			}
		}
		parted := map[int]bool{}
		for i, c := range copies {
			if c != i && wrong[find(in.Rows[c])] {
				parted[c] = true
			}
		}
		if len(parted) == 0 {
			return copies, without
		}
		without += len(parted)
		for i, c := range copies {
			if parted[c] {
				copies[i] = i
			}
		}
	}
}
