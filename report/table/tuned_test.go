package table

import (
	"strings"
	"testing"

	"github.com/seed4492f2cd/partwise/pipeline/record"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// TestTunedCaption: captions give the rule and the choices of the draws.
func TestTunedCaption(t *testing.T) {
	var records []record.Record
	for repeat, lambda := range []string{"10", "1", "10"} {
		records = append(records,
			record.Record{Classes: 3, Repeat: repeat, Method: "nmf", Scores: map[string]float64{"AC": 0.5}},
			record.Record{Classes: 3, Repeat: repeat, Method: "gnmf", Scores: map[string]float64{"AC": 0.7},
				Tuned: &spec.Tuned{By: spec.TuneLabelled, Values: map[string]string{"lambda": lambda, "init": "nmf"}}})
	}
	const want = " Settings of gnmf, chosen in each draw by cross-validation on labelled samples: init=nmf lambda=1 in 1 draw, init=nmf lambda=10 in 2 draws. "
	if got := New(records, "AC", []string{"nmf", "gnmf"}, Tests{}).Document().Caption; !strings.Contains(got, want) {
		t.Errorf("caption %q lacks %q", got, want)
	}
	if got := New(records, "AC", []string{"nmf"}, Tests{}).Document().Caption; strings.Contains(got, "chosen") {
		t.Errorf("caption %q", got)
	}
}
