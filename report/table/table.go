package table

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/eval/significance"
	"github.com/seed4492f2cd/partwise/pipeline"
)

// rankHeading is what stands above ranks.
const rankHeading = "Rank"

// largest bounds the scores, so that no sum of them or of their squares overflows.
const largest = 1e100

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
	// Tests say how differences were told from chance, and Comparisons is the number of pairs of
	// methods, in all rows, that the p-values are corrected for.
	Tests       Tests
	Comparisons int
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

	draws []significance.Draws // of each of Rows
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
	// Contrast is the difference from the first of the best cells. It is zero in the best
	// cells, and with too few pairs.
	Contrast
}

// Tied reports whether a test was made and found no difference from the best of the row
// that counts.
func (c Cell) Tied() bool { return c.Verdict == Open || c.Verdict == Equivalent }

// New gathers one score of the given methods from the records. Records of
// other methods, records without the score and scores that are not finite, or
// beyond 1e100 of either sign, are passed over; of several records of one trial the last one counts.
//
// Each cell is compared with the best of its row over the repeats that both have, as the tests
// say; in the average row over the means of each repeat over all rows.
func New(records []pipeline.Record, score string, methods []string, by Tests) *Table {
	return newOf(records, known(score), methods, by)
}

// known returns the score of this name.
func known(name string) eval.Score {
	s, _ := eval.FindScore(name)
	return s
}

func newOf(records []pipeline.Record, score eval.Score, methods []string, by Tests) *Table {
	t := &Table{Score: score, Methods: slices.Clone(methods), Tests: by}
	var scored []pipeline.Record
	for _, r := range Finished(records, methods) {
		if v, ok := r.Scores[score.Name]; ok && math.Abs(v) < largest {
			t.Ranks = t.Ranks || r.Row > 0
			scored = append(scored, r)
		}
	}
	var rows []*Row
	var sampled []sampledRow
	for rest := scored; len(rest) > 0; {
		number := RowOf(rest[0])
		end := slices.IndexFunc(rest, func(r pipeline.Record) bool { return RowOf(r) != number })
		if end < 0 {
			end = len(rest)
		}
		s := sampledRow{draws: by.draws(rest[:end]), values: make([]map[int]float64, len(methods))}
		scores := make([][]float64, len(methods))
		for i := range s.values {
			s.values[i] = map[int]float64{}
		}
		for _, r := range rest[:end] {
			i, v := slices.Index(methods, r.Method), r.Scores[score.Name]
			s.values[i][r.Repeat] = v
			scores[i] = append(scores[i], v)
		}
		row := Row{Number: number, Cells: make([]Cell, len(methods))}
		for i := range row.Cells {
			row.Cells[i] = newCell(scores[i])
			t.Repeats = max(t.Repeats, row.Cells[i].N)
		}
		t.Rows, sampled = append(t.Rows, row), append(sampled, s)
		rest = rest[end:]
	}
	for i := range t.Rows {
		rows = append(rows, &t.Rows[i])
		t.draws = append(t.draws, sampled[i].draws)
	}
	if len(rows) > 1 {
		t.Average = t.average()
		rows, sampled = append(rows, t.Average), append(sampled, averaged(sampled, by.draws(scored), t.Ranks || t.ByClass))
	}
	t.compare(rows, sampled)
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

// newCell returns the cell of one method with these scores.
func newCell(x []float64) Cell {
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

// all returns every row of the table, the average last.
func (t *Table) all() []Row {
	if t.Average == nil {
		return t.Rows
	}
	return append(slices.Clone(t.Rows), *t.Average)
}

// where says of which row the last one is.
func (t *Table) where() string {
	switch {
	case t.Average != nil:
		return "on average"
	case t.ByClass || len(t.Rows) == 0:
		return ""
	}
	return "with " + t.Describe(t.Rows[0])
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
	d := &Document{Name: t.Name, Caption: t.caption, Grids: append([]Grid{g}, t.differences(g.Name, t.Methods, t.where())...)}
	if t.ByClass {
		d.Class = "named"
	}
	return d
}
