package table

import (
	"fmt"
	"strings"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/eval/significance"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
)

// Sentences that several captions have.
const (
	testSentence     = "%s: not significantly different from the best (%s)."
	openSentence     = "%s: as good as the best or worse, which is open (%s)."
	sameSentence     = "%s: practically as good as the best (probability %g or more of a difference within ±%s)."
	partialSentence  = "(n) before a value: only n repeats are finished."
	untestedSentence = "The differences are not tested."
)

// own returns our own words in a format.
func (m Marks) own(text string) string {
	if m.Own == nil {
		return text
	}
	return m.Own(text)
}

// caption puts a caption together: the experiment and a title, which may hold names, and our own words.
func (m Marks) caption(name, title, rest string, sentences []string) string {
	if name != "" && !m.Nameless {
		title = name + ": " + title
	}
	return strings.TrimSpace(m.Foreign(title) + m.own(rest) + " " + m.own(strings.Join(sentences, " ")))
}

// names returns names in a sentence.
func (m Marks) names(names []string) string {
	shown := make([]string, len(names))
	for i, name := range names {
		shown[i] = m.Foreign(name)
	}
	return phrase.List(shown)
}

// facts are what a caption explains of cells.
type facts struct{ contest, tested, untested, partial, empty bool }

func (t *Table) facts(rows ...Row) (f facts) {
	for _, row := range rows {
		for _, c := range row.Cells {
			f.contest = f.contest || c.Best
			f.tested = f.tested || c.Pairs > 0
			f.untested = f.untested || c.N > 0 && !c.Best && c.Pairs == 0
			f.partial = f.partial || c.N > 0 && c.N < t.Repeats
			f.empty = f.empty || c.N == 0
		}
	}
	return f
}

// repeats describes the numbers of a table.
func (t *Table) repeats(where string) string {
	switch t.Repeats {
	case 0:
		return ": no finished trials."
	case 1:
		return fmt.Sprintf("%s%s, one repeat.", inUnit(t.Score), where)
	}
	return fmt.Sprintf("%s%s, mean ± standard deviation over %d repeats.", inUnit(t.Score), where, t.Repeats)
}

// caption explains the table and its marks.
func (t *Table) caption(m Marks) string {
	f := t.facts(t.Rows...)
	var average facts
	if t.Average != nil {
		average = t.facts(*t.Average)
	}
	var s []string
	add := func(format string, a ...any) { s = append(s, fmt.Sprintf(format, a...)) }
	if f.contest {
		add("%s: the best of the row.", m.Best)
	}
	if f.tested || average.tested {
		s = append(s, t.testSentences(m)...)
	}
	switch {
	case t.Tests.By == significance.ByNone:
		if f.contest {
			add(untestedSentence)
		}
	case f.contest && f.untested && f.tested:
		add("Cells with fewer than %d repeats in common with the best are not tested and bear no mark.", minPairs)
	case f.contest && f.untested:
		add("The rows are not tested: that takes %d repeats.", minPairs)
	}
	if f.partial {
		add(partialSentence)
	}
	if f.empty {
		add("%s: no finished trial.", missing)
	}
	if t.Average != nil {
		last := "Last row: the means of the rows above"
		if average.tested {
			last += ", tested over the draws of all rows"
			if t.Tests.corrects() && t.Comparisons <= maxFamily {
				last += " with half of the correction for itself"
			}
		}
		if average.empty {
			last += "; a method that lacks a row has none"
		}
		add("%s.", last)
	}
	return m.caption(t.Name, t.Score.Title, t.repeats(""), s)
}

// testSentences explain the marks of tests.
func (t *Table) testSentences(m Marks) []string {
	how := t.Tests.method(t.Score, t.Comparisons, populations(t.draws))
	if !t.Tests.By.Bayesian() {
		return []string{fmt.Sprintf(testSentence, m.Tied, how)}
	}
	return []string{
		fmt.Sprintf(openSentence, m.Tied, how),
		fmt.Sprintf(sameSentence, m.Equivalent, significance.Sure, t.Tests.rope(t.Score)),
	}
}

// caption explains the table and its marks.
func (b *Best) caption(m Marks) string {
	t := b.Table
	var chosen, s []string
	if b.Ranks {
		chosen = append(chosen, "rank")
	}
	if b.Swept {
		chosen = append(chosen, "setting")
	}
	add := func(format string, a ...any) { s = append(s, fmt.Sprintf(format, a...)) }
	if t.Average != nil {
		var numbers []int
		for _, r := range t.Rows {
			numbers = append(numbers, r.Number)
		}
		add("Averages over %s classes.", phrase.Numbers(numbers))
	}
	f := t.facts(t.last())
	if f.contest {
		add("%s: the best of all.", m.Best)
	}
	switch {
	case t.Tests.By == significance.ByNone && f.contest:
		add(untestedSentence)
	case f.tested:
		s = append(s, t.testSentences(m)...)
	case f.contest:
		add("The differences are not tested: that takes %d repeats.", minPairs)
	}
	if t.Average == nil && f.partial {
		add(partialSentence)
	}
	add("The choice was made by this very score, which flatters methods with much to choose from.")
	return m.caption(t.Name, t.Score.Title, t.repeats(" at the best "+phrase.List(chosen)+" of each method"), s)
}

// Finding says in a sentence which method is the best of a table; "" without a contest.
func (t *Table) Finding() string {
	if len(t.Rows) == 0 {
		return ""
	}
	return finding(t.Score, t.Methods, t.last().Cells, t.where())
}

// Finding says in a sentence which method is the best at its best.
func (b *Best) Finding() string {
	return finding(b.Table.Score, b.names(), b.Table.last().Cells, "where each is at its best")
}

func finding(score eval.Score, names []string, cells []Cell, where string) string {
	var best, tied []string
	mean := ""
	for i, c := range cells {
		switch {
		case c.Best:
			best = append(best, names[i])
			mean = WithUnit(score, c.Mean, "\u00a0")
		case c.Tied():
			tied = append(tied, names[i])
		}
	}
	if best == nil {
		return ""
	}
	is := "is"
	if len(best) > 1 {
		is = "are"
	}
	s := fmt.Sprintf("%s: %s %s best %s (%s).", score.Title, phrase.List(best), is, where, mean)
	if tied != nil {
		s += fmt.Sprintf(" Not significantly worse: %s.", phrase.List(tied))
	}
	return s
}
