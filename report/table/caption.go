package table

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/eval/significance"
	"github.com/seed4492f2cd/partwise/internal/plaintext"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
)

// bracket stands before and after a name in our own text. No name holds it, since plaintext.Line shows it.
const bracket = "\x0e"

// name returns a name for a text that Marks.text writes.
func name(s string) string { return bracket + plaintext.Line(s) + bracket }

func names(names []string) string {
	shown := make([]string, len(names))
	for i, n := range names {
		shown[i] = name(n)
	}
	return phrase.List(shown)
}

var (
	//go:embed captions.txt
	captionText string

	captions = template.Must(template.New("captions").Funcs(template.FuncMap{
		"count": phrase.Count, "inUnit": inUnit, "names": names, "p": pText, "rope": Tests.rope,
	}).Parse(captionText))
)

// caption fills in a template of captions.txt.
func caption(template string, data any) string {
	var text strings.Builder
	if err := captions.ExecuteTemplate(&text, template, data); err != nil {
		panic(err) // the templates are part of the program
	}
	var lines []string
	for line := range strings.Lines(text.String()) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, " ")
}

type tested struct {
	Tests
	Score       eval.Score
	Comparisons int
	Draws       []significance.Draws
	Found       bool   // marks stand at differences
	In          string // the unit
}

// Rope is the region of practical equivalence in words.
func (t tested) Rope() string { return t.rope(t.Score) }

func (t tested) Bonferroni() bool { return t.Comparisons > maxFamily }

// Holm reports whether p-values have Holm's correction.
func (t tested) Holm() bool { return t.corrects() && !t.Bonferroni() }

// Population says what differences over draws are tested for.
func (t tested) Population() string {
	var words []string
	for _, d := range t.Draws {
		if w := d.Beyond(); !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	text := "differences are tested for " + words[0]
	if len(words) > 1 {
		text += ", and where all classes are drawn for " + words[len(words)-1]
	}
	return text
}

func (by Tests) rope(s eval.Score) string {
	switch points := 100 * by.Width(); {
	case s.Unit != eval.UnitPercent:
		return strings.TrimSpace(fmt.Sprintf("%g %s", by.Width(), s.Unit))
	case points == 1:
		return "1 point"
	default:
		return fmt.Sprintf("%g points", points)
	}
}

// rated says what a caption explains of cells.
type rated struct{ Contest, Tested, Untested, Partial, Empty bool }

func (t *Table) rated(rows ...Row) (f rated) {
	for _, row := range rows {
		for _, c := range row.Cells {
			f.Contest = f.Contest || c.Best
			f.Tested = f.Tested || c.Pairs > 0
			f.Untested = f.Untested || c.N > 0 && !c.Best && c.Pairs == 0
			f.Partial = f.Partial || c.N > 0 && c.N < t.Repeats
			f.Empty = f.Empty || c.N == 0
		}
	}
	return f
}

// explained is what the captions of a table and of the best explain.
type explained struct {
	*Table
	Rated, Last rated // of all rows without the average, and of the last row or the average
	How         tested
	Least       int    // fewest pairs that are tested
	At, Numbers string // where each method is at its best, and the numbers of classes averaged over
}

func (t *Table) explained() explained {
	e := explained{Table: t, Rated: t.rated(t.Rows...), Least: minPairs}
	if t.Average != nil {
		e.Last = t.rated(*t.Average)
	}
	e.How = tested{Tests: t.Tests, Score: t.Score, Comparisons: t.Comparisons, In: inUnit(t.Score)}
	for _, r := range t.Rows {
		e.How.Draws = append(e.How.Draws, r.sample.draws)
	}
	return e
}

// finding says in a sentence which of the cells is the best; "" without a contest.
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
