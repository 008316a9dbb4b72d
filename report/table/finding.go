package table

import (
	"fmt"
	"strings"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/internal/phrase"
)

// Finding says in a sentence which method is the best of a table, or nothing
// where there is no contest.
func (t *Table) Finding() string {
	if len(t.Rows) == 0 {
		return ""
	}
	return ranking(t.Score, t.Methods, t.last().Cells, t.where())
}

// Finding says in a sentence which method is the best at its best.
func (b *Best) Finding() string {
	names := make([]string, len(b.Rows))
	cells := make([]Cell, len(b.Rows))
	for i, r := range b.Rows {
		names[i], cells[i] = r.name(), r.Cell
	}
	return ranking(b.Table.Score, names, cells, "where each is at its best")
}

// name is the method with the rank and the setting that were chosen.
func (r BestRow) name() string {
	var at []string
	if r.Rank > 0 {
		at = append(at, fmt.Sprintf("rank %d", r.Rank))
	}
	if r.Setting != "" {
		at = append(at, r.Setting)
	}
	if at == nil {
		return r.Method
	}
	return r.Method + " (" + strings.Join(at, ", ") + ")"
}

// ranking is the sentence of a finding.
func ranking(score eval.Score, names []string, cells []Cell, where string) string {
	var best, tied []string
	mean := ""
	for i, c := range cells {
		switch {
		case c.Best:
			best = append(best, names[i])
			mean = score.Format(c.Mean)
		case c.Tied():
			tied = append(tied, names[i])
		}
	}
	if best == nil {
		return ""
	}
	is := "is"
	if len(best) > 1 {
		is = "are"
	}
	s := fmt.Sprintf("%s: %s %s best %s (%s).", score.Title, phrase.List(best), is, where, mean+score.Suffix("\u00a0"))
	if tied != nil {
		s += fmt.Sprintf(" Not significantly worse: %s.", phrase.List(tied))
	}
	return s
}
