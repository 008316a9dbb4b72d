package results

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/files/output"
	"github.com/seed4492f2cd/partwise/internal/testkit"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/pipeline/models"
	"github.com/seed4492f2cd/partwise/pipeline/record"
)

// kept is a sink that stores models.
type kept map[string]*factor.Result

func (m kept) Begin(*pipeline.Summary) (map[string]record.Record, error) { return nil, nil }
func (m kept) HasModel(name string) bool                                 { return true }
func (m kept) Put(_ *record.Record, name string, model *models.Model) error {
	if model != nil {
		m[name] = model.Result
	}
	return nil
}

// TestSamples: the saved coefficients belong to the listed samples.
func TestSamples(t *testing.T) {
	set := testkit.CSV(t, 12, 10, 11, 9)
	p := newPlan(t, `{name: x, methods: [kmeans, nmf, {name: cf, iterations: 5}], classes: [2, 3], repeats: 2, rank: k}`, set)
	dir := t.TempDir()
	runPlan(t, p, dir, pipeline.RunOptions{})
	want := kept{}
	if _, err := p.Run(t.Context(), want, pipeline.RunOptions{}); err != nil {
		t.Fatal(err)
	}
	s, err := ReadSummary(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"class0", "class1", "class2", "class3"}, s.Classes); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(p.Summary().Samples, s.Samples); diff != "" || len(s.Samples) < 3*9 {
		t.Error(diff)
	}
	found, errs := Coefficients(dir, s)
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if len(found) != 3 || found[0] != nil || found[1] == nil || found[2] == nil {
		t.Fatalf("coefficients %v", found)
	}
	if !mat.Equal(found[1], want[s.Models[1]].Coefficients) {
		t.Error("the saved coefficients differ from the computed ones")
	}

	// A damaged model, and one of other samples, is an error that names the file.
	if err := os.Truncate(filepath.Join(dir, ModelDir, s.Models[1]), 300); err != nil {
		t.Fatal(err)
	}
	s.Models[2] = "../" + s.Models[2]
	if found, errs := Coefficients(dir, s); found[1] != nil || found[2] != nil || errs[2] != nil {
		t.Error("a damaged model was read, or one outside its folder")
	} else if errs[1] == nil || !strings.Contains(errs[1].Error(), s.Models[1]) {
		t.Errorf("a damaged model: error %v", errs[1])
	}
	if found, errs := Models(dir, s); found[1] != nil || errs[1] == nil || !strings.Contains(errs[1].Error(), s.Models[1]) {
		t.Errorf("a damaged model: %v, error %v", found[1], errs[1])
	}
	s.Models[2] = filepath.Base(s.Models[2])
	s.Samples = s.Samples[1:]
	if found, errs := Coefficients(dir, s); found[2] != nil || errs[2] == nil || !strings.Contains(errs[2].Error(), s.Models[2]) {
		t.Errorf("a model of other samples: %v, error %v", found[2], errs[2])
	}

	path := filepath.Join(dir, SamplesFile)
	if err := os.WriteFile(path, []byte("sample,class\na,class1\nb,nothing\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSummary(dir); err == nil || !strings.Contains(err.Error(), `line 3: unknown class "nothing"`) {
		t.Errorf("a class that is not there: %v", err)
	}
	if err := os.WriteFile(path, []byte("sample,class\na\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSummary(dir); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("a line of one field: %v", err)
	}
	// Results of versions without the list, and of methods without models.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if s, err := ReadSummary(dir); err != nil || s.Samples != nil {
		t.Errorf("no list: %v, %v", s, err)
	}
}

// TestOldResults: results of versions without classes, sweeps and penalties can be read.
func TestOldResults(t *testing.T) {
	dir := t.TempDir()
	for file, text := range map[string]string{
		SummaryFile: `{"name": "old", "command": "", "settings": [], "methods": ["nmf"], "trials": ["a"], "height": 0, "width": 0, "models": [""]}`,
		LogFile:     `{"trial":"a","classes":2,"rank":2,"repeat":0,"method":"nmf","samples":4,"labelled":0,"scores":{"AC":1},"confusion":[[1,0],[0,1]],"curve":[{"i":0,"o":3},{"i":1,"o":2}]}` + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	s, err := ReadSummary(dir)
	if err != nil {
		t.Fatal(err)
	}
	records, err := Records(dir, s)
	if err != nil || len(records) != 1 || records[0].Curve[1] != (record.Point{Iteration: 1, Objective: 2}) {
		t.Errorf("%v, %v", records, err)
	}
}

// TestSamplesNames: names are read as in the summary, even if they are spreadsheet formulas or not UTF-8.
func TestSamplesNames(t *testing.T) {
	dir := t.TempDir()
	folder, err := output.Open(dir, output.Spec{Command: "run", Names: Files()})
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	if err := writeSamples(folder, []pipeline.Sample{{Name: "@1"}, {Name: "2\xff", Class: 1}, {Name: "3", Class: 2}}, []string{"=a", "caf\xe9", "c\nd"}); err != nil {
		t.Fatal(err)
	}
	got, err := readSamples(dir, []string{"=a", "caf\ufffd", "c\nd"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]pipeline.Sample{{Name: "@1"}, {Name: "2\ufffd", Class: 1}, {Name: "3", Class: 2}}, got); diff != "" {
		t.Error(diff)
	}
	// As in versions that wrote names unchanged.
	if err := os.WriteFile(filepath.Join(dir, SamplesFile), []byte("sample,class\n1,caf\xe9\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := readSamples(dir, []string{"caf\ufffd"}); err != nil {
		t.Error(err)
	}
}
