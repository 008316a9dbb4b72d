package report

import (
	"fmt"
	"strings"
)

// caption says in words what a table holds and what its marks mean. best and
// tied are the marks' names in the format at hand.
func (t *Table) caption(best, tied string) string {
	var contest, tested, untested, partial, empty, noAverage bool
	for _, row := range t.Rows {
		for _, c := range row.Cells {
			contest = contest || c.Best
			tested = tested || c.Pairs > 0
			untested = untested || c.N > 0 && !c.Best && c.Pairs == 0
			partial = partial || c.N > 0 && c.N < t.Repeats
			empty = empty || c.N == 0
		}
	}
	averageTested := false
	if t.Average != nil {
		for _, c := range t.Average.Cells {
			averageTested = averageTested || c.Pairs > 0
			noAverage = noAverage || c.N == 0
		}
	}

	var s []string
	add := func(format string, a ...any) { s = append(s, fmt.Sprintf(format, a...)) }

	title := scoreTitle(t.Score)
	if t.Name != "" {
		title = t.Name + ": " + title
	}
	switch {
	case t.Repeats == 0:
		add("%s: no finished trials.", title)
		return s[0]
	case t.Repeats == 1:
		add("%s in percent, one repeat.", title)
	default:
		add("%s in percent, mean ± standard deviation over %d repeats.", title, t.Repeats)
	}
	if contest {
		add("%s: the best of the row.", best)
	}
	if tested || averageTested {
		add("%s: not significantly different from the best (two-sided Wilcoxon signed-rank test over paired trials, p ≥ %g).",
			tied, significance)
	}
	switch {
	case contest && untested && tested:
		add("Cells with fewer than %d repeats in common with the best are not tested and bear no mark.", minPairs)
	case contest && untested:
		add("The rows are not tested: that takes %d repeats.", minPairs)
	}
	if partial {
		add("(n) before a value: only n repeats are finished.")
	}
	if empty {
		add("%s: no finished trial.", missing)
	}
	if t.Average != nil {
		last := "Last row: the means of the rows above"
		if averageTested {
			last += ", tested over the trials of all rows"
		}
		if noAverage {
			last += "; a method that lacks a row has none"
		}
		add("%s.", last)
	}
	return strings.Join(s, " ")
}
