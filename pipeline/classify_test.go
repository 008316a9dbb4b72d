package pipeline

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/testkit"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
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

// TestClassification: every sample is either a training or a test sample, and well-separated classes are predicted
// correctly.
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
				t.Fatal("a training sample is not labelled")
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
		if purity, ok := r.Scores["basis purity"]; ok != (r.Method != spec.Original) || ok && (purity < 1.0/3 || purity > 1) {
			t.Errorf("%s: basis purity %v", r.Method, purity)
		}
	}
}

// TestClusterers: each algorithm finds well-separated groups, as a method and after another method.
func TestClusterers(t *testing.T) {
	set := testkit.CSV(t, 14, 12, 13)
	text := "{name: x, classes: 3, repeats: 2, labels: 30%, rank: k, methods: ["
	for _, name := range spec.Clusterers() {
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
		"{name: x, data: y, methods: [eccf], task: classify, train: 3, test: 3}":           "the method eccf is for the task cluster",
		"{name: x, data: y, methods: [sym-nmf], task: classify, train: 3, test: 3}":        "the method sym-nmf is for the task cluster",
		"{name: x, data: y, methods: [ss-nmf], task: classify, train: 3, test: 3}":         "the method ss-nmf is for the task cluster",
		"{name: x, data: y, methods: [nmf], task: classify}":                               "needs train and test",
		"{name: x, data: y, methods: [nmf], train: 3}":                                     "train, test, split, classifier and neighbours need task: classify",
		"{name: x, data: y, methods: [nmf], neighbours: 3}":                                "train, test, split, classifier and neighbours need task: classify",
		"{name: x, data: y, methods: [{name: nmf, recode: true}]}":                         "sets recode",
		"{name: x, data: y, methods: [nmf], labels: rest}":                                 "rest is valid for test only",
		"{name: x, data: y, methods: [nmf], task: classify, train: 1, test: 1, labels: 3}": "labels needs task: cluster; a classification labels all training samples",
		"{name: x, data: y, methods: [nmf], classes: 2..3, rank: [3, 4]}":                  "the experiment varies both classes and rank; use several values for one of them only",
		"{name: x, data: y, methods: [cop-kmeans]}":                                        "needs labels",
	} {
		e, err := spec.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gives %v, want %q", text, err, want)
		}
	}
	e, err := spec.Parse([]byte(`{name: x, methods: [original], task: classify, train: 6, test: 6}`))
	if err != nil {
		t.Fatal(err)
	}
	e.Data.Set = testkit.CSV(t, 12, 11)
	in, err := input.Prepare(t.Context(), e, input.PrepareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewPlan(t.Context(), e, in); err == nil || !strings.Contains(err.Error(), `class "class1": 6 training and 6 test samples requested, but the class has 11`) {
		t.Errorf("more than a class has: %v", err)
	}
}

