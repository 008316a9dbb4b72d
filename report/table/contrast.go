package table

import (
	"slices"

	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/eval/significance"
	"github.com/seed4492f2cd/partwise/pipeline"
)

const (
	// minPairs is the smallest number of pairs that are tested: fewer say little of their
	// spread.
	minPairs = 6
	// maxFamily is the largest number of comparisons for which all p-values are computed, as
	// Holm's correction needs. Of more each is multiplied by how many there are, which is
	// never less.
	maxFamily = 50_000
	// intervalLevel is the level of the intervals of differences.
	intervalLevel = 0.95
)

// Tests say how a table tells differences from chance. The zero value is the default rule for
// draws that do not overlap.
type Tests struct {
	significance.Rule
	// Classes is how many classes the set has that draws are of, 0 where this is not
	// known.
	Classes int
	// Fixed tells that each repeat of a classification has the same samples.
	Fixed bool

	// noAverage leaves the row of averages untested.
	noAverage bool
}

// TestsOf are those of an experiment.
func TestsOf(s *pipeline.Summary) Tests {
	return Tests{Rule: s.Significance, Classes: len(s.Classes), Fixed: s.Split()}
}

// Verdict is what a test found.
type Verdict int

const (
	// Untested is of what no test was made of.
	Untested Verdict = iota
	// Open is where no difference was found; there may be one.
	Open
	// Different is of a significant difference, of which a Bayesian test is sure that it
	// matters.
	Different
	// Equivalent is where a Bayesian test is sure that the difference does not matter.
	Equivalent
)

// Contrast is how the scores of one method differ from those of another on the same draws. It is
// zero where no test was made.
type Contrast struct {
	Verdict Verdict
	// Pairs is the number of draws that both have: of repeats, where the row is of several.
	Pairs int
	// Difference is the mean difference, and Low to High its interval of 95 %, in the unit of
	// the records; HasInterval is false where the draws do not tell it.
	Difference, Low, High float64
	HasInterval           bool
	// Effect is the mean difference in standard deviations of the differences, where HasEffect,
	// and Biserial the rank-biserial correlation.
	Effect    float64
	HasEffect bool
	Biserial  float64
	// P is the p-value, corrected for the comparisons of the table where the rule says so, and
	// Raw without it. They have no meaning in Bayesian tests, of which Chances are the
	// probabilities of a difference below, within and above the region of practical equivalence.
	P, Raw  float64
	Chances significance.Probabilities
}

// contrast compares the scores of two methods in a row, i − j. P is still to be corrected. It is
// zero with too few repeats.
func (by Tests) contrast(row sampledRow, i, j int) Contrast {
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
		c.Raw = by.p(row, i, j)
		c.P = c.Raw
	}
	return c
}

// p is the p-value of a mean difference of 0.
func (by Tests) p(row sampledRow, i, j int) float64 {
	if by.By == significance.BySignedRank {
		return significance.Wilcoxon(row.pair(i, j))
	}
	return row.resampled(i, j).P()
}

// judge says what the test found.
func (by Tests) judge(c *Contrast) {
	switch {
	case c.Pairs == 0:
	case by.By.Bayesian():
		switch {
		case max(c.Chances.Below, c.Chances.Above) >= significance.Sure:
			c.Verdict = Different
		case c.Chances.Within >= significance.Sure:
			c.Verdict = Equivalent
		}
	case c.P < significance.Level:
		c.Verdict = Different
	}
}

// draws are those of records, as far as they overlap.
func (by Tests) draws(records []pipeline.Record) significance.Draws {
	d := significance.Draws{Of: by.Classes}
	if by.Overlap == significance.OverlapIgnored {
		return d
	}
	for _, r := range records {
		if !slices.Contains(d.Classes, r.Classes) {
			d.Classes = append(d.Classes, r.Classes)
		}
		if r.Tested > 0 && !by.Fixed {
			d.Learned, d.Scored = d.Learned+r.Samples, d.Scored+r.Tested
		}
	}
	slices.Sort(d.Classes)
	return d
}

// sampledRow is what the methods of a table have in one row, repeat by repeat; that of averages has
// their means over all rows, of the repeats that a method has in each of them.
type sampledRow struct {
	draws  significance.Draws
	values []map[int]float64 // of each method, by repeat
	// parts are the rows that a row of averages is of, where the draws of one are independent of
	// those of another, as those of several numbers of classes are.
	parts []sampledRow
}

// resampled is what the repeats that both have tell of the difference of two methods.
func (r sampledRow) resampled(i, j int) significance.Resampled {
	kinds := make([]significance.Resampled, len(r.parts))
	for at, part := range r.parts {
		a, b := part.pair(i, j)
		kinds[at] = significance.NewResampled(a, b, 0)
	}
	if len(kinds) > 0 {
		return significance.Stratified(kinds, r.draws.Ratio())
	}
	a, b := r.pair(i, j)
	return significance.NewResampled(a, b, r.draws.Ratio())
}

