package pipeline

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed4492f2cd/partwise/internal/testkit"
)

// TestCompareSummaries: what changes the samples that are drawn is refused by its
// name, the rest is told.
func TestCompareSummaries(t *testing.T) {
	set := testkit.CSV(t, 9, 10, 11)
	const clustering = "{name: x, seed: 3, labels: 30%, methods: [nmf]}"
	const classifying = "{name: x, task: classify, seed: 3, train: 5, test: rest, methods: [nmf]}"
	summary := func(text string) *Summary { return newPlan(t, text, set).Summary() }
	change := strings.NewReplacer
	for _, test := range []struct {
		name, text string
		change     *strings.Replacer
		want       string // in the error
		told       []Difference
	}{
		{"the same", clustering, change(), "", nil},
		{"a method and a name", clustering, change("name: x", "name: y", "nmf", "cf"), "", nil},
		{"labels", clustering, change("30%", "40%"), "", []Difference{{"labels", "30% of each class", "40% of each class"}}},
		{"the seed", clustering, change("seed: 3", "seed: 4"), "(seed: 3 and 4)", nil},
		{"training samples", classifying, change("train: 5", "train: 6"), "to train: 5 a class and 6 a class", nil},
		{"the task", clustering, change(clustering, classifying), "task: cluster and classify", nil},
	} {
		a, b := summary(test.text), summary(test.change.Replace(test.text))
		got, err := a.Compare(b)
		if (err != nil) != (test.want != "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v", test.name, err)
		}
		if test.told != nil && (len(got) != 1 || got[0].Setting != test.told[0].Setting) || test.told == nil && len(got) > 0 {
			t.Errorf("%s: differences %v", test.name, got)
		}
	}

	a := summary(clustering)
	other := newPlan(t, clustering, testkit.CSV(t, 9, 10, 11)).Summary()
	if _, err := a.Compare(other); err == nil || !strings.Contains(err.Error(), "data: "+set) {
		t.Errorf("other data: error %v", err)
	}
	t.Chdir(filepath.Dir(set))
	here := newPlan(t, clustering, filepath.Base(set)).Summary()
	if d, err := a.Compare(here); err != nil || cmp.Diff(d, []Difference(nil)) != "" {
		t.Errorf("the same file by another path: %v, %v", d, err)
	}
	changed, err := os.ReadFile(testkit.CSV(t, 10, 9, 11))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(set, changed, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Compare(newPlan(t, clustering, set).Summary()); err == nil || !strings.Contains(err.Error(), "the data held other samples") {
		t.Errorf("data that were changed: error %v", err)
	}
	here.Classes = []string{"a", "b", "c"}
	if _, err := a.Compare(here); err == nil || !strings.Contains(err.Error(), "classes have other names") {
		t.Errorf("other classes: error %v", err)
	}
	here.Shared = nil
	if _, err := a.Compare(here); err == nil || !strings.Contains(err.Error(), "earlier version") {
		t.Errorf("an earlier version: error %v", err)
	}
}
