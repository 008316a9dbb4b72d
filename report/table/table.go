package table

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/eval/significance"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
	"github.com/seed4492f2cd/partwise/pipeline"
)

// rankHeading is the heading of ranks.
const rankHeading = "Rank"

// largest bounds the scores, so that no sum of them or of their squares overflows.
const largest = 1e100

// Table holds one score of an experiment as papers print it: a row for each number of classes, a
// column for each method, a mean over the repeats in each cell.
type Table struct {
	// Name is the name of the experiment, which may be empty.
	Name    string
	Score   eval.Score
	Methods []string // the columns
	// Ranks and ByClass say that the rows are ranks or classes instead of numbers of classes.
	Ranks, ByClass bool
	// Comparisons is the number of pairs of methods, in all rows, that the p-values are corrected for.
	Tests       Tests
	Comparisons int
	// Repeats is the largest number of finished repeats in any cell of Rows.
	Repeats int
	// Rows are in ascending order.
	Rows []Row
	// Average is the row below all others, or nil if there are fewer than two. It holds the means of
	// a column's means and of its standard deviations; N counts the trials of all rows. A method that
	// lacks a row has no average, since the missing row might be the hardest.
	Average *Row

	draws []significance.Draws // of each of Rows
}

// Row is one row of a table.
type Row struct {
	// Number is the number of classes, the rank, or the class counted from 1, which has a Name; 0 in
	// the average row.
	Number  int
	Name    string
	Average bool
	Cells   []Cell // one for each of the table's methods
}

// Cell summarises the finished trials of one method in a row.
type Cell struct {
	// N is the number of trials. If it is 0, nothing else is set.
	N int
	// Mean and SD (with n−1 in the denominator) are in the unit of the records. HasSD is false with
	// one trial.
	Mean, SD float64
	HasSD    bool
	// Best says that no mean of the row is better, if there are two to compare.
	Best bool
	// Contrast is the difference from the first of the best cells. It is zero in the best cells, and
	// with too few pairs.
	Contrast
}

// Tied reports whether a test found no difference from the best of the row that counts.
func (c Cell) Tied() bool { return c.Verdict == Open || c.Verdict == Equivalent }

// New gathers one score of the given methods from the records. It ignores records of other methods,
// records without the score, and scores that are not finite or beyond ±1e100; of several records of
// one trial the last one counts.
//
// Each cell is compared with the best of its row over the repeats that both have; in the average row
// over the means of each repeat over all rows.
func New(records []pipeline.Record, score string, methods []string, by Tests) *Table {
	return newTable(records, findScore(score), methods, by)
}

func newTable(records []pipeline.Record, score eval.Score, methods []string, by Tests) *Table {
	t := &Table{Score: score, Methods: slices.Clone(methods), Tests: by}
	var scored []pipeline.Record
	byRow := map[int][]pipeline.Record{}
	var numbers []int
	for _, r := range Finished(records, methods) {
		if v, ok := r.Scores[score.Name]; ok && math.Abs(v) < largest {
			t.Ranks = t.Ranks || r.Row > 0
			scored = append(scored, r)
			row := RowOf(r)
			if byRow[row] == nil {
				numbers = append(numbers, row)
			}
			byRow[row] = append(byRow[row], r)
		}
	}
	var sampled []sampledRow
	for _, number := range numbers {
		row, s := t.newRow(number, byRow[number])
		t.Rows, sampled, t.draws = append(t.Rows, row), append(sampled, s), append(t.draws, s.draws)
	}
	var rows []*Row
	for i := range t.Rows {
		rows = append(rows, &t.Rows[i])
	}
	if len(rows) > 1 {
		t.Average = t.average()
		rows, sampled = append(rows, t.Average), append(sampled, averaged(sampled, by.draws(scored), t.Ranks || t.ByClass))
	}
	t.compare(rows, sampled)
	return t
}

// newRow makes a row of its records.
func (t *Table) newRow(number int, records []pipeline.Record) (Row, sampledRow) {
	s := sampledRow{draws: t.Tests.draws(records), values: make([]map[int]float64, len(t.Methods))}
	for i := range s.values {
		s.values[i] = map[int]float64{}
	}
	scores := make([][]float64, len(t.Methods))
	for _, r := range records {
		i, v := slices.Index(t.Methods, r.Method), r.Scores[t.Score.Name]
		s.values[i][r.Repeat] = v
		scores[i] = append(scores[i], v)
	}
	row := Row{Number: number, Cells: make([]Cell, len(t.Methods))}
	for i, x := range scores {
		c := Cell{N: len(x), HasSD: len(x) > 1}
		c.Mean, c.SD = eval.MeanSD(x)
		row.Cells[i], t.Repeats = c, max(t.Repeats, c.N)
	}
	return row, s
}

