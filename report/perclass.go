package report

import (
	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/pipeline"
)

// classAccuracy is the score of a single class.
var classAccuracy = eval.Score{
	Name: "class accuracy", Title: "Accuracy of each class", Max: 1, Unit: eval.UnitPercent, Task: eval.Classification,
	Help: "The share of a class's test samples that were taken for what they are (its recall).",
}

// PerClass gathers how often the test samples of each class were taken for what
// they are, a row for each class that was tested. A repeat counts for the classes
// drawn in it. Of the records of a method, those of one rank or number of classes
// should be given. The average row is not tested: the classes of a repeat are not
// independent of each other.
func PerClass(records []pipeline.Record, methods, classes []string) *Table {
	var shares []pipeline.Record
	for _, r := range finished(records, methods) {
		if !hasConfusion(r, len(classes)) {
			continue
		}
		for i, row := range r.Confusion {
			if all := sum(row); all > 0 {
				shares = append(shares, pipeline.Record{
					Method: r.Method, Row: classOf(r, i) + 1, Repeat: r.Repeat,
					Scores: map[string]float64{classAccuracy.Name: float64(row[i]) / float64(all)},
				})
			}
		}
	}
	t := newTable(shares, classAccuracy, methods)
	t.Ranks, t.ByClass = false, true
	for i := range t.Rows {
		t.Rows[i].Name = classes[t.Rows[i].Number-1]
	}
	if t.Average != nil {
		for i := range t.Average.Cells {
			t.Average.Cells[i].Pairs, t.Average.Cells[i].P = 0, 0
		}
	}
	return t
}
