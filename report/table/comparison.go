package table

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/eval/significance"
	"github.com/seed4492f2cd/partwise/internal/plaintext"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/pipeline/record"
)

// Comparison compares the methods of two experiments that draw the same samples.
type Comparison struct {
	// A and B are the names of the experiments, the folders of their results for instance.
	A, B         string
	Differences  []pipeline.Difference // settings that differ
	Scores       []ScoreComparison     // those that both have, in the order of display
	OnlyA, OnlyB []string              // methods that only one of them has
	Tests        Tests
}

// Compared holds the results of one of the experiments.
type Compared struct {
	Name    string
	Methods []string
	Records []record.Record
}

// ScoreComparison compares one score.
type ScoreComparison struct {
	Score string
	Rows  []ComparisonRow // the methods that both have with trials in common, in the order of A
}

// ComparisonRow is one method in two experiments.
type ComparisonRow struct {
	Method string
	// Trials is the number of common trials: of the same number of classes or rank and the same repeat. A and B
	// are the means of the score over them, in the unit of the records.
	Trials   int
	A, B     float64
	Contrast // B − A, over the means of each repeat over the rows that both have

	draws significance.Draws
}

// sampling identifies a draw of samples.
type sampling struct{ row, classes, repeat int }

func drawOf(r record.Record) sampling { return sampling{r.Row, r.Classes, r.Repeat} }

// NewComparison compares two experiments. As in New, of several records of one trial the last one counts, and
// scores that are not finite are ignored. It is an error if there is no trial in common, or if the trials of one
// draw have different numbers of samples.
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
		if c := by.compareScore(a, b, score); slices.Contains(inB, score) && len(c.Rows) > 0 {
			out.Scores = append(out.Scores, c)
		}
	}
	if out.Scores == nil {
		return nil, errors.New("they have no trial in common, of one method with the same number of classes or rank and the same repeat")
	}
	return out, nil
}

// without returns the elements of a that are not in b.
func without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}

func (by Tests) compareScore(a, b Compared, score string) ScoreComparison {
	type trial struct {
		method string
		draw   sampling
	}
	inB := map[trial]float64{}
	for _, r := range b.Records {
		if v, ok := r.Scores[score]; ok && math.Abs(v) < largest {
			inB[trial{r.Method, drawOf(r)}] = v
		}
	}
	c := ScoreComparison{Score: score}
	for _, method := range a.Methods {
		common := slices.DeleteFunc(slices.Clone(a.Records), func(r record.Record) bool {
			v, ok := r.Scores[score]
			_, both := inB[trial{method, drawOf(r)}]
			return r.Method != method || !ok || !(math.Abs(v) < largest) || !both
		})
		if len(common) == 0 {
			continue
		}
		var x, y []float64
		var rows []sample
		for _, records := range rowsOf(common) {
			row := newSample(2, significance.Draws{})
			for _, r := range records {
				v, w := r.Scores[score], inB[trial{method, drawOf(r)}]
				x, y = append(x, v), append(y, w)
				row.values[0][r.Repeat], row.values[1][r.Repeat] = v, w
			}
			rows = append(rows, row)
		}
		row := ComparisonRow{Method: method, Trials: len(x), draws: by.draws(common)}
		row.A, _ = eval.MeanSD(x)
		row.B, _ = eval.MeanSD(y)
		row.Contrast = by.contrast(averaged(rows, row.draws, common[0].Row > 0), 1, 0)
		c.Rows = append(c.Rows, row)
	}
	var f family
	for i := range c.Rows {
		if r := &c.Rows[i]; r.Pairs > 0 {
			f.add(r.Raw, &r.Contrast)
		}
	}
	by.judge(f, 0)
	return c
}

// Document returns the comparison in words, a grid for each score.
func (c *Comparison) Document() *Document {
	d := &Document{Name: c.A + " and " + c.B, Heading: []string{"A: " + name(c.A), "B: " + name(c.B)}, Caption: c.caption()}
	for _, o := range c.Differences {
		d.Heading = append(d.Heading, fmt.Sprintf("%s: %s in A, %s in B", o.Setting, name(cmp.Or(o.A, "none")), name(cmp.Or(o.B, "none"))))
	}
	for _, s := range c.Scores {
		d.Grids = append(d.Grids, s.grid(c.Tests))
	}
	return d
}

func (c ScoreComparison) grid(by Tests) Grid {
	s := findScore(c.Score)
	g := Grid{Title: s.Title, Name: "comparison " + s.Name, Score: plaintext.Line(c.Score), Keys: 1, KeyFields: []string{"method"}, Columns: append([]Column{
		{Heading: "Method"}, valueColumn("Trials", "trials"), valueColumn("A", "a"), valueColumn("B", "b"), valueColumn("B − A", "difference"),
	}, by.columns()...)}
	if s.Unit != eval.UnitPercent {
		g.Title += inUnit(s)
	}
	for _, r := range c.Rows {
		value := func(text string, x float64) Word { return Word{Text: text, Fields: []string{full(x)}} }
		difference := value(signed(s, r.B-r.A), r.B-r.A)
		difference.Bold = r.Verdict == Different
		g.Lines = append(g.Lines, Line{Keys: []string{plaintext.Line(r.Method)}, Words: append([]Word{
			{Text: r.Method},
			value(strconv.Itoa(r.Trials), float64(r.Trials)),
			value(formatValue(s, r.A), r.A), value(formatValue(s, r.B), r.B), difference,
		}, r.words(by, s)...)})
	}
	return g
}

// caption explains the tables.
func (c *Comparison) caption() string {
	e := struct {
		*Comparison
		tested
		Other, Untested bool // scores that are not in percent, and methods that are not tested
		Least           int
	}{Comparison: c, tested: tested{Tests: c.Tests, Score: eval.MainScore(eval.Clustering), Found: true}, Least: minPairs}
	for _, score := range c.Scores {
		e.Other = e.Other || findScore(score.Score).Unit != eval.UnitPercent
		before := len(e.Draws)
		for _, r := range score.Rows {
			if e.Untested = e.Untested || r.Pairs == 0; r.Pairs > 0 {
				e.Draws = append(e.Draws, r.draws)
			}
		}
		e.Comparisons = max(e.Comparisons, len(e.Draws)-before)
	}
	return caption("comparison", e)
}
