package report

import (
	"fmt"
	"strings"
)

// What captions say of marks.
const (
	testSentence    = "%s: not significantly different from the best (two-sided Wilcoxon signed-rank test over paired trials, p ≥ %g)."
	partialSentence = "(n) before a value: only n repeats are finished."
	emptySentence   = "%s: no finished trial."
)

// opening says what the numbers are, and where in a table of choices.
func (t *Table) opening(where string) string {
	title := scoreTitle(t.Score)
	if t.Name != "" {
		title = t.Name + ": " + title
	}
	switch t.Repeats {
	case 0:
		return title + ": no finished trials."
	case 1:
		return fmt.Sprintf("%s in percent%s, one repeat.", title, where)
	}
	return fmt.Sprintf("%s in percent%s, mean ± standard deviation over %d repeats.", title, where, t.Repeats)
}

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

	add("%s", t.opening(""))
	if t.Repeats == 0 {
		return s[0]
	}
	if contest {
		add("%s: the best of the row.", best)
	}
	if tested || averageTested {
		add(testSentence, tied, significance)
	}
	switch {
	case contest && untested && tested:
		add("Cells with fewer than %d repeats in common with the best are not tested and bear no mark.", minPairs)
	case contest && untested:
		add("The rows are not tested: that takes %d repeats.", minPairs)
	}
	if partial {
		add(partialSentence)
	}
	if empty {
		add(emptySentence, missing)
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

// caption says in words what the table holds, as that of Table does.
func (b *Best) caption(best, tied string) string {
	t := b.Table
	var chosen []string
	if b.Ranks {
		chosen = append(chosen, "rank")
	}
	if b.Swept {
		chosen = append(chosen, "setting")
	}
	s := []string{t.opening(" at the best " + list(chosen) + " of each method")}
	add := func(format string, a ...any) { s = append(s, fmt.Sprintf(format, a...)) }
	if t.Average != nil {
		add("Averages over %d to %d classes.", t.Rows[0].Number, t.Rows[len(t.Rows)-1].Number)
	}
	var contest, tested, partial bool
	for _, r := range b.Rows {
		contest = contest || r.Cell.Best
		tested = tested || r.Cell.Pairs > 0
		partial = partial || t.Average == nil && r.Cell.N < t.Repeats
	}
	if contest {
		add("%s: the best of all.", best)
	}
	switch {
	case tested:
		add(testSentence, tied, significance)
	case contest:
		add("The differences are not tested: that takes %d repeats.", minPairs)
	}
	if partial {
		add(partialSentence)
	}
	add("The choice was made by this very score, which flatters methods with much to choose from.")
	return strings.Join(s, " ")
}
