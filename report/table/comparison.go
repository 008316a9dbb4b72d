package table

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/eval/significance"
	"github.com/seed4492f2cd/partwise/internal/phrase"
	"github.com/seed4492f2cd/partwise/internal/plaintext"
	"github.com/seed4492f2cd/partwise/pipeline"
)

// Comparison compares the methods of two experiments that draw the same samples.
type Comparison struct {
	// A and B are what the experiments are called, the folders of their results for
	// instance.
	A, B string
	// Differences are settings that differ, which are shown.
	Differences []pipeline.Difference
	// Scores are those that both have, in the order in which they are shown.
	Scores []ScoreComparison
	// OnlyA and OnlyB are methods that one of them alone has.
	OnlyA, OnlyB []string
	// Tests say how differences were told from chance.
	Tests Tests
}

// Compared are the results of one of the experiments.
type Compared struct {
	Name    string
	Methods []string
	Records []pipeline.Record
}

// ScoreComparison holds one score of the methods of both.
type ScoreComparison struct {
	// Score is the score's name in the records.
	Score string
	// Rows are those of the methods that both have, in the order of A, in as far as
	// they have trials in common.
	Rows []ComparisonRow

	draws []significance.Draws // of each of Rows
}

// ComparisonRow is one method in two experiments.
type ComparisonRow struct {
	Method string
	// Trials is the number of trials that both hold: of the same number of classes
	// or rank and the same repeat. A and B are the means of the score over them, in
	// the unit of the records.
	Trials int
	A, B   float64
	// Contrast is B − A, over the means of each repeat over the rows that both have.
	Contrast
}

// Significant tells whether a test was made and found a difference.
func (r ComparisonRow) Significant() bool { return r.Verdict == Different }

// sampling identifies a draw of samples.
type sampling struct{ row, classes, repeat int }

// NewComparison compares two experiments. As in New of several records of one
// trial the last one counts, and scores that are not finite are passed over. It is an
// error if there is no trial in common, and if the trials of one draw have other
// numbers of samples.
func NewComparison(a, b Compared, by Tests) (*Comparison, error) {
	a.Records, b.Records = Finished(a.Records, a.Methods), Finished(b.Records, b.Methods)
	samples := map[sampling]int{}
	for _, r := range a.Records {
		samples[drawOf(r)] = r.Samples + r.Tested
	}
	for _, r := range b.Records {
		if n, ok := samples[drawOf(r)]; ok && n != r.Samples+r.Tested {
			return nil, fmt.Errorf("%s, repeat %d: %d samples in one and %d in the other", phrase.Count(r.Classes, "class", "classes"), r.Repeat+1, n, r.Samples+r.Tested)
		}
	}
	out := &Comparison{A: a.Name, B: b.Name, OnlyA: without(a.Methods, b.Methods), OnlyB: without(b.Methods, a.Methods), Tests: by}
	inB := ScoresOf(b.Records)
	for _, score := range ScoresOf(a.Records) {
		if !slices.Contains(inB, score) {
			continue
		}
		if c := by.compareScore(a, b, score); len(c.Rows) > 0 {
			out.Scores = append(out.Scores, c)
		}
	}
	if out.Scores == nil {
		return nil, errors.New("they have no trial in common, of one method with the same number of classes or rank and the same repeat")
	}
	return out, nil
}

// without returns those of a that are not in b.
func without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}

func drawOf(r pipeline.Record) sampling { return sampling{r.Row, r.Classes, r.Repeat} }

func (by Tests) compareScore(a, b Compared, score string) ScoreComparison {
	gather := func(records []pipeline.Record) map[string]map[sampling]pipeline.Record {
		of := map[string]map[sampling]pipeline.Record{}
		for _, r := range records {
			if v, ok := r.Scores[score]; !ok || !(math.Abs(v) < largest) {
				continue
			}
			if of[r.Method] == nil {
				of[r.Method] = map[sampling]pipeline.Record{}
			}
			of[r.Method][drawOf(r)] = r
		}
		return of
	}
	inA, inB := gather(a.Records), gather(b.Records)
	c := ScoreComparison{Score: score}
	for _, method := range a.Methods {
		var x, y []float64
		var common []pipeline.Record
		rows := map[int]sampledRow{}
		var order []int
		for _, r := range a.Records { // which are in order
			other, ok := inB[method][drawOf(r)]
			if _, scored := inA[method][drawOf(r)]; r.Method != method || !ok || !scored {
				continue
			}
			v, w := r.Scores[score], other.Scores[score]
			x, y, common = append(x, v), append(y, w), append(common, r)
			at := RowOf(r)
			if _, seen := rows[at]; !seen {
				rows[at] = sampledRow{values: []map[int]float64{{}, {}}}
				order = append(order, at)
			}
			rows[at].values[0][r.Repeat], rows[at].values[1][r.Repeat] = v, w
		}
		if len(x) == 0 {
			continue
		}
		all := make([]sampledRow, len(order))
		for i, at := range order {
			all[i] = rows[at]
		}
		row := ComparisonRow{Method: method, Trials: len(x)}
		row.A, _ = eval.MeanSD(x)
		row.B, _ = eval.MeanSD(y)
		blocks := averaged(all, by.draws(common), common[0].Row > 0)
		row.Contrast = by.contrast(blocks, 1, 0)
		c.Rows, c.draws = append(c.Rows, row), append(c.draws, blocks.draws)
	}
	var tested []*Contrast
	for i := range c.Rows {
		tested = append(tested, &c.Rows[i].Contrast)
	}
	by.correct(tested)
	return c
}

