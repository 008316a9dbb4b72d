package table

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/eval/significance"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/pipeline/record"
)

const (
	minPairs = 6 // fewer pairs are not tested
	// maxFamily is the largest number of comparisons with Holm's correction, which needs all p-values. Larger families
	// use Bonferroni's correction, which is never smaller.
	maxFamily     = 50_000
	intervalLevel = 0.95 // of the intervals of differences
)

// Tests are the significance tests of a table. The zero value is the default rule for draws that do not overlap.
type Tests struct {
	significance.Rule
	Classes   int  // the number of classes of the set; 0 if unknown
	Fixed     bool // each repeat of a classification has the same samples
	noAverage bool // leaves the average row untested
}

// TestsOf returns the tests of an experiment.
func TestsOf(s *pipeline.Summary) Tests {
	return Tests{Rule: s.Significance, Classes: len(s.Classes), Fixed: s.Split()}
}

// Verdict is the result of a test.
type Verdict int

const (
	Untested   Verdict = iota
	Open               // no significant difference
	Different          // significantly, or by a Bayesian test surely outside the region of practical equivalence
	Equivalent         // by a Bayesian test surely inside that region
)

// String returns the name in JSON documents.
func (v Verdict) String() string {
	return [...]string{"untested", "open", "different", "equivalent"}[v]
}

// Contrast is the difference of the scores of two methods on the same draws; zero without a test.
type Contrast struct {
	Verdict Verdict
	Pairs   int // common draws: repeats, if the row averages several rows
	// Difference is the mean difference, and Low to High its 95 % interval, in the unit of the records. HasInterval is
	// false if the draws do not determine the interval.
	Difference, Low, High float64
	HasInterval           bool
	Effect, Biserial      float64 // the mean in standard deviations, and the rank-biserial correlation
	HasEffect             bool
	// P is the p-value, corrected by the rule, and Raw the uncorrected one. Bayesian tests have Chances instead: the
	// probabilities of a difference below, within and above the region of practical equivalence.
	P, Raw  float64
	Chances significance.Probabilities
}

func (by Tests) contrast(row sample, i, j int) Contrast {
	a, b := row.pair(i, j)
	if len(a) < minPairs || by.By == significance.ByNone {
		return Contrast{}
	}
	r := row.resampled(i, j)
	c := Contrast{Verdict: Open, Pairs: len(a), Difference: r.Mean, Biserial: significance.RankBiserial(a, b)}
	c.Low, c.High, c.HasInterval = r.Interval(intervalLevel)
	c.Effect, c.HasEffect = r.Standardised()
	switch by.By {
	case significance.ByBayesT:
		c.Chances = r.Beyond(by.Width())
	case significance.ByBayesSignedRank:
		c.Chances = significance.BayesSignedRank(a, b, by.Width(), 0)
	default:
		c.Raw = by.pValue(row, i, j)
	}
	return c
}

func (by Tests) pValue(row sample, i, j int) float64 {
	if by.By == significance.BySignedRank {
		return significance.Wilcoxon(row.pair(i, j))
	}
	return row.resampled(i, j).P()
}

type testFamily struct {
	pValues, weights []float64
	contrasts        []*Contrast // of each p, or nil
}

func (f *testFamily) add(p float64, c *Contrast) {
	f.pValues, f.weights, f.contrasts = append(f.pValues, p), append(f.weights, 1), append(f.contrasts, c)
}

// judge corrects the p-values, by Bonferroni for this number of comparisons if it is not 0, and sets the verdicts.
func (by Tests) judge(f testFamily, bonferroni int) {
	p := f.pValues
	if by.corrects() && bonferroni == 0 {
		p = significance.Holm(p, f.weights)
	}
	for i, c := range f.contrasts {
		if c == nil {
			continue
		}
		if c.P = p[i]; by.corrects() && bonferroni > 0 {
			c.P = min(1, c.Raw*float64(bonferroni))
		}
		switch bayes := by.By.Bayesian(); {
		case bayes && c.Chances.Within >= significance.Sure:
			c.Verdict = Equivalent
		case bayes && max(c.Chances.Below, c.Chances.Above) >= significance.Sure, !bayes && c.P < significance.Level:
			c.Verdict = Different
		}
	}
}

