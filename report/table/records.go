package table

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/pipeline/record"
)

// RowOf returns the row of a table for a record: its rank or number of classes.
func RowOf(r record.Record) int { return cmp.Or(r.Row, r.Classes) }

// rowsOf splits records in the order of Finished by row.
func rowsOf(records []record.Record) (rows [][]record.Record) {
	for i, r := range records {
		if i == 0 || RowOf(r) != RowOf(records[i-1]) {
			rows = append(rows, nil)
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], r)
	}
	return rows
}

// Finished returns the records of the given methods, sorted by row, repeat and method, the last one for each trial, so
// that nothing depends on the order of the log.
func Finished(records []record.Record, methods []string) []record.Record {
	order := func(a, b record.Record) int {
		return cmp.Or(
			cmp.Compare(RowOf(a), RowOf(b)),
			cmp.Compare(a.Repeat, b.Repeat),
			cmp.Compare(slices.Index(methods, a.Method), slices.Index(methods, b.Method)))
	}
	var kept []record.Record
	for _, r := range slices.Backward(records) {
		if slices.Contains(methods, r.Method) {
			kept = append(kept, r)
		}
	}
	slices.SortStableFunc(kept, order)
	return slices.CompactFunc(kept, func(a, b record.Record) bool { return order(a, b) == 0 })
}

// ScoresOf returns the names of all scores in the records, in the order of display.
func ScoresOf(records []record.Record) []string {
	found := map[string]bool{}
	for _, r := range records {
		for name := range r.Scores {
			found[name] = true
		}
	}
	return slices.SortedFunc(maps.Keys(found), eval.CompareScores)
}

// formatValue formats a value of a score without its unit: a percentage with one decimal, other numbers with three.
func formatValue(s eval.Score, v float64) string {
	decimals := 3
	if s.Unit == eval.UnitPercent {
		v, decimals = 100*v, 1
	}
	if math.Abs(v) >= 1e6 {
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Trim(text, "-0.") == "" {
		return strings.TrimPrefix(text, "-")
	}
	return text
}

// WithUnit returns a value of a score as text, with the separator and the unit behind.
func WithUnit(s eval.Score, v float64, separator string) string {
	return formatValue(s, v) + unit(s, separator)
}

// unit returns the unit of a score after a separator; "" for plain numbers.
func unit(s eval.Score, separator string) string {
	if s.Unit == eval.UnitNone {
		return ""
	}
	return separator + string(s.Unit)
}

// inUnit returns the unit for a sentence, as in " in percent".
func inUnit(s eval.Score) string {
	if s.Unit == eval.UnitPercent {
		return " in percent"
	}
	return unit(s, " in ")
}

// scoreLabel returns the short name of a score for a column.
func scoreLabel(s eval.Score) string {
	first, size := utf8.DecodeRuneInString(s.Name)
	label := string(unicode.ToUpper(first)) + s.Name[size:]
	if s.Unlabelled {
		label = strings.TrimSuffix(label, eval.UnlabelledSuffix) + " of the unlabelled samples"
	}
	return label
}

// AxisLabel returns the label of an axis: the score's name, further words, and the unit.
func AxisLabel(s eval.Score, words string) string { return scoreLabel(s) + words + unit(s, ", ") }

func findScore(name string) eval.Score {
	s, _ := eval.FindScore(name)
	return s
}

var classAccuracy = eval.Score{
	Name: "class accuracy", Title: "Accuracy of each class", Max: 1, Unit: eval.UnitPercent, Task: eval.Classification,
	Help: "Recall: percentage of the class's test samples that are classified correctly.",
}

// PerClass returns the table of the accuracy of each tested class, one a row. The records of a method must have one
// rank or number of classes. The average row is not tested, because the classes of a repeat are not independent.
func PerClass(records []record.Record, methods, classes []string, by Tests) *Table {
	var shares []record.Record
	for _, r := range Finished(records, methods) {
		for i, class := range confusedClasses(r, len(classes)) {
			row, all := r.Confusion[i], 0
			for _, n := range row {
				all += n
			}
			if all > 0 {
				shares = append(shares, record.Record{
					Method: r.Method, Row: class + 1, Repeat: r.Repeat, Samples: r.Samples, Tested: r.Tested,
					Scores: map[string]float64{classAccuracy.Name: float64(row[i]) / float64(all)},
				})
			}
		}
	}
	by.Classes, by.noAverage = 0, true // a class is the same whichever others are drawn
	t := newTable(shares, classAccuracy, methods, by)
	t.Ranks, t.ByClass = false, true
	for i := range t.Rows {
		t.Rows[i].Name = classes[t.Rows[i].Number-1]
	}
	return t
}

// TotalConfusion returns the sum of the confusion matrices of records, classes×classes; nil if they have none.
func TotalConfusion(records []record.Record, classes int) (total [][]int) {
	for _, r := range records {
		of := confusedClasses(r, classes)
		for len(of) > 0 && len(total) < classes {
			total = append(total, make([]int, classes))
		}
		for i, a := range of {
			for j, b := range of {
				total[a][b] += r.Confusion[i][j]
			}
		}
	}
	return total
}

// confusedClasses returns the class of each row of a record's confusion matrix; nil unless it covers all classes, or
// those drawn.
func confusedClasses(r record.Record, classes int) []int {
	n, of := len(r.Confusion), r.Drawn
	for i := 0; r.Drawn == nil && i < classes; i++ {
		of = append(of, i)
	}
	if n != len(of) || slices.ContainsFunc(r.Confusion, func(row []int) bool { return len(row) != n }) ||
		slices.ContainsFunc(of, func(class int) bool { return class < 0 || class >= classes }) {
		return nil
	}
	return of
}