// heading are lines that say what is compared.
func (c *Comparison) heading(m Marks) []string {
	lines := []string{"A: " + m.Foreign(c.A), "B: " + m.Foreign(c.B)}
	for _, d := range c.Differences {
		lines = append(lines, fmt.Sprintf("%s: %s in A, %s in B", d.Setting, m.Foreign(cmp.Or(d.A, "none")), m.Foreign(cmp.Or(d.B, "none"))))
	}
	return lines
}

// Document returns the comparison in words, a grid for each score.
func (c *Comparison) Document() *Document {
	d := &Document{Name: c.A + " and " + c.B, Heading: c.heading, Caption: c.notes}
	for _, s := range c.Scores {
		d.Grids = append(d.Grids, s.grid(c.Tests))
	}
	return d
}

func (c ScoreComparison) grid(by Tests) Grid {
	s := known(c.Score)
	g := Grid{Title: s.Title, Name: "comparison " + s.Name, Score: plaintext.Line(c.Score), Keys: 1, KeyFields: []string{"method"}, Columns: append([]Column{
		{Heading: "Method"},
		{Heading: "Trials", Right: true, Fields: []string{"trials"}},
		{Heading: "A", Right: true, Fields: []string{"a"}},
		{Heading: "B", Right: true, Fields: []string{"b"}},
		{Heading: "B − A", Right: true, Fields: []string{"difference"}},
	}, by.columns()...)}
	if s.Unit != eval.UnitPercent {
		g.Title += s.In()
	}
	for _, r := range c.Rows {
		value := func(text string, x float64) Word { return Word{Text: text, Fields: []string{full(x)}} }
		difference := value(signed(s, r.B-r.A), r.B-r.A)
		difference.Bold = r.Significant()
		g.Lines = append(g.Lines, Line{Keys: []string{plaintext.Line(r.Method)}, Words: append([]Word{
			{Text: r.Method},
			value(strconv.Itoa(r.Trials), float64(r.Trials)),
			value(s.Format(r.A), r.A), value(s.Format(r.B), r.B), difference,
		}, r.words(by, s)...)})
	}
	return g
}

// signed is a difference of two values of a score.
func signed(s eval.Score, difference float64) string {
	return signedText(s.Format(difference), difference)
}

// signedText is the text of a number with its sign, none where the text is 0.
func signedText(text string, x float64) string {
	switch {
	case strings.Trim(text, "-0.") == "":
		return strings.TrimPrefix(text, "-")
	case x > 0:
		return "+" + text
	}
	return "−" + strings.TrimPrefix(text, "-")
}

// pText is a p-value of three decimals.
func pText(p float64) string {
	if p < 0.001 {
		return "<0.001"
	}
	return fmt.Sprintf("%.3f", p)
}

// notes say what the tables hold and what they leave out.
func (c *Comparison) notes(m Marks) string {
	other, tested, untested := false, 0, false
	var draws []significance.Draws
	for _, score := range c.Scores {
		other = other || known(score.Score).Unit != eval.UnitPercent
		here := 0
		for i, r := range score.Rows {
			if r.Pairs > 0 {
				here++
				draws = append(draws, score.draws[i])
			} else {
				untested = true
			}
		}
		tested = max(tested, here)
	}
	s := "Means in percent over the trials that A and B both hold."
	if other {
		s = "Means over the trials that A and B both hold, in percent where nothing else is said."
	}
	if tested > 0 {
		how := c.Tests.method(eval.MainScore(eval.Clustering), tested, "differences are tested "+beyond(draws))
		s += fmt.Sprintf(" %s: significantly different (%s).", m.Differs, strings.NewReplacer("p ≥", "p <", "less than "+fmt.Sprint(significance.Sure), fmt.Sprint(significance.Sure)).Replace(how))
		if c.Tests.By.Bayesian() {
			s += " " + fmt.Sprintf("%s: practically the same.", m.Equivalent)
		}
		s += " " + c.Tests.differenceSentence("", c.Tests.rope(eval.MainScore(eval.Clustering)), tested)
	}
	switch {
	case c.Tests.By == significance.ByNone:
		s += " The differences are not tested."
	case untested:
		s += fmt.Sprintf(" %s: fewer than %d repeats in common, and not tested.", missing, minPairs)
	}
	if m.Own != nil {
		s = m.Own(s)
	}
	for _, only := range []struct {
		where   string
		methods []string
	}{{"A", c.OnlyA}, {"B", c.OnlyB}} {
		if len(only.methods) > 0 {
			var names []string
			for _, method := range only.methods {
				names = append(names, m.Foreign(method))
			}
			s += fmt.Sprintf(" Only in %s: %s.", only.where, phrase.List(names))
		}
	}
	return s
}
