package table

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/eval/significance"
	"github.com/seed4492f2cd/partwise/internal/phrase"
)

// differences is a grid of how the methods of another, of these names, differ from the first of the
// best in the last row; none where no test was made.
func (t *Table) differences(grid string, names []string, where string) []Grid {
	if len(t.Rows) == 0 {
		return nil
	}
	r := t.last()
	best := slices.IndexFunc(r.Cells, func(c Cell) bool { return c.Best })
	if best < 0 || !slices.ContainsFunc(r.Cells, func(c Cell) bool { return c.Pairs > 0 }) {
		return nil
	}
	g := Grid{
		Title: fmt.Sprintf("Difference in %s from %s %s", t.Score.Label(), names[best], where), Name: grid + " differences", Detail: true, Keys: 1,
		Columns: append([]Column{{Heading: "Method"}, {Heading: "Difference", Right: true}}, t.Tests.columns()...),
		Caption: t.differenceCaption,
	}
	for i, c := range r.Cells {
		if c.Pairs > 0 {
			g.Lines = append(g.Lines, Line{Words: append([]Word{{Text: names[i]}, {Text: signed(t.Score, c.Difference)}}, c.words(t.Tests, t.Score)...)})
		}
	}
	return []Grid{g}
}

// columns are those of what tests say of a difference.
func (by Tests) columns() []Column {
	columns := []Column{{Heading: "95 % interval", Right: true, Fields: []string{"low", "high"}}, {Heading: "Effect", Right: true, Fields: []string{"effect", "biserial"}}}
	if by.By.Bayesian() {
		return append(columns, Column{Heading: "Below", Right: true, Fields: []string{"below"}}, Column{Heading: "Within", Right: true, Fields: []string{"within"}}, Column{Heading: "Above", Right: true, Fields: []string{"above"}})
	}
	return append(columns, Column{Heading: "p", Right: true, Fields: []string{"p", "uncorrected"}})
}

// words are what stands in these columns.
func (c Contrast) words(by Tests, s eval.Score) []Word {
	blank := func(fields int) Word { return Word{Text: missing, Fields: make([]string, fields)} }
	interval, effect := blank(2), blank(2)
	if c.Pairs > 0 && c.HasInterval {
		interval = Word{Text: "[" + signed(s, c.Low) + ", " + signed(s, c.High) + "]", Fields: []string{full(c.Low), full(c.High)}}
	}
	if c.Pairs > 0 {
		effect.Fields[1] = full(c.Biserial)
	}
	if c.Pairs > 0 && c.HasEffect {
		effect.Text, effect.Fields[0] = signedText(fmt.Sprintf("%.2f", c.Effect), c.Effect), full(c.Effect)
	}
	words := []Word{interval, effect}
	if by.By.Bayesian() {
		for i, p := range []float64{c.Chances.Below, c.Chances.Within, c.Chances.Above} {
			w := blank(1)
			if c.Pairs > 0 {
				w = Word{Text: fmt.Sprintf("%.3f", p), Fields: []string{full(p)}}
			}
			w.Bold = c.Pairs > 0 && p >= significance.Sure
			if w.Mark = Unmarked; i == 2 {
				w.Mark = c.mark()
			}
			words = append(words, w)
		}
		return words
	}
	p := blank(2)
	if c.Pairs > 0 {
		p = Word{Text: pText(c.P), Fields: []string{full(c.P), full(c.Raw)}}
	}
	p.Mark = c.mark()
	return append(words, p)
}

// mark is that of a difference in a table of such.
func (c Contrast) mark() Mark {
	switch c.Verdict {
	case Different:
		return MarkDiffers
	case Equivalent:
		return MarkEquivalent
	}
	return Unmarked
}

// differenceCaption says what the columns of differences hold.
func (t *Table) differenceCaption(m Marks) string {
	s := t.Tests.differenceSentence(t.Score.In(), t.Tests.rope(t.Score), t.Comparisons)
	if m.Own != nil {
		s = m.Own(s)
	}
	return s
}

func (by Tests) differenceSentence(in, rope string, comparisons int) string {
	const effect = ", and the effect, the mean in standard deviations of the differences."
	switch {
	case by.By.Bayesian():
		return fmt.Sprintf("Differences: mean%s, its 95 %% interval of highest probability%s Below, within and above: the probabilities of a difference below −%s, within ±%[3]s and above it.", in, effect, rope)
	case comparisons > 1 && by.Correction == significance.ByHolm:
		return "Differences: mean" + in + ", its 95 % interval, each by itself" + effect + " p is corrected."
	}
	return "Differences: mean" + in + ", its 95 % interval, each by itself" + effect
}

// rope is the region of practical equivalence in words.
func (by Tests) rope(s eval.Score) string {
	if s.Unit == eval.UnitPercent {
		points := 100 * by.Width()
		if points == 1 {
			return "1 point"
		}
		return fmt.Sprintf("%g points", points)
	}
	return strings.TrimSpace(fmt.Sprintf("%g %s", by.Width(), s.Unit))
}

// method says by what differences were told from chance, and where they do not count.
func (by Tests) method(s eval.Score, comparisons int, of string) string {
	var test string
	switch by.By {
	case significance.BySignedRank:
		test = "two-sided Wilcoxon signed-rank test over paired trials"
	case significance.ByBayesT:
		return fmt.Sprintf("Bayesian t-test for trials that overlap (Corani and Benavoli 2015), less than %g sure of a difference beyond ±%s; %s", significance.Sure, by.rope(s), of)
	case significance.ByBayesSignedRank:
		return fmt.Sprintf("Bayesian signed-rank test (Benavoli et al. 2017), less than %g sure of a difference beyond ±%s", significance.Sure, by.rope(s))
	default:
		test = "paired t-test with the variance for trials that overlap (Nadeau and Bengio 2003)"
	}
	switch {
	case by.Correction == significance.Uncorrected && comparisons > 1:
		test += fmt.Sprintf(", p ≥ %g, not corrected for %s", significance.Level, phrase.Count(comparisons, "comparison", "comparisons"))
	case comparisons > maxFamily:
		test += fmt.Sprintf(", p ≥ %g after Bonferroni's correction for %d comparisons", significance.Level, comparisons)
	case comparisons > 1:
		test += fmt.Sprintf(", p ≥ %g after Holm's correction for %d comparisons", significance.Level, comparisons)
	default:
		test += fmt.Sprintf(", p ≥ %g", significance.Level)
	}
	if by.By == significance.ByT {
		test += "; " + of
	}
	return test
}
