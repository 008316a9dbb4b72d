package table

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/eval/significance"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
	"github.com/seed4492f2cd/partwise/pipeline/record"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// largest bounds the scores, so that sums of their squares do not overflow.
const largest = 1e100

// Table is the table of one score of an experiment: a row for each number of classes, a column for each method, and in
// each cell the mean over the repeats.
type Table struct {
	Name           string     // the experiment; may be ""
	Score          eval.Score // the score of the values
	Methods        []string   // the columns
	Ranks, ByClass bool       // the rows are ranks, or classes, instead of numbers of classes
	Tests          Tests      // the significance tests
	Comparisons    int        // the number of pairs of methods, over all rows, for which p-values are corrected
	Repeats        int        // the largest number of finished repeats in any cell of Rows
	Tuned          []string   // the settings that methods chose in each draw, in words
	Rows           []Row      // in ascending order
	// Average holds the mean of each column's means and of its standard deviations, with N trials in all. It is nil
	// with one row. A method that lacks a row has no average, because that row might be the hardest.
	Average *Row
}

// Row is one row of a table.
type Row struct {
	Number  int    // the number of classes, the rank, or the class from 1, which has a Name; 0 in the average row
	Name    string // of a class
	Average bool
	Cells   []Cell // one for each of the table's methods

	sample sample
	best   int // the first best cell, or −1
}

// Cell summarises the finished trials of one method in a row.
type Cell struct {
	N int // the number of trials; if it is 0, no other field is set
	// Mean and SD (with the divisor n−1) are in the unit of the records. One trial has no SD.
	Mean, SD float64
	HasSD    bool
	Best     bool // no mean of the row is better, and there are at least two
	// Contrast is the difference from the first best cell; zero in best cells, and with too few pairs.
	Contrast
}

// Tied reports whether a test found no difference from the best of the row.
func (c Cell) Tied() bool { return c.Verdict == Open || c.Verdict == Equivalent }

// New returns the table of one score of the given methods. It ignores scores that are not finite or beyond ±1e100, and
// of several records of a trial uses the last. Each cell is compared with the best of its row over their common
// repeats. In the average row, the value of a repeat is its mean over all rows.
func New(records []record.Record, score string, methods []string, by Tests) *Table {
	return newTable(records, findScore(score), methods, by)
}

func newTable(records []record.Record, score eval.Score, methods []string, by Tests) *Table {
	t := &Table{Score: score, Methods: slices.Clone(methods), Tests: by}
	records = withScore(Finished(records, methods), score.Name)
	t.Tuned = tuned(records, methods)
	for _, row := range rowsOf(records) {
		t.Ranks = t.Ranks || row[0].Row > 0
		t.Rows = append(t.Rows, t.newRow(row))
	}
	if len(t.Rows) > 1 {
		t.Average = t.average(by.draws(records))
	}
	t.compare()
	return t
}

// withScore returns the records with a usable value of a score.
func withScore(records []record.Record, score string) []record.Record {
	return slices.DeleteFunc(slices.Clone(records), func(r record.Record) bool {
		v, ok := r.Scores[score]
		return !ok || !(math.Abs(v) < largest)
	})
}

// tuned describes the settings that methods chose: the criterion, and the number of draws with each choice.
func tuned(records []record.Record, methods []string) (words []string) {
	for _, m := range methods {
		counts, by := map[string]int{}, ""
		for _, r := range records {
			if r.Method == m && r.Tuned != nil {
				counts[r.Tuned.String()]++
				by = r.Tuned.Rule()
			}
		}
		var each []string
		for _, chosen := range slices.Sorted(maps.Keys(counts)) {
			each = append(each, fmt.Sprintf("%s in %s", chosen, phrase.Count(counts[chosen], "draw", "draws")))
		}
		if each != nil {
			words = append(words, fmt.Sprintf("Settings of %s, chosen in each draw by %s: %s.", m, by, phrase.Some(each)))
		}
	}
	return words
}

