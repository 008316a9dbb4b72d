package pipeline

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/output"
)

// TestSamples: the saved coefficients are of the samples listed.
func TestSamples(t *testing.T) {
	set := writeSet(t, 12, 10, 11, 9)
	p := newPlan(t, `{name: x, methods: [kmeans, nmf, {name: cf, iterations: 5}], classes: [2, 3], repeats: 2, rank: k}`, set)
	dir := t.TempDir()
	runPlan(t, p, dir, RunOptions{})
	s, err := ReadSummary(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"class0", "class1", "class2", "class3"}, s.Classes); diff != "" {
		t.Error(diff)
	}
	d := p.draw(3, 0)
	if len(s.Samples) != len(d.rows) {
		t.Fatalf("%d samples, want %d", len(s.Samples), len(d.rows))
	}
	for i, row := range d.rows {
		if want := (Sample{p.Inputs.Set.Names[row], p.labels[row]}); s.Samples[i] != want {
			t.Errorf("sample %d is %v, want %v", i, s.Samples[i], want)
		}
	}
	found := s.LoadCoefficients(dir)
	if len(found) != 3 || found[0] != nil || found[1] == nil || found[2] == nil {
		t.Fatalf("coefficients %v", found)
	}
	seen, err := p.Inputs.view(t.Context(), d, p.Experiment.Seed)
	if err != nil {
		t.Fatal(err)
	}
	want, err := p.fit(t.Context(), p.Experiment.Methods[1], 3, d, seen.x)
	if err != nil {
		t.Fatal(err)
	}
	if !mat.Equal(found[1], want.Coefficients) {
		t.Error("the coefficients are not those that were found")
	}

	// A damaged model, and one of other samples, is as if it were not there.
	if err := os.Truncate(filepath.Join(dir, ModelDir, s.Models[1]), 300); err != nil {
		t.Fatal(err)
	}
	s.Models[2] = "../" + s.Models[2]
	if found := s.LoadCoefficients(dir); found[1] != nil || found[2] != nil {
		t.Error("a damaged model was read, or one outside its folder")
	}
	s.Models[2] = filepath.Base(s.Models[2])
	s.Samples = s.Samples[1:]
	if found := s.LoadCoefficients(dir); found[2] != nil {
		t.Error("a model of other samples was read")
	}

	path := filepath.Join(dir, SamplesFile)
	if err := os.WriteFile(path, []byte("sample,class\na,class1\nb,nothing\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSummary(dir); err == nil || !strings.Contains(err.Error(), `line 3: there is no class "nothing"`) {
		t.Errorf("a class that is not there: %v", err)
	}
	if err := os.WriteFile(path, []byte("sample,class\na\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSummary(dir); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("a line of one field: %v", err)
	}
	// Results from before there was a list, and of methods without models.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if s, err := ReadSummary(dir); err != nil || s.Samples != nil {
		t.Errorf("no list: %v, %v", s, err)
	}
}

// TestOldResults: what was written before classes, sweeps and penalties were kept
// is read.
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
	records, err := s.Records(dir)
	if err != nil || len(records) != 1 || records[0].Curve[1] != (Point{Iteration: 1, Objective: 2}) {
		t.Errorf("%v, %v", records, err)
	}
}

// TestDrawn: a confusion says which classes it is of where not all were drawn.
func TestDrawn(t *testing.T) {
	set := writeSet(t, 12, 10, 11, 9)
	p := newPlan(t, `{name: x, task: classify, methods: [original], classes: [3, 4], train: 4, test: 4, repeats: 5}`, set)
	records, err := Run(t.Context(), p, t.TempDir(), RunOptions{})
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
	p := newPlan(t, `{name: x, methods: [nmf, {name: gnmf, lambda: 10, iterations: 30}], repeats: 1}`, writeSet(t, 9, 10))
	records, err := Run(t.Context(), p, t.TempDir(), RunOptions{})
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

// TestSamplesNames: names are read as they stand in the summary, also those that
// are formulas to a spreadsheet or no UTF-8.
func TestSamplesNames(t *testing.T) {
	dir := t.TempDir()
	folder, err := output.Open(dir, output.Spec{Command: "run", Names: runFiles})
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	if err := writeSamples(folder, []Sample{{"@1", 0}, {"2\xff", 1}, {"3", 2}}, []string{"=a", "caf\xe9", "c\nd"}); err != nil {
		t.Fatal(err)
	}
	got, err := readSamples(dir, []string{"=a", "caf\ufffd", "c\nd"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Sample{{"@1", 0}, {"2\ufffd", 1}, {"3", 2}}, got); diff != "" {
		t.Error(diff)
	}
	// As before names were written like this.
	if err := os.WriteFile(filepath.Join(dir, SamplesFile), []byte("sample,class\n1,caf\xe9\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := readSamples(dir, []string{"caf\ufffd"}); err != nil {
		t.Error(err)
	}
}
