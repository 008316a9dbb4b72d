package pipeline

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/internal/testkit"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/record"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// TestDrawn: a confusion matrix names its classes if not all were drawn.
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

// TestPenalty: the curves of methods with a penalty include it.
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

// TestOptionalScores: a requested score is in every record, and in no other experiment.
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
	e, err := spec.Parse([]byte(text + "data: x.csv\nscores: [accuracy]\n"))
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Check(); err == nil || !strings.Contains(err.Error(), "accuracy") || !strings.Contains(err.Error(), "VI") {
		t.Errorf("a score of another task: error %v", err)
	}
}

// TestTooManyClasses: more classes than a confusion matrix allows are refused before any trial.
func TestTooManyClasses(t *testing.T) {
	set := &datasets.Set{Name: "many"}
	for c := range eval.MostConfused + 1 {
		set.Classes = append(set.Classes, fmt.Sprint(c))
		for i := range 2 {
			set.Names, set.Labels = append(set.Names, fmt.Sprint(c, i)), append(set.Labels, c)
		}
	}
	e := &spec.Experiment{Name: "many", Task: spec.Classification, Methods: spec.Methods{{Name: "nmf"}}, Train: spec.Portion{Count: 1}, Test: spec.Portion{Rest: true}}
	e.Data.Set = "many"
	if err := CheckSet(t.Context(), e, set); err == nil || !strings.Contains(err.Error(), "16385") {
		t.Errorf("error %v", err)
	}
	e.Classes = spec.Classes{eval.MostConfused}
	if err := CheckSet(t.Context(), e, set); err != nil {
		t.Error(err)
	}
}

// TestPaperProtocols compares the averages of the CCF and the CNMF paper's protocols with an independent implementation
// of the formulas in another language (100 repeats, standard errors of the average over k from 0.3 to 0.6 points). The
// tolerance is four standard errors of this test's runs.
func TestPaperProtocols(t *testing.T) {
	root := testkit.NeedFolder(t, testkit.DataFolder)
	testkit.Slow(t)
	const (
		ccf  = "labels: 30%, rank: k+1, cluster: {distance: cosine}"
		cnmf = "labels: 10%, rank: k"
	)
	for _, c := range []struct {
		set, protocol string
		want          map[string][2]float64 // AC and NMI in percent
	}{
		{"yale", ccf, map[string][2]float64{"kmeans": {51.0, 37.0}, "nmf": {58.6, 45.0}, "semi-gnmf": {50.2, 37.5}, "cf": {51.0, 35.9}, "ccf": {61.4, 50.0}}},
		{"yale", cnmf, map[string][2]float64{"nmf-ncw": {53.1, 38.3}, "gnmf": {45.4, 31.3}, "cnmf": {56.6, 43.2}, "cnmf-kl": {60.0, 49.0}}},
		{"orl", ccf, map[string][2]float64{"nmf": {79.9, 77.3}, "cf": {47.8, 33.2}, "ccf": {78.2, 75.2}}},
		{"orl", cnmf, map[string][2]float64{"nmf-ncw": {76.6, 72.7}, "cnmf": {79.9, 76.4}, "semi-gnmf": {72.6, 70.7}}},
	} {
		text := "{name: x, data: " + c.set + ", classes: [2, 4, 6, 8, 10], repeats: 2, seed: 11, " + c.protocol + ", methods: ["
		for m := range c.want {
			if m == "ccf" {
				m = "{name: ccf, init: nmf}"
			}
			text += m + ", "
		}
		e, err := spec.Parse([]byte(text + "]}"))
		if err != nil {
			t.Fatal(err)
		}
		e.Data.Root = root
		in, err := input.Prepare(context.Background(), e, input.PrepareOptions{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := NewPlan(t.Context(), e, in)
		if err != nil {
			t.Fatal(err)
		}
		records, err := p.Run(context.Background(), nil, RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for m, want := range c.want {
			for i, score := range []string{"AC", "NMI"} {
				got, se := average(records, m, score)
				if d := got - want[i]; d > 4*se || d < -4*se {
					t.Errorf("%s, %s: %s of %s is %.1f ± %.1f, want about %.1f", c.set, c.protocol, score, m, got, se, want[i])
				}
			}
		}
	}
}

// average returns the mean of a method's score over numbers of classes in percent, and its standard error. 2, 4, …, 10
// represent 2, 3, …, 10, because scores fall nearly linearly.
func average(records []record.Record, method, score string) (mean, se float64) {
	by := map[int][]float64{}
	for _, r := range records {
		if r.Method == method {
			by[r.Classes] = append(by[r.Classes], 100*r.Scores[score])
		}
	}
	var variance float64
	for _, x := range by {
		m, sd := eval.MeanSD(x)
		mean += m / float64(len(by))
		variance += sd * sd / float64(len(x)) / float64(len(by)*len(by))
	}
	return mean, math.Sqrt(variance)
}