// pair returns the scores of two methods in the repeats that both have, in their order.
func (r sampledRow) pair(i, j int) (a, b []float64) {
	var both []int
	for repeat := range r.values[i] {
		if _, ok := r.values[j][repeat]; ok {
			both = append(both, repeat)
		}
	}
	slices.Sort(both)
	for _, repeat := range both {
		a, b = append(a, r.values[i][repeat]), append(b, r.values[j][repeat])
	}
	return a, b
}

// averaged returns the row of the means over all rows, whose draws are the same for several ranks.
func averaged(rows []sampledRow, draws significance.Draws, ranks bool) sampledRow {
	out := sampledRow{draws: draws, values: make([]map[int]float64, len(rows[0].values))}
	if !ranks {
		out.parts = rows
	}
	for i := range out.values {
		of := map[int][]float64{}
		for _, r := range rows {
			for repeat, v := range r.values[i] {
				of[repeat] = append(of[repeat], v)
			}
		}
		out.values[i] = map[int]float64{}
		for repeat, v := range of {
			if len(v) == len(rows) {
				out.values[i][repeat], _ = eval.MeanSD(v)
			}
		}
	}
	return out
}

// compare marks the best cells of each row, and tests the others against the first of them. Which
// one is the best is found from the same scores, so that it might be any: the p-values are
// corrected for the comparisons of all pairs of methods in all rows.
func (t *Table) compare(rows []*Row, sampled []sampledRow) {
	best := make([]int, len(rows))
	family := 0
	for at, r := range rows {
		if best[at] = t.markBest(r); best[at] >= 0 && r.Average && t.Tests.noAverage {
			best[at] = -1
		}
		if best[at] >= 0 {
			n := 0
			for _, c := range r.Cells {
				if c.N >= minPairs {
					n++
				}
			}
			family += n * (n - 1) / 2
		}
	}
	corrected := !t.Tests.By.Bayesian() && t.Tests.Correction == significance.ByHolm
	whole := corrected && family <= maxFamily
	var all []float64
	var average []bool // tells which of these are of averages
	var shown []*Contrast
	var places []int // of these among all
	for at, r := range rows {
		if best[at] < 0 {
			continue
		}
		for i := range r.Cells {
			c := &r.Cells[i]
			if c.N > 0 && !c.Best {
				if c.Contrast = t.Tests.contrast(sampled[at], i, best[at]); c.Pairs > 0 {
					shown, places = append(shown, &c.Contrast), append(places, len(all))
					all, average = append(all, c.Raw), append(average, r.Average)
				}
			}
			if !whole || c.N < minPairs {
				continue
			}
			for j := range i {
				other := r.Cells[j]
				if other.N < minPairs || i == best[at] && !other.Best || j == best[at] && !c.Best {
					continue // it is among those above
				}
				if a, _ := sampled[at].pair(i, j); len(a) >= minPairs {
					all, average = append(all, t.Tests.p(sampled[at], i, j)), append(average, r.Average)
				}
			}
		}
	}
	if t.Comparisons = family; whole {
		t.Comparisons = len(all)
		all = significance.Holm(all, weights(average))
	}
	for i, c := range shown {
		switch {
		case whole:
			c.P = all[places[i]]
		case corrected:
			c.P = min(1, c.Raw*float64(t.Comparisons))
		}
		t.Tests.judge(c)
	}
}

// weights are those of comparisons in Holm's correction: those of the averages, which sum a table up,
// have half of it together.
func weights(average []bool) []float64 {
	of := 0
	for _, a := range average {
		if a {
			of++
		}
	}
	w := slices.Repeat([]float64{1}, len(average))
	for i, a := range average {
		if a && of < len(average) {
			w[i] = float64(len(average)-of) / float64(of)
		}
	}
	return w
}

// markBest marks the best cells of a row and returns the first of them, −1 where there is no
// contest.
func (t *Table) markBest(r *Row) int {
	best, filled := -1, 0
	for i, c := range r.Cells {
		if c.N == 0 {
			continue
		}
		filled++
		if best < 0 || t.Score.Better(c.Mean, r.Cells[best].Mean) {
			best = i
		}
	}
	if filled < 2 {
		return -1
	}
	for i := range r.Cells {
		c := &r.Cells[i]
		c.Best = c.N > 0 && !t.Score.Better(r.Cells[best].Mean, c.Mean)
	}
	return best
}

// correct corrects the p-values of contrasts that are all there are, and judges them.
func (by Tests) correct(all []*Contrast) {
	all = slices.DeleteFunc(slices.Clone(all), func(c *Contrast) bool { return c.Pairs == 0 })
	p := make([]float64, len(all))
	for i, c := range all {
		p[i] = c.Raw
	}
	if by.Correction == significance.ByHolm {
		p = significance.Holm(p, nil)
	}
	for i, c := range all {
		c.P = p[i]
		by.judge(c)
	}
}

// beyond says of what differences over draws are ones.
func beyond(all []significance.Draws) string {
	var words []string
	for _, d := range all {
		if w := d.Beyond(); !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	switch len(words) {
	case 0:
		return ""
	case 1:
		return "for " + words[0]
	}
	return "for " + words[0] + ", and where all classes are drawn for " + words[len(words)-1]
}
