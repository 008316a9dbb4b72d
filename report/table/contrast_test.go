package table

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed4492f2cd/partwise/eval/significance"
	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/internal/settings"
	"github.com/seed4492f2cd/partwise/pipeline/record"
)

// contested are scores of four methods: b is slightly worse than a in each repeat, c about equal, and d far worse.
func contested(repeats int) ([]record.Record, []string) {
	random := rng.New(4, "contested")
	methods := []string{"a", "b", "c", "d"}
	var records []record.Record
	for _, k := range []int{3, 5} {
		for repeat := range repeats {
			level := 0.7 + 0.05*random.NormFloat64()
			for m, off := range []float64{0, 0.02, 0.0005, 0.2} {
				records = append(records, record.Record{Method: methods[m], Classes: k, Repeat: repeat, Samples: 50,
					Scores: map[string]float64{"AC": level - off - 0.002*float64(k) + 0.004*random.NormFloat64()}})
			}
		}
	}
	return records, methods
}

// TestRules: each test has its marks, and its caption names it.
func TestRules(t *testing.T) {
	records, methods := contested(12)
	for _, c := range []struct {
		by    Tests
		marks string // of the average
		want  []string
	}{
		{Tests{}, "*d~d", []string{"resampled t-test", "Holm's correction for 18 comparisons", "for these samples"}},
		{Tests{Classes: 50}, "*d~d", []string{"for classes like these"}},
		{Tests{Classes: 6}, "*~~d", nil},
		{Tests{Rule: significance.Rule{Correction: significance.Uncorrected}}, "*d~d", []string{"not corrected for 18 comparisons"}},
		{Tests{Rule: significance.Rule{By: significance.BySignedRank}}, "*d~d", []string{"Wilcoxon"}},
		{Tests{Rule: significance.Rule{By: significance.ByBayesT}}, "*d=d", []string{"Corani and Benavoli", "difference within ±1 point", "Below"}},
		{Tests{Rule: significance.Rule{By: significance.ByBayesSignedRank, Rope: 5}}, "*==d", []string{"Benavoli et al. 2017", "±5 points"}},
		{Tests{Rule: significance.Rule{By: significance.ByBayesT, Rope: settings.None}}, "*d~d", []string{"±0 points"}},
		{Tests{Rule: significance.Rule{By: significance.ByNone}}, "*   ", []string{"The differences are not tested."}},
	} {
		table := New(records, "AC", methods, c.by)
		marks := ""
		for _, cell := range table.Average.Cells {
			marks += map[bool]string{true: "*", false: string(" ~d="[cell.Verdict])}[cell.Best]
		}
		if marks != c.marks {
			t.Errorf("%+v: marks %q, want %q: %+v", c.by, marks, c.marks, table.Average.Cells)
		}
		var text strings.Builder
		if err := Text(&text, table.Document(), Options{Width: 80}); err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(strings.Join(strings.Fields(text.String()), " "), want) {
				t.Errorf("%+v: without %q:\n%s", c.by, want, text.String())
			}
		}
		for line := range strings.Lines(text.String()) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 {
				t.Errorf("a line of %d characters: %q", n, line)
			}
		}
	}
}

// TestFamily: p-values are corrected for all pairs in all rows, by Holm for few pairs and by Bonferroni, which is never
// smaller, for many.
func TestFamily(t *testing.T) {
	records, methods := contested(12)
	few := New(records, "AC", methods, Tests{})
	if few.Comparisons != 3*6 {
		t.Errorf("%d comparisons", few.Comparisons)
	}
	for _, c := range few.Average.Cells {
		if c.Pairs > 0 && (c.P < c.Raw || c.P > c.Raw*18*(1+1e-9)) {
			t.Errorf("p = %v of %v", c.P, c.Raw)
		}
	}
	var many []record.Record
	var names []string
	for i := range 330 {
		names = append(names, fmt.Sprint(i))
		for _, r := range records {
			if r.Classes == 3 && r.Method == methods[min(i, 3)] {
				r.Method = names[i]
				many = append(many, r)
			}
		}
	}
	table := New(many, "AC", names, Tests{})
	if table.Comparisons != 330*329/2 || !strings.Contains(textMarks.captions(table.Document()), "Bonferroni's correction for 54285 comparisons") {
		t.Errorf("%d comparisons: %s", table.Comparisons, textMarks.captions(table.Document()))
	}
	if c := table.Rows[0].Cells[7]; !near(c.P/c.Raw, 54285) || c.Verdict != Different {
		t.Errorf("%+v", c)
	}
}

// TestFewRepeats: fewer than six repeats are not tested.
func TestFewRepeats(t *testing.T) {
	records, methods := contested(5)
	table := New(records, "AC", methods, Tests{})
	if table.Comparisons != 0 || slices.ContainsFunc(table.Average.Cells, func(c Cell) bool { return c.Verdict != Untested }) {
		t.Errorf("%+v", table.Average)
	}
	if d := table.Document(); len(d.Grids) != 1 {
		t.Errorf("%d grids", len(d.Grids))
	}
}