func (by Tests) corrects() bool { return !by.By.Bayesian() && by.Correction == significance.ByHolm }

// draws describes the overlap of the draws of records.
func (by Tests) draws(records []record.Record) significance.Draws {
	d := significance.Draws{Of: by.Classes}
	if by.Overlap == significance.OverlapIgnored {
		return d
	}
	for _, r := range records {
		d.Classes = append(d.Classes, r.Classes)
		if r.Tested > 0 && !by.Fixed {
			d.Learned, d.Scored = d.Learned+r.Samples, d.Scored+r.Tested
		}
	}
	slices.Sort(d.Classes)
	d.Classes = slices.Compact(d.Classes)
	return d
}

// sample holds the scores of the methods of a row by repeat. In the average row these are means over all rows.
type sample struct {
	draws  significance.Draws
	values []map[int]float64 // of each method, by repeat
	parts  []sample          // the averaged rows, if their draws are independent
}

func newSample(methods int, draws significance.Draws) sample {
	s := sample{draws: draws, values: make([]map[int]float64, methods)}
	for i := range s.values {
		s.values[i] = map[int]float64{}
	}
	return s
}

// resampled describes the difference of two methods in their common repeats.
func (r sample) resampled(i, j int) significance.Resampled {
	if len(r.parts) == 0 {
		a, b := r.pair(i, j)
		return significance.NewResampled(a, b, r.draws.Ratio())
	}
	kinds := make([]significance.Resampled, len(r.parts))
	for at, part := range r.parts {
		a, b := part.pair(i, j)
		kinds[at] = significance.NewResampled(a, b, 0)
	}
	return significance.Stratified(kinds, r.draws.Ratio())
}

func (r sample) pair(i, j int) (a, b []float64) {
	for _, repeat := range slices.Sorted(maps.Keys(r.values[i])) {
		if w, ok := r.values[j][repeat]; ok {
			a, b = append(a, r.values[i][repeat]), append(b, w)
		}
	}
	return a, b
}

// averaged returns the row of the means over all rows. sameDraws is true if all rows have the same draws.
func averaged(rows []sample, draws significance.Draws, sameDraws bool) sample {
	out := newSample(len(rows[0].values), draws)
	if !sameDraws {
		out.parts = rows
	}
	for i, values := range out.values {
		byRepeat := map[int][]float64{}
		for _, r := range rows {
			for repeat, v := range r.values[i] {
				byRepeat[repeat] = append(byRepeat[repeat], v)
			}
		}
		for repeat, v := range byRepeat {
			if len(v) == len(rows) {
				values[repeat], _ = eval.MeanSD(v)
			}
		}
	}
	return out
}

// fields returns the named numbers of a difference for CSV, "" for missing ones.
func (c Contrast) fields(by Tests, names ...string) []string {
	tested, bayes := c.Pairs > 0, c.Pairs > 0 && by.By.Bayesian()
	byP := tested && !bayes && by.By != significance.ByNone
	all := map[string]string{
		"pairs": csvNumber(float64(c.Pairs), tested), "difference": csvNumber(c.Difference, tested), "biserial": csvNumber(c.Biserial, tested),
		"low": csvNumber(c.Low, c.HasInterval), "high": csvNumber(c.High, c.HasInterval), "effect": csvNumber(c.Effect, c.HasEffect),
		"p": csvNumber(c.P, byP), "uncorrected": csvNumber(c.Raw, byP),
		"below": csvNumber(c.Chances.Below, bayes), "within": csvNumber(c.Chances.Within, bayes), "above": csvNumber(c.Chances.Above, bayes),
	}
	return lists.Map(names, func(name string) string { return all[name] })
}

