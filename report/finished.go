package report

import (
	"cmp"
	"slices"

	"github.com/seed4492f2cd/partwise/pipeline"
)

// finished returns the records of the given methods, one for each trial (the
// last, where a log has several), in the order of classes, repeat and method,
// so that nothing depends on the order in which trials were finished.
func finished(records []pipeline.Record, methods []string) []pipeline.Record {
	order := func(a, b pipeline.Record) int {
		return cmp.Or(
			cmp.Compare(rowOf(a), rowOf(b)),
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