// RowOf returns the row that a record belongs to.
func RowOf(r pipeline.Record) int { return cmp.Or(r.Row, r.Classes) }

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
		c := Cell{N: n, HasSD: len(deviations) > 0}
		c.Mean, _ = eval.MeanSD(means)
		c.SD, _ = eval.MeanSD(deviations)
		row.Cells[i] = c
	}
	return row
}

// compare marks the best cells of each row, and tests the others against the first of them. Since the
// best is found from the same scores, p-values are corrected for all pairs of methods in all rows. The
// averages, which summarise the table, have half of the correction together.
func (t *Table) compare(rows []*Row, sampled []sampledRow) {
	best := make([]int, len(rows))
	averages := 0 // of the t.Comparisons pairs with enough trials
	for at, r := range rows {
		if best[at] = t.markBest(r); best[at] >= 0 && r.Average && t.Tests.noAverage {
			best[at] = -1
		}
		if best[at] >= 0 {
			n := 0
			for _, c := range r.Cells {
				if c.N >= minPairs {
					n++
				}
			}
			t.Comparisons += n * (n - 1) / 2
		}
	}
	whole := t.Tests.corrects() && t.Comparisons <= maxFamily
	var f family
	add := func(r *Row, p float64, c *Contrast) {
		f.add(p, 1, c)
		if r.Average {
			averages++
		}
	}
	for at, r := range rows {
		if best[at] < 0 {
			continue
		}
		for i := range r.Cells {
			c := &r.Cells[i]
			if c.N > 0 && !c.Best {
				if c.Contrast = t.Tests.contrast(sampled[at], i, best[at]); c.Pairs > 0 {
					add(r, c.Raw, &c.Contrast)
				}
			}
			if !whole || c.N < minPairs {
				continue
			}
			for j := range i {
				other := r.Cells[j]
				if other.N < minPairs || i == best[at] && !other.Best || j == best[at] && !c.Best {
					continue // shown, and added above
				}
				if a, _ := sampled[at].pair(i, j); len(a) >= minPairs {
					add(r, t.Tests.p(sampled[at], i, j), nil)
				}
			}
		}
	}
	n := len(f.p)
	for i := n - averages; 0 < averages && averages < n && i < n; i++ { // the last row
		f.weights[i] = float64(n-averages) / float64(averages)
	}
	if whole {
		t.Comparisons = n
		t.Tests.judge(f, 0)
	} else {
		t.Tests.judge(f, t.Comparisons)
	}
}

// markBest marks the best cells of a row and returns the first of them, −1 without a contest.
func (t *Table) markBest(r *Row) int {
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
		return -1
	}
	for i := range r.Cells {
		c := &r.Cells[i]
		c.Best = c.N > 0 && !t.Score.Better(r.Cells[best].Mean, c.Mean)
	}
	return best
}

// all returns every row of the table, the average last.
func (t *Table) all() []Row {
	if t.Average == nil {
		return t.Rows
	}
	return append(slices.Clone(t.Rows), *t.Average)
}

// last returns the average row if there is one, or else the last.
func (t *Table) last() Row {
	all := t.all()
	return all[len(all)-1]
}

// ChoosesRank reports whether the rows are several ranks.
func (t *Table) ChoosesRank() bool { return t.Ranks && len(t.Rows) > 1 }

// Level returns the cell that stands for all of a column, and its row: that of the best rank, or the
// average over numbers of classes with the largest of them. The cell is empty if the column is.
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

// Describe names a row: "5 classes", or "rank 10".
func (t *Table) Describe(r Row) string {
	if t.Ranks {
		return fmt.Sprintf("rank %d", r.Number)
	}
	return phrase.Count(r.Number, "class", "classes")
}

// label names a row in its first column.
func (r Row) label() string {
	if r.Average {
		return "Average"
	}
	return cmp.Or(r.Name, strconv.Itoa(r.Number))
}

// heading is the heading of the first column.
func (t *Table) heading() string {
	switch {
	case t.Ranks:
		return rankHeading
	case t.ByClass:
		return "Class"
	}
	return "Classes"
}

// where describes the last row in a sentence.
func (t *Table) where() string {
	switch {
	case t.Average != nil:
		return "on average"
	case t.ByClass || len(t.Rows) == 0:
		return ""
	}
	return "with " + t.Describe(t.Rows[0])
}