func (t *Table) newRow(records []record.Record) Row {
	row := Row{Number: RowOf(records[0]), Cells: make([]Cell, len(t.Methods)), sample: newSample(len(t.Methods), t.Tests.draws(records))}
	scores := make([][]float64, len(t.Methods))
	for _, r := range records {
		i, v := slices.Index(t.Methods, r.Method), r.Scores[t.Score.Name]
		row.sample.values[i][r.Repeat] = v
		scores[i] = append(scores[i], v)
	}
	for i, x := range scores {
		c := Cell{N: len(x), HasSD: len(x) > 1}
		c.Mean, c.SD = eval.MeanSD(x)
		row.Cells[i], t.Repeats = c, max(t.Repeats, c.N)
	}
	return row
}

func (t *Table) average(draws significance.Draws) *Row {
	row := &Row{Average: true, Cells: make([]Cell, len(t.Methods))}
	for i := range row.Cells {
		column := lists.Map(t.Rows, func(r Row) Cell { return r.Cells[i] })
		if slices.ContainsFunc(column, func(c Cell) bool { return c.N == 0 }) {
			continue
		}
		c := &row.Cells[i]
		c.Mean, _ = eval.MeanSD(lists.Map(column, func(c Cell) float64 { return c.Mean }))
		for _, r := range column {
			c.N += r.N
		}
		column = slices.DeleteFunc(column, func(c Cell) bool { return !c.HasSD })
		c.SD, _ = eval.MeanSD(lists.Map(column, func(c Cell) float64 { return c.SD }))
		c.HasSD = len(column) > 0
	}
	row.sample = averaged(lists.Map(t.Rows, func(r Row) sample { return r.sample }), draws, t.Ranks || t.ByClass)
	return row
}

// compare marks the best cells of each row and tests the others against the first of them. The same scores determine
// the best, so p-values are corrected for all pairs in all rows. Half of the correction's level goes to the averages.
func (t *Table) compare() {
	var rows []*Row // with means to compare
	for _, r := range t.allRows() {
		if t.markBest(r); r.best >= 0 && !(r.Average && t.Tests.noAverage) {
			rows = append(rows, r)
			n := len(lists.Indices(r.Cells, func(c Cell) bool { return c.N >= minPairs }))
			t.Comparisons += n * (n - 1) / 2
		}
	}
	whole := t.Tests.corrects() && t.Comparisons <= maxFamily
	var f testFamily
	averages := 0 // the number of p-values of averages, which come last
	for _, r := range rows {
		before := len(f.pValues)
		for i := range r.Cells {
			for j := range i {
				a, b := i, j
				if a == r.best {
					a, b = j, i
				}
				if c := &r.Cells[a]; b == r.best && !c.Best {
					if c.Contrast = t.Tests.contrast(r.sample, a, b); c.Pairs > 0 {
						f.add(c.Raw, &c.Contrast)
					}
				} else if x, _ := r.sample.pair(i, j); whole && len(x) >= minPairs {
					f.add(t.Tests.pValue(r.sample, i, j), nil)
				}
			}
		}
		if r.Average {
			averages = len(f.pValues) - before
		}
	}
	if !whole {
		t.Tests.judge(f, t.Comparisons)
		return
	}
	t.Comparisons = len(f.pValues)
	for i := t.Comparisons - averages; averages < t.Comparisons && i < t.Comparisons; i++ {
		f.weights[i] = float64(t.Comparisons-averages) / float64(averages)
	}
	t.Tests.judge(f, 0)
}

// markBest marks the best cells of a row with at least two cells to compare.
func (t *Table) markBest(r *Row) {
	r.best = -1
	filled := lists.Indices(r.Cells, func(c Cell) bool { return c.N > 0 })
	if len(filled) < 2 {
		return
	}
	r.best = filled[0]
	for _, i := range filled {
		if t.Score.Better(r.Cells[i].Mean, r.Cells[r.best].Mean) {
			r.best = i
		}
	}
	for _, i := range filled {
		r.Cells[i].Best = !t.Score.Better(r.Cells[r.best].Mean, r.Cells[i].Mean)
	}
}

