package table

import (
	"fmt"
	"strings"

	"github.com/seed4492f2cd/partwise/eval/significance"
	"github.com/seed4492f2cd/partwise/internal/phrase"
)

// What captions say of marks.
const (
	testSentence    = "%s: not significantly different from the best (%s)."
	openSentence    = "%s: as good as the best or worse, which is open (%s)."
	sameSentence    = "%s: practically as good as the best (probability %g or more of a difference within ±%s)."
	partialSentence = "(n) before a value: only n repeats are finished."
	emptySentence   = "%s: no finished trial."
)

// join puts a caption together from its opening and its other sentences.
func (m Marks) join(opening string, sentences []string) string {
	rest := strings.Join(sentences, " ")
	if m.Own != nil {
		rest = m.Own(rest)
	}
	return strings.TrimSpace(opening + " " + rest)
}

// opening says what the numbers are, and where in a table of choices.
func (t *Table) opening(m Marks, where string) string {
	title := t.Score.Title
	if t.Name != "" && !m.Nameless {
		title = t.Name + ": " + title
	}
	rest := fmt.Sprintf("%s%s, mean ± standard deviation over %d repeats.", t.Score.In(), where, t.Repeats)
	switch t.Repeats {
	case 0:
		rest = ": no finished trials."
	case 1:
		rest = fmt.Sprintf("%s%s, one repeat.", t.Score.In(), where)
	}
	if m.Own != nil {
		rest = m.Own(rest)
	}
	return m.Foreign(title) + rest
}

// caption says in words what a table holds and what its marks mean.
func (t *Table) caption(m Marks) string {
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

	opening := t.opening(m, "")
	if t.Repeats == 0 {
		return opening
	}
	if contest {
		add("%s: the best of the row.", m.Best)
	}
	if tested || averageTested {
		s = append(s, t.testSentences(m)...)
	}
	switch {
	case t.Tests.By == significance.ByNone:
		if contest {
			add("The differences are not tested.")
		}
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
			last += ", tested over the draws of all rows"
			if corrected := !t.Tests.By.Bayesian() && t.Tests.Correction == significance.ByHolm; corrected && t.Comparisons <= maxFamily {
				last += " with half of the correction for itself"
			}
		}
		if noAverage {
			last += "; a method that lacks a row has none"
		}
		add("%s.", last)
	}
	return m.join(opening, s)
}

// testSentences say what the marks of tests mean.
func (t *Table) testSentences(m Marks) []string {
	how := t.Tests.method(t.Score, t.Comparisons, "differences are tested "+beyond(t.draws))
	if !t.Tests.By.Bayesian() {
		return []string{fmt.Sprintf(testSentence, m.Tied, how)}
	}
	return []string{
		fmt.Sprintf(openSentence, m.Tied, how),
		fmt.Sprintf(sameSentence, m.Equivalent, significance.Sure, t.Tests.rope(t.Score)),
	}
}

// caption says in words what the table holds, as that of Table does.
func (b *Best) caption(m Marks) string {
	t := b.Table
	var chosen []string
	if b.Ranks {
		chosen = append(chosen, "rank")
	}
	if b.Swept {
		chosen = append(chosen, "setting")
	}
	opening := t.opening(m, " at the best "+phrase.List(chosen)+" of each method")
	var s []string
	add := func(format string, a ...any) { s = append(s, fmt.Sprintf(format, a...)) }
	if t.Average != nil {
		var numbers []int
		for _, r := range t.Rows {
			numbers = append(numbers, r.Number)
		}
		add("Averages over %s classes.", phrase.Numbers(numbers))
	}
	var contest, tested, partial bool
	for _, r := range b.Rows {
		contest = contest || r.Cell.Best
		tested = tested || r.Cell.Pairs > 0
		partial = partial || t.Average == nil && r.Cell.N < t.Repeats
	}
	if contest {
		add("%s: the best of all.", m.Best)
	}
	switch {
	case t.Tests.By == significance.ByNone && contest:
		add("The differences are not tested.")
	case tested:
		s = append(s, t.testSentences(m)...)
	case contest:
		add("The differences are not tested: that takes %d repeats.", minPairs)
	}
	if partial {
		add(partialSentence)
	}
	add("The choice was made by this very score, which flatters methods with much to choose from.")
	return m.join(opening, s)
}