// Finding says in a sentence which method is the best; "" without a contest.
func (t *Table) Finding() string {
	if len(t.Rows) == 0 {
		return ""
	}
	return finding(t.Score, t.Methods, t.last().Cells, t.where())
}

// Document returns the table in words.
func (t *Table) Document() *Document {
	g := Grid{
		Name: t.Score.Name, Score: t.Score.Name, Keys: 1, KeyFields: []string{strings.ToLower(t.heading())}, Fields: cellFields,
		Columns: append([]Column{{Heading: t.heading(), Right: !t.ByClass}}, methodColumns(t.Methods)...),
	}
	words := t.words()
	for i, row := range t.all() {
		key := row.label()
		if row.Average {
			key = strings.ToLower(key)
		}
		g.Lines = append(g.Lines, Line{append([]Word{{Text: row.label()}}, words[i]...), row.Average, []string{key}})
	}
	d := &Document{Name: t.Name, Title: t.Score.Title, Caption: caption("table", t.explained()), Grids: append([]Grid{g}, t.differences(g.Name, t.Methods, t.where())...)}
	if t.ByClass {
		d.Class = "named"
	}
	return d
}

// words puts a table's cells into words, row by row, the average last.
func (t *Table) words() [][]Word {
	width := 0
	for _, row := range t.all() {
		for _, c := range row.Cells {
			if c.HasSD {
				width = max(width, len(formatValue(t.Score, c.SD)))
			}
		}
	}
	var out [][]Word
	for _, row := range t.all() {
		words := make([]Word, len(row.Cells))
		for i, c := range row.Cells {
			w := &words[i]
			*w = Word{Text: missing, Mark: Unmarked, Fields: c.fields(t.Tests)}
			if c.N == 0 {
				continue
			}
			w.Text = formatValue(t.Score, c.Mean)
			if c.HasSD {
				w.Deviation = formatValue(t.Score, c.SD)
				w.Pad = width - len(w.Deviation)
			}
			if !row.Average && c.N < t.Repeats {
				w.N = c.N
			}
			switch {
			case c.Best:
				w.Mark, w.Bold = MarkBest, true
			case c.Verdict == Equivalent:
				w.Mark = MarkEquivalent
			case c.Tied():
				w.Mark = MarkTied
			}
		}
		out = append(out, words)
	}
	return out
}

// cellFields are the columns of a cell in CSV. n is the number of finished trials, and best is "best"
// or empty. The fields from pairs on are those of the contrast, empty without a test: p is corrected,
// difference is that from the best, low and high bound its 95 % interval.
var cellFields = []string{"n", "mean", "sd", "best", "pairs", "p", "uncorrected", "difference", "low", "high", "effect", "biserial", "below", "within", "above"}

// fields are the columns of a cell in CSV.
func (c Cell) fields(by Tests) []string {
	best := ""
	if c.Best {
		best = "best"
	}
	tested, bayes := c.Pairs > 0, c.Pairs > 0 && by.By.Bayesian()
	return []string{
		strconv.Itoa(c.N), field(c.Mean, c.N > 0), field(c.SD, c.HasSD), best,
		field(float64(c.Pairs), tested), field(c.P, tested && !bayes), field(c.Raw, tested && !bayes), field(c.Difference, tested),
		field(c.Low, c.HasInterval), field(c.High, c.HasInterval), field(c.Effect, c.HasEffect), field(c.Biserial, tested),
		field(c.Chances.Below, bayes), field(c.Chances.Within, bayes), field(c.Chances.Above, bayes),
	}
}

// differences is a grid of the differences of the methods of another grid, under these names, from the
// first of the best in the last row; none without a test.
func (t *Table) differences(grid string, names []string, where string) []Grid {
	if len(t.Rows) == 0 {
		return nil
	}
	r := t.last()
	best := slices.IndexFunc(r.Cells, func(c Cell) bool { return c.Best })
	if best < 0 || !slices.ContainsFunc(r.Cells, func(c Cell) bool { return c.Pairs > 0 }) {
		return nil
	}
	g := Grid{
		Title: fmt.Sprintf("Difference in %s from %s %s", scoreLabel(t.Score), names[best], where), Name: grid + " differences", Detail: true, Keys: 1,
		Columns: append([]Column{{Heading: "Method"}, {Heading: "Difference", Right: true}}, t.Tests.columns()...),
		Caption: caption("differences", t.explained().How),
	}
	for i, c := range r.Cells {
		if c.Pairs > 0 {
			g.Lines = append(g.Lines, Line{Words: append([]Word{{Text: names[i]}, {Text: signed(t.Score, c.Difference)}}, c.words(t.Tests, t.Score)...)})
		}
	}
	return []Grid{g}
}
