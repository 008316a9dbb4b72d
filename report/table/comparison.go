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
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/plaintext"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/pipeline/record"
)

// Comparison compares the methods of two experiments that draw the same samples.
type Comparison struct {
	A, B         string                // the names of the experiments
	Differences  []pipeline.Difference // settings that differ
	Scores       []ScoreComparison     // the common scores, in the order of display
	OnlyA, OnlyB []string              // methods of only one of them
	Tests        Tests
}

// Compared is one of the compared experiments.
type Compared struct {
	Name    string
	Methods []string
	Records []record.Record
}

// ScoreComparison compares one score.
type ScoreComparison struct {
	Score string
	Rows  []ComparisonRow // the methods with common trials, in the order of A
}

// ComparisonRow compares one method in two experiments.
type ComparisonRow struct {
	Method string
	// Trials is the number of common trials, which have equal classes or rank and repeat. A and B are the means of the
	// score over them, in the unit of the records.
	Trials   int
	A, B     float64
	Contrast // B − A, where the value of a repeat is its mean over the common rows

	draws significance.Draws
}

// trial is a trial of a method, or with "" the draw of its samples.
type trial struct {
	method               string
	row, classes, repeat int
}

func trialOf(r record.Record, method string) trial { return trial{method, r.Row, r.Classes, r.Repeat} }

// NewComparison compares two experiments. It selects records and scores as New does. It returns an error if there is no
// common trial, or if trials of the same draw have different numbers of samples.
func NewComparison(a, b Compared, by Tests) (*Comparison, error) {
	a.Records, b.Records = Finished(a.Records, a.Methods), Finished(b.Records, b.Methods)
	samples := map[trial]int{}
	for _, r := range a.Records {
		samples[trialOf(r, "")] = r.Samples + r.Tested
	}
	for _, r := range b.Records {
		if n, ok := samples[trialOf(r, "")]; ok && n != r.Samples+r.Tested {
			return nil, fmt.Errorf("%s, repeat %d: one experiment has %d samples, the other %d", phrase.Count(r.Classes, "class", "classes"), r.Repeat+1, n, r.Samples+r.Tested)
		}
	}
	out := &Comparison{A: a.Name, B: b.Name, OnlyA: missingFrom(a.Methods, b.Methods), OnlyB: missingFrom(b.Methods, a.Methods), Tests: by}
	inB := ScoresOf(b.Records)
	for _, score := range ScoresOf(a.Records) {
		if c := by.compareScore(a, b, score); slices.Contains(inB, score) && len(c.Rows) > 0 {
			out.Scores = append(out.Scores, c)
		}
	}
	if out.Scores == nil {
		return nil, errors.New("they have no trial in common (same method, number of classes or rank, and repeat)")
	}
	return out, nil
}

func missingFrom(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}

