package table

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/eval/significance"
	"github.com/seed4492f2cd/partwise/internal/phrase"
)

// Sets compares methods over several sets by one score.
type Sets struct {
	// Name is what was run.
	Name  string
	Score eval.Score
	// Sets are those on which every method has a score, LeftOut the others, and
	// Methods what is compared.
	Sets, LeftOut []string
	Methods       []string
	// Means[i][j] is the mean score of method j on set i: over its numbers of classes, or at its
	// best rank and setting.
	Means [][]float64
	// Ranks are the average ranks of the methods, 1 for the best, and Friedman is the p-value of
	// there being no difference among them, Exact or not.
	Ranks    []float64
	Friedman float64
	Exact    bool
	// Pairs[i][j] compares method i with method j.
	Pairs [][]SetsPair
	// Groups are methods that stand together: no two of them differ.
	Groups [][]int
	Tests  Tests
}

// SetsPair is how a method differs from another over sets.
type SetsPair struct {
	// Difference is the mean difference, and the sets are counted on which the method is better,
	// as good and worse.
	Difference         float64
	Wins, Ties, Losses int
	// P is the p-value of Wilcoxon's signed-rank test, corrected by Holm unless the rule says
	// otherwise; of a Bayesian rule Chances are in its place.
	P       float64
	Chances significance.Probabilities
	Verdict Verdict
}

// Of is what one set has: a table, or the best of several ranks and settings.
type Of struct {
	Set   string
	Table *Table
	Best  *Best
}

// levels returns the methods of a set and their means, those without any left out.
func (o Of) levels() (methods []string, means []float64) {
	if o.Best != nil {
		for _, r := range o.Best.Rows {
			if r.Cell.N > 0 {
				methods, means = append(methods, r.Method), append(means, r.Cell.Mean)
			}
		}
		return methods, means
	}
	for i, m := range o.Table.Methods {
		if _, c := o.Table.Level(i); c.N > 0 {
			methods, means = append(methods, m), append(means, c.Mean)
		}
	}
	return methods, means
}