func (by Tests) columns() []Column {
	columns := []Column{valueColumn("95 % interval", "low", "high"), valueColumn("Effect", "effect", "biserial")}
	if by.By.Bayesian() {
		return append(columns, valueColumn("Below", "below"), valueColumn("Within", "within"), valueColumn("Above", "above"))
	}
	return append(columns, valueColumn("p", "p", "uncorrected"))
}

// valueColumn returns a column of numbers with its columns in CSV.
func valueColumn(heading string, fields ...string) Column {
	return Column{Heading: heading, Right: true, Fields: fields}
}

func (c Contrast) words(by Tests, s eval.Score) (words []Word) {
	interval, effect := "["+signed(s, c.Low)+", "+signed(s, c.High)+"]", signedText(fmt.Sprintf("%.2f", c.Effect), c.Effect)
	shown := []Word{{Text: interval}, {Text: effect}, {Text: pText(c.P)}}
	if by.By.Bayesian() {
		shown = shown[:2]
		for _, p := range []float64{c.Chances.Below, c.Chances.Within, c.Chances.Above} {
			shown = append(shown, Word{Text: fmt.Sprintf("%.3f", p), Bold: p >= significance.Sure, Mark: Unmarked})
		}
	}
	for i, column := range by.columns() {
		w := shown[i]
		if w.Fields = c.fields(by, column.Fields...); w.Fields[0] == "" {
			w.Text, w.Bold = missing, false
		}
		words = append(words, w)
	}
	words[len(words)-1].Mark = c.mark()
	return words
}

func (c Contrast) mark() Mark {
	return [...]Mark{Untested: Unmarked, Open: Unmarked, Different: MarkDiffers, Equivalent: MarkEquivalent}[c.Verdict]
}

func csvNumber(x float64, known bool) string {
	if !known {
		return ""
	}
	return allDigits(x)
}

func allDigits(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// signed formats a difference of two values of a score.
func signed(s eval.Score, difference float64) string {
	return signedText(formatValue(s, difference), difference)
}

// signedText adds the sign of x to its text, except to a text of 0.
func signedText(text string, x float64) string {
	switch {
	case strings.Trim(text, "-0.") == "":
		return strings.TrimPrefix(text, "-")
	case x > 0:
		return "+" + text
	}
	return "−" + strings.TrimPrefix(text, "-")
}

func pText(p float64) string {
	if p < 0.001 {
		return "<0.001"
	}
	return fmt.Sprintf("%.3f", p)
}

// RowOf returns the row of a table for a record: its rank or number of classes.
func RowOf(r record.Record) int { return cmp.Or(r.Row, r.Classes) }

// rowsOf splits records in the order of Finished by row.
func rowsOf(records []record.Record) (rows [][]record.Record) {
	for i, r := range records {
		if i == 0 || RowOf(r) != RowOf(records[i-1]) {
			rows = append(rows, nil)
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], r)
	}
	return rows
}

// Finished returns the records of the given methods, sorted by row, repeat and method, the last one for each trial, so
// that nothing depends on the order of the log.
func Finished(records []record.Record, methods []string) []record.Record {
	order := func(a, b record.Record) int {
		return cmp.Or(
			cmp.Compare(RowOf(a), RowOf(b)),
			cmp.Compare(a.Repeat, b.Repeat),
			cmp.Compare(slices.Index(methods, a.Method), slices.Index(methods, b.Method)))
	}
	var kept []record.Record
	for _, r := range slices.Backward(records) {
		if slices.Contains(methods, r.Method) {
			kept = append(kept, r)
		}
	}
	slices.SortStableFunc(kept, order)
	return slices.CompactFunc(kept, func(a, b record.Record) bool { return order(a, b) == 0 })
}

// ScoresOf returns the names of all scores in the records, in the order of display.
func ScoresOf(records []record.Record) []string {
	found := map[string]float64{}
	for _, r := range records {
		maps.Copy(found, r.Scores)
	}
	return slices.SortedFunc(maps.Keys(found), eval.CompareScores)
}