func (t *Table) allRows() (rows []*Row) {
	for i := range t.Rows {
		rows = append(rows, &t.Rows[i])
	}
	if t.Average != nil {
		rows = append(rows, t.Average)
	}
	return rows
}

// lastRow returns the average row if there is one, else the last row, or an empty row.
func (t *Table) lastRow() (last Row) {
	for _, r := range t.allRows() {
		last = *r
	}
	return last
}

// ChoosesRank reports whether the rows are several ranks.
func (t *Table) ChoosesRank() bool { return t.Ranks && len(t.Rows) > 1 }

// Level returns the representative cell of a column, and its row: the best rank, or the average over numbers of classes
// with the largest number. The cell is empty if the column is, or is −1.
func (t *Table) Level(column int) (row int, c Cell) {
	if column < 0 {
		return 0, Cell{}
	}
	if len(t.Rows) > 0 && !t.ChoosesRank() {
		return t.Rows[len(t.Rows)-1].Number, t.lastRow().Cells[column]
	}
	for _, r := range t.Rows {
		if here := r.Cells[column]; here.N > 0 && (c.N == 0 || t.Score.Better(here.Mean, c.Mean)) {
			row, c = r.Number, here
		}
	}
	return row, c
}

// Describe names a row: "5 classes", or "rank 10".
func (t *Table) Describe(r Row) string {
	if t.Ranks {
		return fmt.Sprintf("rank %d", r.Number)
	}
	return phrase.Count(r.Number, "class", "classes")
}

func (r Row) label() string {
	if r.Average {
		return "Average"
	}
	return cmp.Or(r.Name, strconv.Itoa(r.Number))
}

func (t *Table) rowPhrase() string {
	switch {
	case t.Average != nil:
		return "on average"
	case t.ByClass || len(t.Rows) == 0:
		return ""
	}
	return "with " + t.Describe(t.Rows[0])
}

// Finding names the best method in a sentence; "" if there is nothing to compare.
func (t *Table) Finding() string {
	return finding(t.Score, t.Methods, t.lastRow().Cells, t.rowPhrase())
}

// Document returns the table in words.
func (t *Table) Document() *Document {
	heading, class := "Classes", ""
	if t.Ranks {
		heading = "Rank"
	} else if t.ByClass {
		heading, class = "Class", "named"
	}
	g := Grid{
		Name: t.Score.Name, Score: t.Score.Name, Keys: 1, KeyFields: []string{strings.ToLower(heading)}, Fields: cellFields,
		Columns: methodColumns(Column{Heading: heading, Right: !t.ByClass}, t.Methods),
	}
	words := t.words()
	for i, row := range t.allRows() {
		key := row.label()
		if row.Average {
			key = "average"
		}
		g.Lines = append(g.Lines, Line{append([]Word{{Text: row.label()}}, words[i]...), row.Average, []string{key}})
	}
	return &Document{
		Name: t.Name, Class: class, Title: t.Score.Title, Caption: caption("table", t.explained()),
		Grids: append([]Grid{g}, t.differences(g.Name, t.Methods, t.rowPhrase())...),
	}
}

