package table

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed4492f2cd/partwise/eval/significance"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
	"github.com/seed4492f2cd/partwise/pipeline"
)

// Best is the table of each method at its best: at the rank, if there are several, and with the
// setting of a sweep, whose mean is the best.
type Best struct {
	// Ranks and Swept say whether ranks and settings were chosen.
	Ranks, Swept bool
	// Rows are in the order of the methods, without those that lack the score. A sweep has one row.
	Rows []Peak
	// Table has one column for each row, of the trials at its best.
	Table *Table
}

// NewBest gathers one score of the given methods at their best. It is nil if there is nothing to
// choose: one rank, or none, and no sweep.
func NewBest(records []pipeline.Record, score string, methods []string, sweeps []pipeline.Sweep, by Tests) *Best {
	all := New(records, score, methods, Tests{Rule: significance.Rule{By: significance.ByNone}})
	b := &Best{Ranks: all.ChoosesRank(), Swept: len(sweeps) > 0}
	if len(all.Rows) == 0 || !b.Ranks && !b.Swept {
		return nil
	}
	peaks := slices.DeleteFunc(Peaks(all, sweeps), func(p Peak) bool { return p.Row == 0 })
	var chosen []pipeline.Record
	for _, r := range Finished(records, methods) {
		i := slices.IndexFunc(peaks, func(p Peak) bool { return p.Label == r.Method })
		if i < 0 || b.Ranks && r.Row != peaks[i].Row {
			continue
		}
		if b.Ranks {
			peaks[i].Rank, r.Row = r.Rank, 0 // a draw is the same at every rank
		}
		chosen = append(chosen, r)
	}
	b.Table = New(chosen, score, Labels(peaks), by)
	for i, c := range b.Table.last().Cells {
		peaks[i].Cell = c
	}
	b.Rows = peaks
	return b
}

// Peak is a method at its best.
type Peak struct {
	// Setting is that of a sweep, as "lambda=10", or empty.
	Method, Setting string
	Label           string // the method's name in the records with this setting
	// Row is the rank if there are several, or else the largest number of classes; 0 without a trial.
	Row int
	// Rank, 0 for methods without, and Cell, tested against the best of all methods, are those of NewBest.
	Rank int
	Cell Cell
}

// Peaks finds where each method of a table is at its best, by the means over its rows if these are
// numbers of classes. Of equals the first counts, and of a method without any trial its first setting.
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
		best := Peak{Method: sweep.Name, Label: method}
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
		if at := slices.Index(sweep.Methods, best.Label); at >= 0 {
			var words []string
			for i, name := range sweep.Settings {
				words = append(words, name+"="+sweep.Values[at][i])
			}
			best.Setting = strings.Join(words, " ")
		}
		peaks = append(peaks, best)
	}
	return peaks
}

// Labels returns the names of the methods at their best in the records.
func Labels(peaks []Peak) []string {
	out := make([]string, len(peaks))
	for i, p := range peaks {
		out[i] = p.Label
	}
	return out
}

// names are the methods with the ranks and the settings that were chosen.
func (b *Best) names() []string {
	names := make([]string, len(b.Rows))
	for i, r := range b.Rows {
		chosen := r.Setting
		if r.Rank > 0 {
			chosen = strings.TrimSuffix(fmt.Sprintf("rank %d, %s", r.Rank, chosen), ", ")
		}
		if names[i] = r.Method; chosen != "" {
			names[i] += " (" + chosen + ")"
		}
	}
	return names
}

// caption explains the table and its marks.
func (b *Best) caption() string {
	e := b.Table.explained()
	chosen := "rank and setting"
	if !b.Swept {
		chosen = "rank"
	} else if !b.Ranks {
		chosen = "setting"
	}
	e.At = " at the best " + chosen + " of each method"
	e.Last = e.rated(b.Table.last())
	if b.Table.Average != nil {
		var numbers []int
		for _, r := range b.Table.Rows {
			numbers = append(numbers, r.Number)
		}
		e.Numbers = phrase.Numbers(numbers)
	}
	return caption("best", e)
}

// Finding says in a sentence which method is the best at its best.
func (b *Best) Finding() string {
	return finding(b.Table.Score, b.names(), b.Table.last().Cells, "where each is at its best")
}

// Document returns the table in words.
func (b *Best) Document() *Document {
	score := b.Table.Score
	g := Grid{Name: "best " + score.Name, Score: score.Name, KeyFields: []string{"method", "rank", "setting"}, Columns: []Column{{Heading: "Method"}}}
	if b.Ranks {
		g.Columns = append(g.Columns, Column{Heading: rankHeading, Right: true})
	}
	if b.Swept {
		g.Columns = append(g.Columns, Column{Heading: "Setting", Settings: true})
	}
	g.Keys = len(g.Columns)
	g.Columns = append(g.Columns, Column{Heading: scoreLabel(score), Right: true, Fields: cellFields})
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
	return &Document{Name: b.Table.Name, Class: "chosen", Title: score.Title, Caption: b.caption(), Grids: append([]Grid{g}, b.Table.differences(g.Name, b.names(), "where each is at its best")...)}
}
