package table

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/pipeline"
)

// rankHeading is what stands above ranks.
const rankHeading = "Rank"

const (
	// significance is the level below which a difference counts.
	significance = 0.05
	// minPairs is the smallest number of pairs with which the signed-rank
	// test can find a difference at that level: its least two-sided p is
	// 2/2ⁿ, 0.063 for five pairs and 0.031 for six. With fewer pairs nothing
	// is claimed.
	minPairs = 6
	// largest bounds the scores, so that no sum of them or of their squares overflows.
	largest = 1e100
)

// Table holds one score of an experiment as papers print it: a row for each
// number of classes, a column for each method, a mean over the repeats in
// each cell.
type Table struct {
	// Name is what was run. It opens the caption where it is not empty.
	Name string
	// Score is the score that it holds.
	Score eval.Score
	// Methods are the columns.
	Methods []string
	// Ranks tells that the rows are ranks and not numbers of classes, and
	// ByClass that they are classes.
	Ranks, ByClass bool
	// Repeats is the largest number of finished repeats in any cell of Rows.
	Repeats int
	// Rows are in ascending order of the number of classes or the rank.
	Rows []Row
	// Average is the row below all others, or nil where there are fewer than
	// two. Its means are the means of the column's means and its standard
	// deviations the means of the column's standard deviations (where a cell
	// has one): the typical spread over the repeats at one number of classes.
	// N counts the trials of all rows. A method that lacks a row has no
	// average, since the missing row might be the hardest.
	Average *Row
}

// Row is one row of a table.
type Row struct {
	// Number is the number of classes or the rank, 0 in the average row. Where
	// the row is a class it is that class's number from 1, and Name its name.
	Number  int
	Name    string
	Average bool
	// Cells has a cell for each of the table's methods.
	Cells []Cell
}

// Cell is what the finished trials of one method at one number of classes
// gave.
type Cell struct {
	// N is the number of trials. Where it is 0 nothing else is set.
	N int
	// Mean and SD (with n−1 in the denominator) are in the unit of the
	// records. HasSD is false, and SD 0, where there is but one trial.
	Mean, SD float64
	HasSD    bool
	// Best says that no mean of the row is better. It is set only where
	// there are two means to compare.
	Best bool
	// Pairs is the number of trials that this method and the row's best have
	// in common, and P the p-value of the two-sided Wilcoxon signed-rank test
	// over them. Pairs is 0, and P without meaning, where no test was made:
	// in the best cell, and with too few pairs.
	Pairs int
	P     float64
}

// Tied reports whether a test was made and found no significant difference
// from the best of the row (p ≥ 0.05).
func (c Cell) Tied() bool { return c.Pairs > 0 && c.P >= significance }

// coordinates identify a trial of a given method.
type coordinates struct{ row, repeat int }

// New gathers one score of the given methods from the records. Records of
// other methods, records without the score and scores that are not finite, or
// beyond 1e100 of either sign, are passed over; of several records of one trial the last one counts.
//
// Each cell is compared with the best of its row by eval.Wilcoxon over the
// repeats that both have, in the average row over all (row, repeat) that
// both have. The p-values are not corrected for the number of comparisons.
func New(records []pipeline.Record, score string, methods []string) *Table {
	return newOf(records, known(score), methods)
}

// known returns the score of this name.
func known(name string) eval.Score {
	s, _ := eval.FindScore(name)
	return s
}

func newOf(records []pipeline.Record, score eval.Score, methods []string) *Table {
	t := &Table{Score: score, Methods: slices.Clone(methods)}
	values := make([]map[coordinates]float64, len(methods))
	for i := range values {
		values[i] = map[coordinates]float64{}
	}
	var trials []coordinates
	for _, r := range Finished(records, methods) {
		v, ok := r.Scores[score.Name]
		if !ok || !(math.Abs(v) < largest) {
			continue
		}
		at := coordinates{RowOf(r), r.Repeat}
		t.Ranks = t.Ranks || r.Row > 0
		values[slices.Index(methods, r.Method)][at] = v
		trials = append(trials, at)
	}
	trials = slices.Compact(trials)

	for rest := trials; len(rest) > 0; {
		number := rest[0].row
		end := slices.IndexFunc(rest, func(c coordinates) bool { return c.row != number })
		if end < 0 {
			end = len(rest)
		}
		row := Row{Number: number, Cells: make([]Cell, len(methods))}
		for i := range row.Cells {
			row.Cells[i] = newCell(values[i], rest[:end])
			t.Repeats = max(t.Repeats, row.Cells[i].N)
		}
		t.compare(&row, values, rest[:end])
		t.Rows = append(t.Rows, row)
		rest = rest[end:]
	}
	if len(t.Rows) > 1 {
		t.Average = t.average()
		t.compare(t.Average, values, trials)
	}
	return t
}

