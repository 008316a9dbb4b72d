package table

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/seed4492f2cd/partwise/eval/significance"
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
func NewBest(records []pipeline.Record, score string, methods []string, sweeps []pipeline.Sweep, by Tests) *Best {
	all := New(records, score, methods, Tests{Rule: significance.Rule{By: significance.ByNone}})
	b := &Best{Ranks: all.ChoosesRank(), Swept: len(sweeps) > 0}
	if len(all.Rows) == 0 || !b.Ranks && !b.Swept {
		return nil
	}
	peaks := slices.DeleteFunc(Peaks(all, sweeps), func(p Peak) bool { return p.Row == 0 })
	var at []pipeline.Record
	ranks := make([]int, len(peaks))
	for _, r := range Finished(records, methods) {
		i := slices.IndexFunc(peaks, func(p Peak) bool { return p.Label == r.Method })
		if i < 0 || b.Ranks && r.Row != peaks[i].Row {
			continue
		}
		ranks[i] = r.Rank
		if b.Ranks {
			r.Row = 0 // a draw is the same at every rank
		}
		at = append(at, r)
	}
	b.Table = New(at, score, Labels(peaks), by)
	cells := b.Table.last().Cells
	for i, p := range peaks {
		row := BestRow{Method: p.Name, Setting: p.Setting, Cell: cells[i]}
		if b.Ranks {
			row.Rank = ranks[i]
		}
		b.Rows = append(b.Rows, row)
	}
	return b
}

// Peak is where a method is at its best.
type Peak struct {
	Name, Setting string
	// Label is what the records call it with this setting.
	Label string
	// Row is the rank where there are several, and else the largest number of
	// classes; 0 where there is no trial.
	Row int
}

// Peaks finds where each method of a table is at its best, by the means over
// its rows where these are numbers of classes. The first of several is taken, and
// of a method without any trial its first setting.
func Peaks(t *Table, sweeps []pipeline.Sweep) []Peak {
	var peaks []Peak
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
		best := Peak{Name: sweep.Name, Label: method}
		mean, found := 0.0, false
		for _, label := range candidates {
			done[label] = true
			column := slices.Index(t.Methods, label)
			if column < 0 {
				continue
			}
			if row, c := t.Level(column); c.N > 0 && (!found || t.Score.Better(c.Mean, mean)) {
				best.Label, best.Row, mean, found = label, row, c.Mean, true
			}
		}
		best.Setting = settingOf(sweep, best.Label)
		peaks = append(peaks, best)
	}
	return peaks
}

// Labels returns what the records call the methods at their best.
func Labels(peaks []Peak) []string {
	out := make([]string, len(peaks))
	for i, p := range peaks {
		out[i] = p.Label
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

// ChoosesRank tells whether the rows are several ranks.
func (t *Table) ChoosesRank() bool { return t.Ranks && len(t.Rows) > 1 }

// Level returns the cell that stands for all of a column, and its row: that of
// the best rank, or the average over numbers of classes with the largest of them.
// The cell is empty where the column has none.
func (t *Table) Level(column int) (row int, c Cell) {
	if t.ChoosesRank() {
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

// Document returns the table in words.
func (b *Best) Document() *Document {
	score := b.Table.Score
	g := Grid{Name: "best " + score.Name, Score: score.Name, Keys: 1, KeyFields: []string{"method", "rank", "setting"}, Columns: []Column{{Heading: "Method"}}}
	if b.Ranks {
		g.Columns = append(g.Columns, Column{Heading: rankHeading, Right: true})
	}
	if b.Swept {
		g.Columns = append(g.Columns, Column{Heading: "Setting", Settings: true})
	}
	g.Keys = len(g.Columns)
	g.Columns = append(g.Columns, Column{Heading: score.Label(), Right: true, Fields: cellFields})
	words := b.Table.words()
	for i, row := range b.Rows {
		rank := ""
		if row.Rank > 0 {
			rank = strconv.Itoa(row.Rank)
		}
		line := Line{Words: []Word{{Text: row.Method}}, Keys: []string{row.Method, rank, row.Setting}}
		if b.Ranks {
			line.Words = append(line.Words, Word{Text: cmp.Or(rank, missing)})
		}
		if b.Swept {
			line.Words = append(line.Words, Word{Text: cmp.Or(row.Setting, missing)})
		}
		line.Words = append(line.Words, words[len(words)-1][i])
		g.Lines = append(g.Lines, line)
	}
	names := make([]string, len(b.Rows))
	for i, r := range b.Rows {
		names[i] = r.name()
	}
	return &Document{Name: b.Table.Name, Class: "chosen", Caption: b.caption, Grids: append([]Grid{g}, b.Table.differences(g.Name, names, "where each is at its best")...)}
}
