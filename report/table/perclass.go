package table

import (
	"slices"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/pipeline"
)

// classAccuracy is the score of a single class.
var classAccuracy = eval.Score{
	Name: "class accuracy", Title: "Accuracy of each class", Max: 1, Unit: eval.UnitPercent, Task: eval.Classification,
	Help: "The share of a class's test samples that were taken for what they are (its recall).",
}

// PerClass gathers the accuracy of each class that was tested, a row each. A repeat counts for the classes
// drawn in it. The records of a method should be of one rank or number of classes. The average row is not
// tested: the classes of a repeat are not independent of each other.
func PerClass(records []pipeline.Record, methods, classes []string, by Tests) *Table {
	var shares []pipeline.Record
	for _, r := range Finished(records, methods) {
		if !hasConfusion(r, len(classes)) {
			continue
		}
		for i, row := range r.Confusion {
			if all := sum(row); all > 0 {
				shares = append(shares, pipeline.Record{
					Method: r.Method, Row: classOf(r, i) + 1, Repeat: r.Repeat, Samples: r.Samples, Tested: r.Tested,
					Scores: map[string]float64{classAccuracy.Name: float64(row[i]) / float64(all)},
				})
			}
		}
	}
	by.Classes, by.noAverage = 0, true // a class is what it is, whichever others are drawn
	t := newTable(shares, classAccuracy, methods, by)
	t.Ranks, t.ByClass = false, true
	for i := range t.Rows {
		t.Rows[i].Name = classes[t.Rows[i].Number-1]
	}
	return t
}

// TotalConfusion adds up the confusions of records, classes×classes; nil if they have none.
func TotalConfusion(records []pipeline.Record, classes int) [][]int {
	var total [][]int
	for _, r := range records {
		if !hasConfusion(r, classes) {
			continue
		}
		if total == nil {
			total = make([][]int, classes)
			for i := range total {
				total[i] = make([]int, classes)
			}
		}
		for i, row := range r.Confusion {
			for j, n := range row {
				total[classOf(r, i)][classOf(r, j)] += n
			}
		}
	}
	return total
}

// hasConfusion reports whether a record has a confusion of all classes, or of those drawn.
func hasConfusion(r pipeline.Record, classes int) bool {
	n := len(r.Confusion)
	if n == 0 || r.Drawn == nil && n != classes || r.Drawn != nil && n != len(r.Drawn) {
		return false
	}
	return !slices.ContainsFunc(r.Confusion, func(row []int) bool { return len(row) != n }) &&
		!slices.ContainsFunc(r.Drawn, func(class int) bool { return class < 0 || class >= classes })
}

// classOf returns the class of the data that is the i-th of a record's confusion.
func classOf(r pipeline.Record, i int) int {
	if r.Drawn == nil {
		return i
	}
	return r.Drawn[i]
}

func sum(counts []int) int {
	all := 0
	for _, n := range counts {
		all += n
	}
	return all
}