// RowOf returns the row that a record belongs to.
func RowOf(r pipeline.Record) int { return cmp.Or(r.Row, r.Classes) }

// heading is what stands above the rows.
func (t *Table) heading() string {
	switch {
	case t.Ranks:
		return rankHeading
	case t.ByClass:
		return "Class"
	}
	return "Classes"
}

// newCell returns the cell of one method over the trials of a row.
func newCell(values map[coordinates]float64, trials []coordinates) Cell {
	var x []float64
	for _, at := range trials {
		if v, ok := values[at]; ok {
			x = append(x, v)
		}
	}
	c := Cell{N: len(x), HasSD: len(x) > 1}
	c.Mean, c.SD = eval.MeanSD(x)
	return c
}

// average returns the row of the columns' means.
func (t *Table) average() *Row {
	row := &Row{Average: true, Cells: make([]Cell, len(t.Methods))}
	for i := range row.Cells {
		n := 0
		var means, deviations []float64
		for _, r := range t.Rows {
			c := r.Cells[i]
			n += c.N
			if c.N > 0 {
				means = append(means, c.Mean)
			}
			if c.HasSD {
				deviations = append(deviations, c.SD)
			}
		}
		if len(means) < len(t.Rows) {
			continue
		}
		c := &row.Cells[i]
		c.N = n
		c.Mean, _ = eval.MeanSD(means)
		c.SD, _ = eval.MeanSD(deviations)
		c.HasSD = len(deviations) > 0
	}
	return row
}

// compare marks the best cells of a row and tests the others against the
// first of them, over those of the given trials that both have.
func (t *Table) compare(r *Row, values []map[coordinates]float64, trials []coordinates) {
	best, filled := -1, 0
	for i, c := range r.Cells {
		if c.N == 0 {
			continue
		}
		filled++
		if best < 0 || t.Score.Better(c.Mean, r.Cells[best].Mean) {
			best = i
		}
	}
	if filled < 2 {
		return
	}
	for i := range r.Cells {
		c := &r.Cells[i]
		if c.N == 0 {
			continue
		}
		if !t.Score.Better(r.Cells[best].Mean, c.Mean) {
			c.Best = true
			continue
		}
		var a, b []float64
		for _, at := range trials {
			x, inBest := values[best][at]
			y, inThis := values[i][at]
			if inBest && inThis {
				a, b = append(a, x), append(b, y)
			}
		}
		if len(a) >= minPairs {
			c.Pairs, c.P = len(a), eval.Wilcoxon(a, b)
		}
	}
}

// all returns every row of the table, the average last.
func (t *Table) all() []Row {
	if t.Average == nil {
		return t.Rows
	}
	return append(slices.Clone(t.Rows), *t.Average)
}

// Document returns the table in words.
func (t *Table) Document() *Document {
	g := Grid{
		Name: t.Score.Name, Score: t.Score.Name, Keys: 1, KeyFields: []string{strings.ToLower(t.heading())}, Fields: cellFields,
		Columns: []Column{{Heading: t.heading(), Right: !t.ByClass}}, // numbers stand to the right
	}
	for _, method := range t.Methods {
		g.Columns = append(g.Columns, Column{Heading: method, Method: true, Right: true})
	}
	words := t.words()
	for i, row := range t.all() {
		key := row.label()
		if row.Average {
			key = strings.ToLower(key)
		}
		g.Lines = append(g.Lines, Line{append([]Word{{Text: row.label()}}, words[i]...), row.Average, []string{key}})
	}
	d := &Document{Name: t.Name, Caption: t.caption, Grids: []Grid{g}}
	if t.ByClass {
		d.Class = "named"
	}
	return d
}