// formatValue formats a value of a score without its unit: a percentage with one decimal, other numbers with three.
func formatValue(s eval.Score, v float64) string {
	decimals := 3
	if s.Unit == eval.UnitPercent {
		v, decimals = 100*v, 1
	}
	if math.Abs(v) >= 1e6 {
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Trim(text, "-0.") == "" {
		return strings.TrimPrefix(text, "-")
	}
	return text
}

// WithUnit returns a value of a score as text, with the separator and the unit behind.
func WithUnit(s eval.Score, v float64, separator string) string {
	return formatValue(s, v) + unit(s, separator)
}

// unit returns the unit of a score after a separator; "" for plain numbers.
func unit(s eval.Score, separator string) string {
	if s.Unit == eval.UnitNone {
		return ""
	}
	return separator + string(s.Unit)
}

func inUnit(s eval.Score) string {
	if s.Unit == eval.UnitPercent {
		return " in percent"
	}
	return unit(s, " in ")
}

// scoreLabel returns the short name of a score for a column.
func scoreLabel(s eval.Score) string {
	first, size := utf8.DecodeRuneInString(s.Name)
	label := string(unicode.ToUpper(first)) + s.Name[size:]
	if s.Unlabelled {
		label = strings.TrimSuffix(label, eval.UnlabelledSuffix) + " of the unlabelled samples"
	}
	return label
}

// AxisLabel returns the label of an axis: the score's name, further words, and the unit.
func AxisLabel(s eval.Score, words string) string { return scoreLabel(s) + words + unit(s, ", ") }

func findScore(name string) eval.Score {
	s, _ := eval.FindScore(name)
	return s
}

var classAccuracy = eval.Score{
	Name: "class accuracy", Title: "Accuracy of each class", Max: 1, Unit: eval.UnitPercent, Task: eval.Classification,
	Help: "Recall: percentage of the class's test samples that are classified correctly.",
}

// PerClass returns the table of the accuracy of each tested class, one a row. The records of a method must have one
// rank or number of classes. The average row is not tested, because the classes of a repeat are not independent.
func PerClass(records []record.Record, methods, classes []string, by Tests) *Table {
	var shares []record.Record
	for _, r := range Finished(records, methods) {
		for i, class := range confusedClasses(r, len(classes)) {
			row, all := r.Confusion[i], 0
			for _, n := range row {
				all += n
			}
			if all > 0 {
				shares = append(shares, record.Record{
					Method: r.Method, Row: class + 1, Repeat: r.Repeat, Samples: r.Samples, Tested: r.Tested,
					Scores: map[string]float64{classAccuracy.Name: float64(row[i]) / float64(all)},
				})
			}
		}
	}
	by.Classes, by.noAverage = 0, true // a class is the same whichever others are drawn
	t := newTable(shares, classAccuracy, methods, by)
	t.Ranks, t.ByClass = false, true
	for i := range t.Rows {
		t.Rows[i].Name = classes[t.Rows[i].Number-1]
	}
	return t
}

// TotalConfusion returns the sum of the confusion matrices of records, classes×classes; nil if they have none.
func TotalConfusion(records []record.Record, classes int) (total [][]int) {
	for _, r := range records {
		of := confusedClasses(r, classes)
		for len(of) > 0 && len(total) < classes {
			total = append(total, make([]int, classes))
		}
		for i, a := range of {
			for j, b := range of {
				total[a][b] += r.Confusion[i][j]
			}
		}
	}
	return total
}

// confusedClasses returns the class of each row of a record's confusion matrix; nil unless it covers all classes, or
// those drawn.
func confusedClasses(r record.Record, classes int) []int {
	n, of := len(r.Confusion), r.Drawn
	for i := 0; r.Drawn == nil && i < classes; i++ {
		of = append(of, i)
	}
	if n != len(of) || slices.ContainsFunc(r.Confusion, func(row []int) bool { return len(row) != n }) ||
		slices.ContainsFunc(of, func(class int) bool { return class < 0 || class >= classes }) {
		return nil
	}
	return of
}