// TestConceptMethodsRecode: in a classification, only methods with a basis made of samples represent the training
// samples as test samples by default. Naming the default does not change the trial.
func TestConceptMethodsRecode(t *testing.T) {
	set := testkit.CSV(t, 9, 10, 11)
	ids := func(name, recode string) (id, words string, p *Plan) {
		p = newPlan(t, fmt.Sprintf("{name: x, task: classify, methods: [{name: %s%s}], train: 5, test: rest, rank: 3, repeats: 1}", name, recode), set)
		return p.trials[0].id, fmt.Sprint(p.Summary().Settings), p
	}
	names := []string{"parts, basis: concept"}
	for _, info := range factor.Methods() {
		if method, err := info.New(nil); err != nil {
			t.Fatal(err)
		} else if !factor.NeedsOf(method).NoModel {
			names = append(names, info.Name)
		}
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
		res, err := p.work(p.methods[0], d, seen).Fit(t.Context(), 3)
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

// TestConceptFactorisationClassifies: by default the coefficients of training and test samples are comparable.
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

// TestClassifiers: the linear classifier separates well-separated classes, does not depend on the number of workers,
// and makes other trials than nearest neighbours.
func TestClassifiers(t *testing.T) {
	text := strings.Replace(classifying, "neighbours: {k: 3}", "classifier: {by: linear, c: 10}", 1)
	set := testkit.CSV(t, 12, 10, 11)
	p := newPlan(t, text, set)
	if log := runPlan(t, p, RunOptions{}); string(log) != string(runPlan(t, p, RunOptions{Workers: 1})) {
		t.Error("one worker makes another log")
	}
	records, err := p.Run(t.Context(), nil, RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if r.Scores["accuracy"] < 0.5 {
			t.Errorf("%s, rank %d: accuracy %v of classes that lie apart", r.Method, r.Rank, r.Scores["accuracy"])
		}
	}
	other := newPlan(t, classifying, set)
	if p.trials[0].id == other.trials[0].id {
		t.Error("a trial of another classifier has the same identity")
	}
	if !slices.Contains(p.Experiment.Shared(), [2]string{"classification", "logistic regression of standardised features, C = 10"}) {
		t.Errorf("shared settings %q", p.Experiment.Shared())
	}
}

// splitFolder writes images of two classes into folders train and test.
func splitFolder(t *testing.T, counts map[string]int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "split")
	for in, count := range counts {
		if err := os.MkdirAll(filepath.Join(dir, in), 0o777); err != nil {
			t.Fatal(err)
		}
		for i := range count {
			img := image.NewGray(image.Rect(0, 0, 2, 2))
			img.SetGray(0, 0, color.Gray{Y: uint8(9 * (i + 1))})
			if strings.HasSuffix(in, "Forest") {
				img.SetGray(1, 1, color.Gray{Y: 200})
			} else {
				img.SetGray(1, 0, color.Gray{Y: 200})
			}
			f, err := os.Create(filepath.Join(dir, in, fmt.Sprintf("%d.png", i)))
			if err != nil {
				t.Fatal(err)
			}
			if err := png.Encode(f, img); err != nil {
				t.Fatal(err)
			}
			f.Close()
		}
	}
	return dir
}

// TestSplit: with folders train and test, each repeat trains on the one and tests on the other.
func TestSplit(t *testing.T) {
	const text = `{name: x, task: classify, split: folders, methods: [original, {name: nmf, iterations: 20}], rank: 2, repeats: 2, classifier: linear, features: {pixels: 2}}`
	dir := splitFolder(t, map[string]int{"train/Coast": 5, "train/Forest": 4, "test/Coast": 2, "test/Forest": 3})
	p := newPlan(t, text, dir)
	for repeat := range 2 {
		d := p.draw(2, repeat)
		for i, row := range d.rows {
			if !strings.HasPrefix(p.Inputs.Set.Names[row], "train/") || d.labels[i] != d.truth[i] {
				t.Errorf("learned from %s, label %d of class %d", p.Inputs.Set.Names[row], d.labels[i], d.truth[i])
			}
		}
		for _, row := range d.testRows {
			if !strings.HasPrefix(p.Inputs.Set.Names[row], "test/") {
				t.Errorf("tested on %s", p.Inputs.Set.Names[row])
			}
		}
		if len(d.rows) != 9 || len(d.testRows) != 5 {
			t.Errorf("%d samples to train and %d to test, want 9 and 5", len(d.rows), len(d.testRows))
		}
	}
	records, err := p.Run(t.Context(), nil, RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if r.Tested != 5 || r.Samples != 9 || r.Scores["accuracy"] != 1 {
			t.Errorf("%s: %d tested after %d, accuracy %v", r.Method, r.Tested, r.Samples, r.Scores["accuracy"])
		}
	}
}

// TestSplitMistakes: invalid splits, and settings that conflict with a split.
func TestSplitMistakes(t *testing.T) {
	testkit.Slow(t)
	const base = "{name: x, task: classify, methods: [original], "
	for _, c := range []struct {
		text, data, want string
	}{
		{base + "split: folders}", splitFolder(t, map[string]int{"Coast": 3, "Forest": 3}), "has neither folders train and test with all images, nor IDX files of both parts"},
		{base + "split: folders}", splitFolder(t, map[string]int{"train/Coast": 3, "train/Forest": 3, "test/Coast": 3}), `class "Forest": split: the class has 3 training and 0 test samples; expected 1 or more of both`},
		{base + "split: folders, train: 2}", "generated", "split defines training and test samples; remove train and test"},
		{base + "train: 2}", "generated", "needs train and test"},
		{base + "train: 2, test: rest, classifier: linear, neighbours: 3}", "generated", "neighbours needs classifier: neighbours, but the classifier is linear"},
		{base + "train: 2, test: rest, classifier: {c: 3}}", "generated", "by: linear"},
		{"{name: x, methods: [nmf], split: folders}", "generated", "need task: classify"},
		{"{name: x, methods: [nmf], classifier: linear}", "generated", "need task: classify"},
	} {
		e, err := spec.Parse([]byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		e.Data.Set = c.data
		set, err := input.Open(t.Context(), e)
		if err != nil {
			t.Fatal(err)
		}
		if err := CheckSet(t.Context(), e, set); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.text, err, c.want)
		}
	}
}