// NewSets compares the methods over sets. It is nil with fewer than two methods, or two sets that
// have all of them.
func NewSets(name string, score eval.Score, of []Of, by Tests) *Sets {
	s := &Sets{Name: name, Score: score, Tests: by}
	found := make([]map[string]float64, len(of))
	for i, o := range of {
		methods, means := o.levels()
		found[i] = map[string]float64{}
		for j, m := range methods {
			found[i][m] = means[j]
			if !slices.Contains(s.Methods, m) {
				s.Methods = append(s.Methods, m)
			}
		}
	}
	for i, o := range of {
		if len(found[i]) < len(s.Methods) {
			s.LeftOut = append(s.LeftOut, o.Set)
			continue
		}
		row := make([]float64, len(s.Methods))
		for j, m := range s.Methods {
			row[j] = found[i][m]
		}
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

// column returns the means of a method.
func (s *Sets) column(j int) []float64 {
	var out []float64
	for _, row := range s.Means {
		out = append(out, row[j])
	}
	return out
}

// compare compares all pairs.
func (s *Sets) compare() {
	m := len(s.Methods)
	s.Pairs = make([][]SetsPair, m)
	for i := range s.Pairs {
		s.Pairs[i] = make([]SetsPair, m)
	}
	var p []float64
	for i := range m {
		for j := range i {
			a, b := s.column(i), s.column(j)
			pair := SetsPair{Verdict: Open}
			pair.Difference = significance.NewResampled(a, b, 0).Mean
			for at := range a {
				switch {
				case s.Score.Better(a[at], b[at]):
					pair.Wins++
				case s.Score.Better(b[at], a[at]):
					pair.Losses++
				default:
					pair.Ties++
				}
			}
			switch {
			case s.Tests.By == significance.ByNone:
				pair.Verdict = Untested
			case s.Tests.By.Bayesian():
				pair.Chances = significance.BayesSignedRank(a, b, s.Tests.Width(), 0)
			default:
				p = append(p, significance.Wilcoxon(a, b))
			}
			s.Pairs[i][j] = pair
		}
	}
	if s.Tests.Correction == significance.ByHolm {
		p = significance.Holm(p, nil)
	}
	for i := range m {
		for j := range i {
			pair := &s.Pairs[i][j]
			c := Contrast{Verdict: pair.Verdict, Pairs: 1, Chances: pair.Chances}
			if len(p) > 0 {
				c.P, p = p[0], p[1:]
				pair.P = c.P
			}
			if pair.Verdict != Untested {
				s.Tests.judge(&c)
				pair.Verdict = c.Verdict
			}
			s.Pairs[j][i] = SetsPair{-pair.Difference, pair.Losses, pair.Ties, pair.Wins, pair.P,
				significance.Probabilities{Below: pair.Chances.Above, Within: pair.Chances.Within, Above: pair.Chances.Below}, pair.Verdict}
		}
	}
}

// Finding says in a sentence which method has the best average rank.
func (s *Sets) Finding() string {
	best := slices.Min(s.Ranks)
	var first, worse []string
	for i, r := range s.Ranks {
		if r > best {
			continue
		}
		first = append(first, s.Methods[i])
		for j := range s.Methods {
			if s.Pairs[i][j].Verdict == Different && !slices.Contains(worse, s.Methods[j]) {
				worse = append(worse, s.Methods[j])
			}
		}
	}
	has := "has"
	if len(first) > 1 {
		has = "have"
	}
	text := fmt.Sprintf("%s: %s %s the best average rank over %s (%.2f).", s.Score.Title, phrase.List(first), has, phrase.Count(len(s.Sets), "set", "sets"), best)
	if worse != nil {
		text += fmt.Sprintf(" Significantly worse: %s.", phrase.List(worse))
	}
	return text
}

// Document returns the means on each set, with the average ranks below.
func (s *Sets) Document() *Document {
	g := Grid{Name: s.Score.Name + " sets", Score: s.Score.Name, Keys: 1, KeyFields: []string{"set"}, Fields: []string{"value"}, Columns: []Column{{Heading: "Set"}}}
	for _, m := range s.Methods {
		g.Columns = append(g.Columns, Column{Heading: m, Method: true, Right: true})
	}
	for i, set := range s.Sets {
		line := Line{Words: []Word{{Text: set}}, Keys: []string{set}}
		for _, v := range s.Means[i] {
			w := Word{Text: s.Score.Format(v), Mark: Unmarked, Fields: []string{full(v)}}
			if !slices.ContainsFunc(s.Means[i], func(x float64) bool { return s.Score.Better(x, v) }) {
				w.Mark, w.Bold = MarkBest, true
			}
			line.Words = append(line.Words, w)
		}
		g.Lines = append(g.Lines, line)
	}
	ranks := Line{Words: []Word{{Text: "Average rank"}}, Average: true, Keys: []string{"average rank"}}
	for _, r := range s.Ranks {
		w := Word{Text: fmt.Sprintf("%.2f", r), Mark: Unmarked, Fields: []string{full(r)}}
		if r <= slices.Min(s.Ranks) {
			w.Mark, w.Bold = MarkBest, true
		}
		ranks.Words = append(ranks.Words, w)
	}
	g.Lines = append(g.Lines, ranks)
	return &Document{Name: s.Name, Class: "named", Caption: s.caption, Grids: []Grid{g}}
}

// caption says what the means are and what Friedman's test says.
func (s *Sets) caption(m Marks) string {
	title := s.Score.Title
	if s.Name != "" && !m.Nameless {
		title = s.Name + ": " + title
	}
	text := []string{fmt.Sprintf("%s: the best of the row.", m.Best), "Last row: the average of the ranks of a method among the others on each set, 1 for the best."}
	if !s.Tests.By.Bayesian() && s.Tests.By != significance.ByNone {
		by := "with the F distribution of Iman and Davenport 1980"
		if s.Exact {
			by = "by all orders of the methods"
		}
		text = append(text, fmt.Sprintf("That there is no difference among them has %s (Friedman's test %s).", pSaid(s.Friedman), by))
	}
	out := s.Score.In() + " on each set, mean over its rows or at the best rank and setting."
	if m.Own != nil {
		out = m.Own(out)
	}
	out = m.join(m.Foreign(title)+out, text)
	if s.LeftOut != nil {
		var names []string
		for _, name := range s.LeftOut {
			names = append(names, m.Foreign(name))
		}
		out += " Left out, since not all methods have finished there: " + phrase.List(names) + "."
	}
	return out
}

// pSaid is a p-value in a sentence.
func pSaid(p float64) string {
	if text := pText(p); text[0] != '<' {
		return "p = " + text
	}
	return "p < 0.001"
}

// Matrix returns the pairwise differences, a row and a column for each method.
func (s *Sets) Matrix() *Document {
	g := Grid{Name: s.Score.Name + " pairs", Score: s.Score.Name, Keys: 1, KeyFields: []string{"method"}, Columns: []Column{{Heading: "Method"}},
		Fields: []string{"difference", "wins", "ties", "losses", "p", "below", "within", "above"}}
	for _, m := range s.Methods {
		g.Columns = append(g.Columns, Column{Heading: m, Method: true, Right: true})
	}
	for i, method := range s.Methods {
		line := Line{Words: []Word{{Text: method}}, Keys: []string{method}}
		for j := range s.Methods {
			line.Words = append(line.Words, s.word(i, j))
		}
		g.Lines = append(g.Lines, line)
	}
	return &Document{Name: s.Name, Class: "named", Caption: s.matrixCaption, Grids: []Grid{g}}
}

// word is a cell of the matrix.
func (s *Sets) word(i, j int) Word {
	if i == j {
		return Word{Text: missing, Mark: Unmarked, Fields: make([]string, 8)}
	}
	p := s.Pairs[i][j]
	parts := []string{signed(s.Score, p.Difference), fmt.Sprintf("%d/%d/%d", p.Wins, p.Ties, p.Losses)}
	fields := []string{full(p.Difference), strconv.Itoa(p.Wins), strconv.Itoa(p.Ties), strconv.Itoa(p.Losses), "", "", "", ""}
	switch {
	case s.Tests.By == significance.ByNone:
	case s.Tests.By.Bayesian():
		parts = append(parts, fmt.Sprintf("%.2f", p.Chances.Above))
		fields[5], fields[6], fields[7] = full(p.Chances.Below), full(p.Chances.Within), full(p.Chances.Above)
	default:
		parts = append(parts, pText(p.P))
		fields[4] = full(p.P)
	}
	w := Word{Text: strings.Join(parts, " "), Fields: fields, Bold: p.Verdict == Different, Mark: Contrast{Verdict: p.Verdict}.mark()}
	return w
}

// matrixCaption says what a cell of the matrix holds.
func (s *Sets) matrixCaption(m Marks) string {
	title := s.Score.Title
	if s.Name != "" && !m.Nameless {
		title = s.Name + ": " + title
	}
	n := len(s.Sets)
	comparisons := len(s.Methods) * (len(s.Methods) - 1) / 2
	text := []string{"In each cell: the mean difference of the method of the row from that of the column, and on how many sets it is better, as good and worse"}
	switch {
	case s.Tests.By == significance.ByNone:
		text[0] += ". The differences are not tested."
	case s.Tests.By.Bayesian():
		text[0] += fmt.Sprintf(", and the probability that it is better by more than %s (Bayesian signed-rank test, Benavoli et al. 2017).", s.Tests.rope(s.Score))
		text = append(text, fmt.Sprintf("%s: one of them is better with a probability of %g. %s: practically the same.", m.Differs, significance.Sure, m.Equivalent))
	default:
		text[0] += ", and the p-value of Wilcoxon's signed-rank test over the sets"
		if s.Tests.Correction == significance.ByHolm {
			text[0] += fmt.Sprintf(", after Holm's correction for %s", phrase.Count(comparisons, "comparison", "comparisons"))
		}
		text[0] += fmt.Sprintf(". %s: p < %g.", m.Differs, significance.Level)
		least := math.Exp2(float64(1 - n))
		if s.Tests.Correction == significance.ByHolm {
			least = min(1, least*float64(comparisons))
		}
		if least >= significance.Level {
			text = append(text, fmt.Sprintf("With %d sets and %s no p can be below %s, whatever the scores.", n, phrase.Count(len(s.Methods), "method", "methods"), pText(least)))
		}
	}
	where := fmt.Sprintf("%s, differences over %s.", s.Score.In(), phrase.Count(n, "set", "sets"))
	if m.Own != nil {
		where = m.Own(where)
	}
	return m.join(m.Foreign(title)+where, text)
}
