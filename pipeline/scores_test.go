package pipeline

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/internal/testkit"
)

// TestDrawn: a confusion says which classes it is of where not all were drawn.
func TestDrawn(t *testing.T) {
	set := testkit.CSV(t, 12, 10, 11, 9)
	p := newPlan(t, `{name: x, task: classify, methods: [original], classes: [3, 4], train: 4, test: 4, repeats: 5}`, set)
	records, err := p.Run(t.Context(), nil, RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	different := map[[3]int]bool{}
	for _, r := range records {
		if r.Classes == 4 {
			if r.Drawn != nil {
				t.Errorf("all classes are drawn, and the record says %v", r.Drawn)
			}
			continue
		}
		d := p.draw(3, r.Repeat)
		for i, row := range d.testRows {
			if r.Drawn[d.testTruth[i]] != p.labels[row] {
				t.Fatalf("class %d of the draw is %d, the record says %v", d.testTruth[i], p.labels[row], r.Drawn)
			}
		}
		different[[3]int(r.Drawn)] = true
	}
	if len(different) < 2 {
		t.Error("the same classes each time")
	}
}

// TestPenalty: the curves of methods with a penalty hold it.
func TestPenalty(t *testing.T) {
	p := newPlan(t, `{name: x, methods: [nmf, {name: gnmf, lambda: 10, iterations: 30}], repeats: 1}`, testkit.CSV(t, 9, 10))
	records, err := p.Run(t.Context(), nil, RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		for _, point := range r.Curve {
			if (point.Penalty > 0) != (r.Method == "gnmf") || point.Penalty >= point.Objective {
				t.Errorf("%s: %+v", r.Method, point)
			}
		}
	}
}

// TestOptionalScores: a score that is asked for is in every record; nobody else gets it.
func TestOptionalScores(t *testing.T) {
	text := "name: s\nmethods: [kmeans, nmf]\nclasses: [4]\nrepeats: 2\nlabels: 1\ncluster: {restarts: 1}\n"
	set := testkit.CSV(t, 6, 6, 6, 6)
	p := newPlan(t, text+"scores: [VI]\n", set)
	records, err := p.Run(t.Context(), nil, RunOptions{})
	if err != nil || len(records) != p.Len() {
		t.Fatalf("%d records, %v", len(records), err)
	}
	for _, r := range records {
		_, all := r.Scores["VI"]
		_, rest := r.Scores["VI free"]
		if !all || !rest {
			t.Errorf("%s: scores %v", r.Trial, r.Scores)
		}
	}
	plain := newPlan(t, text, set)
	if plain.trials[0].id == p.trials[0].id {
		t.Error("a trial with more scores passes for one without")
	}
	e, err := Parse([]byte(text + "data: x.csv\nscores: [accuracy]\n"))
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Check(); err == nil || !strings.Contains(err.Error(), "accuracy") || !strings.Contains(err.Error(), "VI") {
		t.Errorf("a score of another task: error %v", err)
	}
}

// TestTooManyClasses: more classes than a confusion table can have are refused before
// anything is run.
func TestTooManyClasses(t *testing.T) {
	set := &datasets.Set{Name: "many"}
	for c := range eval.MostConfused + 1 {
		set.Classes = append(set.Classes, fmt.Sprint(c))
		for i := range 2 {
			set.Names, set.Labels = append(set.Names, fmt.Sprint(c, i)), append(set.Labels, c)
		}
	}
	e := &Experiment{Name: "many", Task: Classification, Methods: Methods{{Name: "nmf"}}, Train: Portion{Count: 1}, Test: Portion{Rest: true}}
	e.Data.Set = "many"
	if err := CheckSet(e, set); err == nil || !strings.Contains(err.Error(), "16385") {
		t.Errorf("error %v", err)
	}
	e.Classes = Classes{eval.MostConfused}
	if err := CheckSet(e, set); err != nil {
		t.Error(err)
	}
}
