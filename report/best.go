package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/pipeline"
)

// Best is the table of what each method reaches at its best: at the rank, where
// there are several, and with the setting of a sweep, whose mean is the best.
type Best struct {
	// Ranks and Swept tell whether ranks and settings were chosen.
	Ranks, Swept bool
	// Rows are in the order of the methods; a sweep is one, and those without
	// the score are left out.
	Rows []BestRow
	// Table has one column for each row, of the trials at its best.
	Table *Table
}

// BestRow is a method at its best.
type BestRow struct {
	// Method is its name, and Setting what a sweep has set, as "lambda=10", or
	// empty.
	Method, Setting string
	// Rank is 0 for methods that have none.
	Rank int
	// Cell is as in the table of all ranks and settings, but tested against the
	// best of all methods, over the draws that both have.
	Cell Cell
}

// NewBest gathers one score of the given methods at their best. It is nil where
// there is nothing to choose: one rank, or none, and no sweep.
func NewBest(records []pipeline.Record, score string, methods []string, sweeps []pipeline.Sweep) *Best {
	all := NewTable(records, score, methods)
	b := &Best{Ranks: all.choosesRank(), Swept: len(sweeps) > 0}
	if len(all.Rows) == 0 || !b.Ranks && !b.Swept {
		return nil
	}
	peaks := slices.DeleteFunc(peaksOf(all, sweeps), func(p peak) bool { return p.row == 0 })
	var at []pipeline.Record
	ranks := make([]int, len(peaks))
	for _, r := range finished(records, methods) {
		i := slices.IndexFunc(peaks, func(p peak) bool { return p.label == r.Method })
		if i < 0 || b.Ranks && r.Row != peaks[i].row {
			continue
		}
		ranks[i] = r.Rank
		if b.Ranks {
			r.Row = 0 // a draw is the same at every rank
		}
		at = append(at, r)
	}
	b.Table = NewTable(at, score, labels(peaks))
	cells := b.Table.last().Cells
	for i, p := range peaks {
		row := BestRow{Method: p.name, Setting: p.setting, Cell: cells[i]}
		if b.Ranks {
			row.Rank = ranks[i]
		}
		b.Rows = append(b.Rows, row)
	}
	return b
}

// peak is where a method is at its best.
type peak struct {
	name, setting string
	// label is what the records call it with this setting.
	label string
	// row is the rank where there are several, and else the largest number of
	// classes; 0 where there is no trial.
	row int
}

// String returns the method with its setting.
func (p peak) String() string { return strings.TrimSpace(p.name + " " + p.setting) }

// peaksOf finds where each method of a table is at its best, by the means over
// its rows where these are numbers of classes. The first of several is taken, and
// of a method without any trial its first setting.
func peaksOf(t *Table, sweeps []pipeline.Sweep) []peak {
	var peaks []peak
	done := map[string]bool{}
	for _, method := range t.Methods {
		if done[method] {
			continue
		}
		candidates, sweep := []string{method}, pipeline.Sweep{Name: method}
		if at := slices.IndexFunc(sweeps, func(s pipeline.Sweep) bool { return slices.Contains(s.Methods, method) }); at >= 0 {
			sweep = sweeps[at]
			candidates = sweep.Methods
		}
		best := peak{name: sweep.Name, label: method}
		mean, found := 0.0, false
		for _, label := range candidates {
			done[label] = true
			column := slices.Index(t.Methods, label)
			if column < 0 {
				continue
			}
			if row, c := t.level(column); c.N > 0 && (!found || t.Score.Better(c.Mean, mean)) {
				best.label, best.row, mean, found = label, row, c.Mean, true
			}
		}
		best.setting = settingOf(sweep, best.label)
		peaks = append(peaks, best)
	}
	return peaks
}

// labels returns what the records call the methods at their best.
func labels(peaks []peak) []string {
	out := make([]string, len(peaks))
	for i, p := range peaks {
		out[i] = p.label
	}
	return out
}

// settingOf returns the setting of one method of a sweep in words, "" where there
// is none.
func settingOf(s pipeline.Sweep, label string) string {
	at := slices.Index(s.Methods, label)
	if at < 0 {
		return ""
	}
	words := make([]string, len(s.Settings))
	for i, name := range s.Settings {
		words[i] = name + "=" + s.Values[at][i]
	}
	return strings.Join(words, " ")
}

// choosesRank tells whether the rows are several ranks.
func (t *Table) choosesRank() bool { return t.Ranks && len(t.Rows) > 1 }

// level returns the cell that stands for all of a column, and its row: that of
// the best rank, or the average over numbers of classes with the largest of them.
// The cell is empty where the column has none.
func (t *Table) level(column int) (row int, c Cell) {
	if t.choosesRank() {
		for _, r := range t.Rows {
			if here := r.Cells[column]; here.N > 0 && (c.N == 0 || t.Score.Better(here.Mean, c.Mean)) {
				row, c = r.Number, here
			}
		}
		return row, c
	}
	if len(t.Rows) == 0 {
		return 0, Cell{}
	}
	return t.Rows[len(t.Rows)-1].Number, t.last().Cells[column]
}

// last returns the average row where there is one, or else the last.
func (t *Table) last() Row {
	all := t.all()
	return all[len(all)-1]
}

// headings are the names of the columns, and of the score's.
func (b *Best) headings() []string {
	out := []string{"Method"}
	if b.Ranks {
		out = append(out, rankHeading)
	}
	if b.Swept {
		out = append(out, "Setting")
	}
	return append(out, b.Table.Score.Label())
}

// what names a row: the method, and its rank and setting where they were chosen.
func (b *Best) what(r BestRow) []string {
	out := []string{r.Method}
	if b.Ranks {
		out = append(out, rankText(r.Rank))
	}
	if b.Swept {
		out = append(out, cmp.Or(r.Setting, missing))
	}
	return out
}

// texts are the rows' scores in words.
func (b *Best) texts(pm, pad string) []cellText {
	all := b.Table.text(pm, pad)
	return all[len(all)-1]
}
