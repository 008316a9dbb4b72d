package table

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/pipeline"
)

// RowOf returns the row of a table that a record belongs to.
func RowOf(r pipeline.Record) int { return cmp.Or(r.Row, r.Classes) }

// rowsOf returns the records of each row, of records in the order of Finished.
func rowsOf(records []pipeline.Record) iter.Seq[[]pipeline.Record] {
	return func(yield func([]pipeline.Record) bool) {
		for len(records) > 0 {
			end := slices.IndexFunc(records, func(r pipeline.Record) bool { return RowOf(r) != RowOf(records[0]) })
			if end < 0 {
				end = len(records)
			}
			if !yield(records[:end]) {
				return
			}
			records = records[end:]
		}
	}
}

// Finished returns the records of the given methods, one for each trial (the last of several), in the
// order of rows, repeats and methods, so that nothing depends on the order of the log.
func Finished(records []pipeline.Record, methods []string) []pipeline.Record {
	order := func(a, b pipeline.Record) int {
		return cmp.Or(
			cmp.Compare(RowOf(a), RowOf(b)),
			cmp.Compare(a.Repeat, b.Repeat),
			cmp.Compare(slices.Index(methods, a.Method), slices.Index(methods, b.Method)))
	}
	var kept []pipeline.Record
	for _, r := range slices.Backward(records) {
		if slices.Contains(methods, r.Method) {
			kept = append(kept, r)
		}
	}
	slices.SortStableFunc(kept, order)
	return slices.CompactFunc(kept, func(a, b pipeline.Record) bool { return order(a, b) == 0 })
}

// ScoresOf returns the names of all scores in the records, in the order of display.
func ScoresOf(records []pipeline.Record) []string {
	found := map[string]bool{}
	for _, r := range records {
		for name := range r.Scores {
			found[name] = true
		}
	}
	return slices.SortedFunc(maps.Keys(found), eval.CompareScores)
}
