package table

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed4492f2cd/partwise/eval/significance"
	"github.com/seed4492f2cd/partwise/pipeline/record"
	"github.com/seed4492f2cd/partwise/report/internal/reporttest"
)

// setsOf are tables of n sets: on each, a is better than b by more than the noise, and c is about as good as b.
func setsOf(n int) []SetTable {
	var of []SetTable
	methods := []string{"a", "b|_c", "c"}
	for i := range n {
		var records []record.Record
		for _, k := range []int{2, 3} {
			for repeat := range 3 {
				for m, name := range methods {
					v := 0.6 + 0.02*float64(i) + []float64{0.1, 0.01 * reporttest.Noise("b", i), 0.01 * reporttest.Noise("c", i)}[m]
					records = append(records, record.Record{Classes: k, Repeat: repeat, Method: name, Samples: 10, Scores: map[string]float64{"AC": v}})
				}
			}
		}
		of = append(of, SetTable{Set: fmt.Sprintf("set_%d", i), Table: New(records, "AC", methods, Tests{})})
	}
	return of
}

func TestSets(t *testing.T) {
	s := NewSets("many", findScore("AC"), setsOf(8), Tests{})
	if s == nil || len(s.Sets) != 8 || s.LeftOut != nil || s.Ranks[0] != 1 || !near(s.Ranks[1]+s.Ranks[2], 5) {
		t.Fatalf("%+v", s)
	}
	ab, ba := s.Pairs[0][1], s.Pairs[1][0]
	// For 8 differences of one sign p is 2/2⁸, times three for three comparisons.
	if ab.Wins != 8 || ab.Losses != 0 || ba.Losses != 8 || !near(ab.P, 3*2/256.) || ab.Verdict != Different || ba.Verdict != Different || !near(ab.Difference, -ba.Difference) || ab.Difference < 0.08 {
		t.Errorf("a against b: %+v, %+v", ab, ba)
	}
	if bc := s.Pairs[1][2]; bc.Verdict != Open || bc.Wins+bc.Ties+bc.Losses != 8 {
		t.Errorf("b against c: %+v", bc)
	}
	if len(s.Groups) != 1 || len(s.Groups[0]) != 2 || slices.Contains(s.Groups[0], 0) {
		t.Errorf("groups %v", s.Groups)
	}
	if f := s.Finding(); !strings.Contains(f, "a has the best average rank over 8 sets (1.00). Significantly worse:") {
		t.Error(f)
	}
	if !(s.Friedman < 0.01) {
		t.Errorf("Friedman's p = %v", s.Friedman)
	}
	bayes := NewSets("many", findScore("AC"), setsOf(8), Tests{Rule: significance.Rule{By: significance.ByBayesT}})
	if p := bayes.Pairs[0][1]; p.Verdict != Different || p.Chances.Above < 0.95 || bayes.Pairs[1][0].Chances.Below != p.Chances.Above || bayes.Pairs[1][2].Verdict != Equivalent {
		t.Errorf("%+v, b and c %+v", p, bayes.Pairs[1][2])
	}
	none := NewSets("many", findScore("AC"), setsOf(8), Tests{Rule: significance.Rule{By: significance.ByNone}})
	if p := none.Pairs[0][1]; p.Verdict != Untested || p.Wins != 8 {
		t.Errorf("%+v", p)
	}
}

// TestFewSets: missing tests are explained, and sets that lack a method are left out.
func TestFewSets(t *testing.T) {
	of := setsOf(5)
	s := NewSets("few", findScore("AC"), of, Tests{})
	if s.Pairs[0][1].Verdict != Open || !strings.Contains(textMarks.captions(s.Matrix()), "With 5 sets and 3 methods p cannot be below 0.188.") {
		t.Errorf("%+v: %s", s.Pairs[0][1], textMarks.captions(s.Matrix()))
	}
	short := New([]record.Record{{Classes: 2, Method: "a", Scores: map[string]float64{"AC": 0.5}}}, "AC", []string{"a", "b|_c", "c"}, Tests{})
	if s := NewSets("few", findScore("AC"), append(of, SetTable{Set: "short", Table: short}), Tests{}); !slices.Equal(s.LeftOut, []string{"short"}) || !strings.Contains(textMarks.captions(s.Document()), "have finished: short.") {
		t.Errorf("%+v", s)
	}
	for name, of := range map[string][]SetTable{"none": nil, "one": of[:1], "one method": {{Set: "x", Table: New(scored("a", 2, 0.5), "AC", []string{"a"}, Tests{})}, {Set: "y", Table: New(scored("a", 2, 0.5), "AC", []string{"a"}, Tests{})}}} {
		if s := NewSets("x", findScore("AC"), of, Tests{}); s != nil {
			t.Errorf("%s: %+v", name, s)
		}
	}
	// Equal scores give no ranks and no NaN.
	same := []SetTable{{Set: "x", Table: New(slices.Concat(scored("a", 2, 0.5), scored("b", 2, 0.5)), "AC", []string{"a", "b"}, Tests{})}}
	same = append(same, SetTable{Set: "y", Table: same[0].Table})
	if s := NewSets("x", findScore("AC"), same, Tests{}); s.Friedman != 1 || s.Pairs[0][1].P != 1 || s.Pairs[0][1].Ties != 2 || !strings.Contains(s.Finding(), "a and b have the best average rank") {
		t.Errorf("%+v, %s", s, s.Finding())
	}
}

func TestSetsRenderers(t *testing.T) {
	s := NewSets("Yale_32x32 & more", findScore("AC"), setsOf(8), Tests{})
	for name, d := range map[string]*Document{"sets": s.Document(), "pairs": s.Matrix()} {
		for _, f := range Formats {
			var b strings.Builder
			if err := f.Write(&b, d, Options{Width: 80}); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(b.String(), "NaN") {
				t.Error("NaN in the table")
			}
			extension := f.Extension
			if extension == "" {
				extension = "html"
			}
			golden(t, name+"."+extension, b.String())
		}
	}
}