func (t *Table) words() (out [][]Word) {
	width := 0 // of the longest deviation
	for _, row := range t.allRows() {
		for _, c := range row.Cells {
			if c.HasSD {
				width = max(width, len(formatValue(t.Score, c.SD)))
			}
		}
	}
	for _, row := range t.allRows() {
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

// cellFields are the columns of a cell in CSV: the number of trials, "best" or "", and the fields of its contrast.
var cellFields = []string{"n", "mean", "sd", "best", "pairs", "p", "uncorrected", "difference", "low", "high", "effect", "biserial", "below", "within", "above"}

func (c Cell) fields(by Tests) []string {
	best := map[bool]string{true: "best"}[c.Best]
	return append([]string{strconv.Itoa(c.N), csvNumber(c.Mean, c.N > 0), csvNumber(c.SD, c.HasSD), best}, c.Contrast.fields(by, cellFields[4:]...)...)
}

// differences returns a grid of the differences from the first best cell in the last row; none without a test.
func (t *Table) differences(grid string, names []string, where string) []Grid {
	if !t.cellKindsOf(t.lastRow()).Tested {
		return nil
	}
	cells := t.lastRow().Cells
	best := slices.IndexFunc(cells, func(c Cell) bool { return c.Best })
	g := Grid{
		Title: fmt.Sprintf("Difference in %s from %s %s", scoreLabel(t.Score), names[best], where), Name: grid + " differences", Detail: true, Keys: 1,
		Columns: append([]Column{{Heading: "Method"}, {Heading: "Difference", Right: true}}, t.Tests.columns()...),
		Caption: caption("differences", t.explained().How),
	}
	for i, c := range cells {
		if c.Pairs > 0 {
			g.Lines = append(g.Lines, Line{Words: append([]Word{{Text: names[i]}, {Text: signed(t.Score, c.Difference)}}, c.words(t.Tests, t.Score)...)})
		}
	}
	return []Grid{g}
}

// Best is the table of each method at its best mean, over the ranks and the settings of a sweep.
type Best struct {
	Ranks, Swept bool   // whether ranks, and settings of a sweep, were chosen
	Rows         []Peak // in the order of the methods, one for a sweep, without methods that lack the score
	Table        *Table // a column for each row, of the trials at its best
}

// NewBest returns the best of the given methods by one score. It is nil with at most one rank and no sweep.
func NewBest(records []record.Record, score string, methods []string, sweeps []spec.Sweep, by Tests) *Best {
	all := New(records, score, methods, Tests{Rule: significance.Rule{By: significance.ByNone}})
	b := &Best{Ranks: all.ChoosesRank(), Swept: len(sweeps) > 0}
	if len(all.Rows) == 0 || !b.Ranks && !b.Swept {
		return nil
	}
	peaks := slices.DeleteFunc(Peaks(all, sweeps), func(p Peak) bool { return p.Row == 0 })
	var chosen []record.Record
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
	for i, c := range b.Table.lastRow().Cells {
		peaks[i].Cell = c
	}
	b.Rows = peaks
	return b
}

// Peak is the best row and setting of a method.
type Peak struct {
	Method, Setting string // a setting of a sweep, as "lambda=10", or ""
	Label           string // the method's name in the records with this setting
	Row             int    // a rank if there are several, else the largest number of classes; 0 without trials
	Cell            Cell   // its cell; by NewBest, tested against the best of all methods
	Rank            int    // set by NewBest; 0 for methods without a rank
}

// Peaks returns the best row and setting of each method of a table. For rows of classes, it compares the means over the
// rows. Ties go to the first, and a method without trials gets its first setting.
func Peaks(t *Table, sweeps []spec.Sweep) []Peak {
	var peaks []Peak
	done := map[string]bool{}
	for _, method := range t.Methods {
		if done[method] {
			continue
		}
		candidates, sweep := []string{method}, spec.Sweep{Name: method}
		if s, ok := lists.Find(sweeps, func(s spec.Sweep) bool { return slices.Contains(s.Methods, method) }); ok {
			candidates, sweep = s.Methods, s
		}
		best := Peak{Method: sweep.Name, Label: method}
		for _, label := range candidates {
			done[label] = true
			if row, c := t.Level(slices.Index(t.Methods, label)); c.N > 0 && (best.Cell.N == 0 || t.Score.Better(c.Mean, best.Cell.Mean)) {
				best.Label, best.Row, best.Cell = label, row, c
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

// Labels returns the labels of the peaks.
func Labels(peaks []Peak) []string {
	return lists.Map(peaks, func(p Peak) string { return p.Label })
}

func (b *Best) chosenNames() []string {
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

func (b *Best) caption() string {
	e := b.Table.explained()
	chosen := "rank and setting"
	if !b.Swept {
		chosen = "rank"
	} else if !b.Ranks {
		chosen = "setting"
	}
	e.At = " at the best " + chosen + " of each method"
	e.Last = e.cellKindsOf(b.Table.lastRow())
	if b.Table.Average != nil {
		e.Numbers = phrase.Numbers(lists.Map(b.Table.Rows, func(r Row) int { return r.Number }))
	}
	return caption("best", e)
}

// Finding names the best method, with its rank and setting, in a sentence.
func (b *Best) Finding() string {
	return finding(b.Table.Score, b.chosenNames(), b.Table.lastRow().Cells, "with each method at its best")
}

// Document returns the table in words.
func (b *Best) Document() *Document {
	score := b.Table.Score
	g := Grid{Name: "best " + score.Name, Score: score.Name, KeyFields: []string{"method", "rank", "setting"}, Columns: []Column{{Heading: "Method"}}}
	if b.Ranks {
		g.Columns = append(g.Columns, Column{Heading: "Rank", Right: true})
	}
	if b.Swept {
		g.Columns = append(g.Columns, Column{Heading: "Setting", Settings: true})
	}
	g.Keys = len(g.Columns)
	g.Columns = append(g.Columns, valueColumn(scoreLabel(score), cellFields...))
	words := b.Table.words()
	for i, row := range b.Rows {
		rank := strings.TrimPrefix(strconv.Itoa(row.Rank), "0") // "" without a rank
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
	return &Document{Name: b.Table.Name, Class: "chosen", Title: score.Title, Caption: b.caption(), Grids: append([]Grid{g}, b.Table.differences(g.Name, b.chosenNames(), "with each method at its best")...)}
}

// Chosen holds the numbers that were chosen for draws with a number of classes.
type Chosen struct {
	Classes int
	Numbers []int
}

// ChosenDocument returns a table of chosen numbers, for example "ranks": the mean, the smallest, the largest, and all
// of them. With off it also has the mean of |ln(number/classes)|.
func ChosenDocument(name, what string, rows []Chosen, off bool) *Document {
	g := Grid{Name: "chosen " + what, Score: what, Keys: 1, KeyFields: []string{"classes"}, Columns: []Column{
		{Heading: "Classes", Right: true}, valueColumn("Mean", "mean"), valueColumn("Smallest", "least"), valueColumn("Largest", "most"),
	}}
	d := &Document{Name: name, Title: strings.ToUpper(what[:1]) + what[1:] + " chosen for the draws of each number of classes."}
	if off {
		g.Columns = append(g.Columns, valueColumn("Off", "off"))
		d.Caption = "Off: mean of |ln(chosen/classes)|; 0.1 is about 10 % too few or too many."
	}
	g.Columns = append(g.Columns, Column{Heading: "Each draw", Fields: []string{"draws"}})
	for _, r := range rows {
		var sum, apart float64
		for _, n := range r.Numbers {
			sum += float64(n)
			apart += math.Abs(elementary.Log(float64(n) / float64(r.Classes)))
		}
		count, classes := float64(len(r.Numbers)), strconv.Itoa(r.Classes)
		words := []string{fmt.Sprintf("%.1f", sum/count), strconv.Itoa(slices.Min(r.Numbers)), strconv.Itoa(slices.Max(r.Numbers))}
		if off {
			words = append(words, fmt.Sprintf("%.2f", apart/count))
		}
		line := Line{Words: []Word{{Text: classes}}, Keys: []string{classes}}
		for _, w := range append(words, strings.Join(lists.Map(r.Numbers, strconv.Itoa), ", ")) {
			line.Words = append(line.Words, Word{Text: w, Fields: []string{w}})
		}
		g.Lines = append(g.Lines, line)
	}
	d.Grids = []Grid{g}
	return d
}
