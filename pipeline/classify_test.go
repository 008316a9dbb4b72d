package pipeline

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/testkit"
)

const classifying = `
name: classifying
task: classify
methods:
  - original
  - {name: nmf, iterations: 50}
  - {name: d-snmf, iterations: 50, recode: true}
train: 6
test: rest
rank: [2, 3, 5]
neighbours: {k: 3}
repeats: 4
`

// TestClassification: every sample is learned from or tested, none both, and
// classes that lie apart are told apart.
func TestClassification(t *testing.T) {
	p := newPlan(t, classifying, testkit.CSV(t, 12, 10, 11))
	for repeat := range 4 {
		d := p.draw(3, repeat)
		seen := map[int]bool{}
		for _, row := range append(d.rows, d.testRows...) {
			if seen[row] {
				t.Fatalf("sample %d is drawn twice", row)
			}
			seen[row] = true
		}
		if len(d.rows) != 18 || len(d.testRows) != 15 {
			t.Fatalf("%d samples to train and %d to test, want 18 and 15", len(d.rows), len(d.testRows))
		}
		for i, c := range d.labels {
			if c != d.truth[i] {
				t.Fatal("a training sample's label is not told")
			}
		}
	}
	log := runPlan(t, p, RunOptions{})
	if again := runPlan(t, p, RunOptions{Workers: 1}); string(again) != string(log) {
		t.Error("one worker makes another log")
	}
	records, err := p.Run(t.Context(), nil, RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(records) != 3*4*3 {
		t.Fatalf("%d records, want 36", len(records))
	}
	for _, r := range records {
		if r.Row != 2 && r.Row != 3 && r.Row != 5 {
			t.Errorf("a record of row %d", r.Row)
		}
		if r.Scores["accuracy"] < 0.6 {
			t.Errorf("%s, rank %d: accuracy %v of classes that lie apart", r.Method, r.Rank, r.Scores["accuracy"])
		}
		var n, right int
		for c, row := range r.Confusion {
			for found, count := range row {
				n += count
				if c == found {
					right += count
				}
			}
		}
		if n != 15 || float64(right)/15 != r.Scores["accuracy"] {
			t.Errorf("%s: the confusion counts %d of %d right, the accuracy is %v", r.Method, right, n, r.Scores["accuracy"])
		}
		if purity, ok := r.Scores["basis purity"]; ok != (r.Method != Original) || ok && (purity < 1.0/3 || purity > 1) {
			t.Errorf("%s: basis purity %v", r.Method, purity)
		}
	}
}

// TestClusterers: each puts samples that lie apart into their groups, as a
// method and as the step behind one.
func TestClusterers(t *testing.T) {
	set := testkit.CSV(t, 14, 12, 13)
	text := "{name: x, classes: 3, repeats: 2, labels: 30%, rank: k, methods: ["
	for _, name := range Clusterers() {
		text += name + ", {name: nmf, as: nmf-" + name + ", cluster: " + name + "}, "
	}
	text += "{name: nmf, as: nmf-largest, cluster: largest}], cluster: {restarts: 5}}"
	records, err := newPlan(t, text, set).Run(t.Context(), nil, RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if r.Scores["AC"] < 0.6 {
			t.Errorf("%s: AC %v of classes that lie apart", r.Method, r.Scores["AC"])
		}
	}
}

func TestTaskRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"{name: x, data: y, methods: [original]}":                                          "the method original is for the task classify",
		"{name: x, data: y, methods: [kmeans], task: classify, train: 3, test: 3}":         "the method kmeans is for the task cluster",
		"{name: x, data: y, methods: [nmf], task: classify}":                               "needs train and test",
		"{name: x, data: y, methods: [nmf], train: 3}":                                     "are for classification",
		"{name: x, data: y, methods: [nmf], neighbours: 3}":                                "are for classification",
		"{name: x, data: y, methods: [{name: nmf, recode: true}]}":                         "has recode",
		"{name: x, data: y, methods: [nmf], labels: rest}":                                 "only test can be the rest",
		"{name: x, data: y, methods: [nmf], task: classify, train: 1, test: 1, labels: 3}": "labels is for clustering",
		"{name: x, data: y, methods: [nmf], classes: 2..3, rank: [3, 4]}":                  "several numbers of classes and several ranks",
		"{name: x, data: y, methods: [cop-kmeans]}":                                        "needs labels",
	} {
		e, err := Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gives %v, want %q", text, err, want)
		}
	}
	e, err := Parse([]byte(`{name: x, methods: [original], task: classify, train: 6, test: 6}`))
	if err != nil {
		t.Fatal(err)
	}
	e.Data.Set = testkit.CSV(t, 12, 11)
	in, err := Prepare(t.Context(), e, PrepareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewPlan(t.Context(), e, in); err == nil || !strings.Contains(err.Error(), `class "class1": 6 samples to train and 6 to test are asked for, and it has 11`) {
		t.Errorf("more than a class has: %v", err)
	}
}

// TestConceptMethodsRecode: in a classification those methods whose basis is made of
// the samples, and no others, represent the training samples as the test samples
// unless told otherwise. Saying the default makes no other trial.
func TestConceptMethodsRecode(t *testing.T) {
	set := testkit.CSV(t, 9, 10, 11)
	ids := func(name, recode string) (id, words string, p *Plan) {
		p = newPlan(t, fmt.Sprintf("{name: x, task: classify, methods: [{name: %s%s}], train: 5, test: rest, rank: 2, repeats: 1}", name, recode), set)
		return p.trials[0].id, fmt.Sprint(p.Summary().Settings), p
	}
	names := []string{"parts, basis: concept"}
	for _, info := range factor.Methods() {
		names = append(names, info.Name)
	}
	for _, name := range names {
		id, words, p := ids(name, "")
		yes, _, _ := ids(name, ", recode: true")
		no, _, _ := ids(name, ", recode: false")
		p.Inputs.Height, p.Inputs.Width, p.Inputs.Channels = 2, 4, 1 // for ntf
		d := p.draw(3, 0)
		seen, err := p.view(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		res, err := p.work(p.methods[0], d, seen).fit(t.Context(), 2)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want, what := no, false
		if res.Weights != nil {
			want, what = yes, true
		}
		if yes == no || id != want {
			t.Errorf("%s: trial %s by default, %s with recode, %s without", name, id, yes, no)
		}
		if strings.Contains(words, "recode") != what {
			t.Errorf("%s: the settings are %s", name, words)
		}
	}
}

// TestConceptFactorisationClassifies: without settings the coefficients of the
// training samples go with those of the test samples.
func TestConceptFactorisationClassifies(t *testing.T) {
	testkit.Slow(t)
	text := "{name: x, task: classify, features: {pixels: 8}, methods: [lccf, {name: lccf, as: not, recode: false}], train: 5, test: 10, rank: 20, neighbours: {k: 1}, repeats: 2}"
	records, err := newPlan(t, text, "generated").Run(t.Context(), nil, RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	accuracy := map[string]float64{}
	for _, r := range records {
		accuracy[r.Method] += r.Scores["accuracy"] / 2
	}
	if accuracy["lccf"] < accuracy["not"]+0.1 {
		t.Errorf("accuracies %v", accuracy)
	}
}