func (by Tests) compareScore(a, b Compared, score string) ScoreComparison {
	inB := map[trial]float64{}
	for _, r := range withScore(b.Records, score) {
		inB[trialOf(r, r.Method)] = r.Scores[score]
	}
	c := ScoreComparison{Score: score}
	inA := withScore(a.Records, score)
	for _, method := range a.Methods {
		common := slices.DeleteFunc(slices.Clone(inA), func(r record.Record) bool {
			_, both := inB[trialOf(r, method)]
			return r.Method != method || !both
		})
		if len(common) == 0 {
			continue
		}
		var x, y []float64
		var rows []sample
		for _, records := range rowsOf(common) {
			row := newSample(2, significance.Draws{})
			for _, r := range records {
				v, w := r.Scores[score], inB[trialOf(r, method)]
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
	var f testFamily
	for i := range c.Rows {
		if r := &c.Rows[i]; r.Pairs > 0 {
			f.add(r.Raw, &r.Contrast)
		}
	}
	by.judge(f, 0)
	return c
}

// Document returns the comparison in words, with a grid for each score.
func (c *Comparison) Document() *Document {
	d := &Document{Name: c.A + " and " + c.B, Heading: []string{"A: " + quoteName(c.A), "B: " + quoteName(c.B)}, Caption: c.caption()}
	d.Heading = append(d.Heading, lists.Map(c.Differences, func(o pipeline.Difference) string {
		return fmt.Sprintf("%s: %s in A, %s in B", o.Setting, quoteName(cmp.Or(o.A, "none")), quoteName(cmp.Or(o.B, "none")))
	})...)
	d.Grids = lists.Map(c.Scores, func(s ScoreComparison) Grid { return s.grid(c.Tests) })
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
		value := func(text string, x float64) Word { return Word{Text: text, Fields: []string{allDigits(x)}} }
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

func (c *Comparison) caption() string {
	e := struct {
		*Comparison
		testCaption
		Other, Untested bool // scores that are not in percent, and methods that are not tested
		Least           int
	}{Comparison: c, testCaption: testCaption{Tests: c.Tests, Score: eval.MainScore(eval.Clustering), Found: true}, Least: minPairs}
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

// Sets compares methods over several sets by one score.
type Sets struct {
	Name          string // of the experiment
	Score         eval.Score
	Sets, LeftOut []string // sets on which every method has a score, and the other sets
	Methods       []string
	Means         [][]float64  // of each set and method: over numbers of classes, or at the best rank and setting
	Ranks         []float64    // the average ranks of the methods, 1 is the best
	Friedman      float64      // the p-value of the Friedman test: no difference among the methods
	Exact         bool         // Friedman is exact, not approximate
	Pairs         [][]SetsPair // of method i with method j
	Groups        [][]int      // runs of methods without significant differences
	Tests         Tests
}

// SetsPair compares a method with another over sets. Wins, Ties and Losses count the sets on which the method is
// better, equal and worse. P is the p-value of Wilcoxon's signed-rank test.
type SetsPair struct {
	Contrast
	Wins, Ties, Losses int
}

// SetTable is the table of one set, or the best of several ranks and settings.
type SetTable struct {
	Set   string
	Table *Table
	Best  *Best
}

func (o SetTable) levels() (methods []string, means map[string]float64) {
	means = map[string]float64{}
	peaks := Peaks(o.Table, nil)
	if o.Best != nil {
		peaks = o.Best.Rows
	}
	for _, p := range peaks {
		if p.Cell.N > 0 {
			methods, means[p.Method] = append(methods, p.Method), p.Cell.Mean
		}
	}
	return methods, means
}

// NewSets compares the methods over sets. It is nil with fewer than two methods, or fewer than two sets that have all
// methods.
func NewSets(name string, score eval.Score, tables []SetTable, by Tests) *Sets {
	s := &Sets{Name: name, Score: score, Tests: by}
	found := make([]map[string]float64, len(tables))
	for i, o := range tables {
		var methods []string
		methods, found[i] = o.levels()
		s.Methods = append(s.Methods, missingFrom(methods, s.Methods)...)
	}
	for i, o := range tables {
		if len(found[i]) < len(s.Methods) {
			s.LeftOut = append(s.LeftOut, o.Set)
			continue
		}
		row := lists.Map(s.Methods, func(m string) float64 { return found[i][m] })
		s.Sets, s.Means = append(s.Sets, o.Set), append(s.Means, row)
	}
	if len(s.Methods) < 2 || len(s.Sets) < 2 {
		return nil
	}
	s.Ranks = significance.Ranks(s.Means, score.Better)
	s.Friedman, s.Exact = significance.Friedman(s.Means, score.Better)
	s.compare()
	s.Groups = significance.Groups(s.Ranks, func(i, j int) bool { return s.Pairs[i][j].Verdict == Different })
	return s
}

func (s *Sets) compare() {
	m := len(s.Methods)
	var f testFamily
	for i := range m {
		s.Pairs = append(s.Pairs, make([]SetsPair, m))
		for j := range i {
			s.Pairs[i][j] = s.pair(i, j)
			if c := &s.Pairs[i][j].Contrast; s.Tests.By != significance.ByNone {
				f.add(c.Raw, c)
			}
		}
	}
	s.Tests.judge(f, 0)
	for i := range m {
		for j := range i {
			p := s.Pairs[i][j]
			p.Wins, p.Losses, p.Difference = p.Losses, p.Wins, -p.Difference
			p.Chances.Below, p.Chances.Above = p.Chances.Above, p.Chances.Below
			s.Pairs[j][i] = p
		}
	}
}

func (s *Sets) pair(i, j int) (pair SetsPair) {
	var a, b []float64
	for _, row := range s.Means {
		a, b = append(a, row[i]), append(b, row[j])
		switch {
		case s.Score.Better(row[i], row[j]):
			pair.Wins++
		case s.Score.Better(row[j], row[i]):
			pair.Losses++
		default:
			pair.Ties++
		}
	}
	pair.Pairs, pair.Difference = len(a), significance.NewResampled(a, b, 0).Mean
	switch {
	case s.Tests.By == significance.ByNone:
		return pair
	case s.Tests.By.Bayesian():
		pair.Chances = significance.BayesSignedRank(a, b, s.Tests.Width(), 0)
	default:
		pair.Raw = significance.Wilcoxon(a, b)
	}
	pair.Verdict = Open
	return pair
}

// Finding names the method with the best average rank in a sentence.
func (s *Sets) Finding() string {
	found := struct {
		*Sets
		Rank        float64
		Best, Worse []string
	}{Sets: s, Rank: slices.Min(s.Ranks)}
	for i, r := range s.Ranks {
		for j, method := range s.Methods {
			if r == found.Rank && s.Pairs[i][j].Verdict == Different {
				found.Worse = append(found.Worse, method)
			}
		}
		if r == found.Rank {
			found.Best = append(found.Best, s.Methods[i])
		}
	}
	found.Worse = lists.Unique(found.Worse)
	return caption("sets finding", found)
}

// methodColumns returns a first column and a column for each method.
func methodColumns(first Column, methods []string) []Column {
	column := func(method string) Column { return Column{Heading: method, Method: true, Right: true} }
	return append([]Column{first}, lists.Map(methods, column)...)
}

// line returns a line with its best values marked.
func line(name string, values []float64, format func(float64) string, better func(a, b float64) bool) Line {
	line := Line{Words: []Word{{Text: name}}, Keys: []string{name}}
	for _, v := range values {
		w := Word{Text: format(v), Mark: Unmarked, Fields: []string{allDigits(v)}}
		if !slices.ContainsFunc(values, func(x float64) bool { return better(x, v) }) {
			w.Mark, w.Bold = MarkBest, true
		}
		line.Words = append(line.Words, w)
	}
	return line
}

// Document returns the means on each set, with the average ranks below.
func (s *Sets) Document() *Document {
	g := Grid{Name: s.Score.Name + " sets", KeyFields: []string{"set"}, Fields: []string{"value"}, Columns: methodColumns(Column{Heading: "Set"}, s.Methods)}
	for i, set := range s.Sets {
		g.Lines = append(g.Lines, line(set, s.Means[i], func(v float64) string { return formatValue(s.Score, v) }, s.Score.Better))
	}
	ranks := line("Average rank", s.Ranks, func(r float64) string { return fmt.Sprintf("%.2f", r) }, func(a, b float64) bool { return a < b })
	ranks.Average, ranks.Keys = true, []string{"average rank"}
	g.Lines = append(g.Lines, ranks)
	return s.document("sets", g)
}

func (s *Sets) document(words string, g Grid) *Document {
	g.Score, g.Keys = s.Score.Name, 1
	return &Document{Name: s.Name, Class: "named", Title: s.Score.Title, Caption: caption(words, s), Grids: []Grid{g}}
}

// ByP reports whether p-values are shown.
func (s *Sets) ByP() bool { return s.Tests.By != significance.ByNone && !s.Tests.By.Bayesian() }

// Comparisons returns the number of pairs of methods.
func (s *Sets) Comparisons() int { return len(s.Methods) * (len(s.Methods) - 1) / 2 }

// LeastP returns the smallest p-value that a pair can have.
func (s *Sets) LeastP() float64 {
	least := math.Exp2(float64(1 - len(s.Sets)))
	if s.Tests.corrects() {
		least = min(1, least*float64(s.Comparisons()))
	}
	return least
}

// Matrix returns the pairwise differences, a row and a column for each method.
func (s *Sets) Matrix() *Document {
	g := Grid{Name: s.Score.Name + " pairs", KeyFields: []string{"method"}, Columns: methodColumns(Column{Heading: "Method"}, s.Methods),
		Fields: []string{"difference", "wins", "ties", "losses", "p", "below", "within", "above"}}
	for i, method := range s.Methods {
		line := Line{Words: []Word{{Text: method}}, Keys: []string{method}}
		for j := range s.Methods {
			line.Words = append(line.Words, s.word(i, j))
		}
		g.Lines = append(g.Lines, line)
	}
	return s.document("pairs", g)
}

func (s *Sets) word(i, j int) Word {
	if i == j {
		return Word{Text: missing, Mark: Unmarked, Fields: make([]string, 8)}
	}
	p := s.Pairs[i][j]
	text := signed(s.Score, p.Difference) + fmt.Sprintf(" %d/%d/%d", p.Wins, p.Ties, p.Losses)
	if s.Tests.By.Bayesian() {
		text += fmt.Sprintf(" %.2f", p.Chances.Above)
	} else if s.ByP() {
		text += " " + pText(p.P)
	}
	fields := p.fields(s.Tests, "difference", "p", "below", "within", "above")
	fields = slices.Insert(fields, 1, strconv.Itoa(p.Wins), strconv.Itoa(p.Ties), strconv.Itoa(p.Losses))
	return Word{Text: text, Bold: p.Verdict == Different, Mark: p.mark(), Fields: fields}
}
