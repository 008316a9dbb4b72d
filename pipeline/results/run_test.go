package results

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed4492f2cd/partwise/internal/files/output"
	"github.com/seed4492f2cd/partwise/internal/testkit"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// small and swept are experiments of the tests of package pipeline.
var small, swept = experiment("small"), experiment("swept")

func experiment(name string) string {
	text, err := os.ReadFile(filepath.Join("..", "testdata", name+".yaml"))
	if err != nil {
		panic(err)
	}
	return string(text)
}

// newPlan returns the plan of an experiment file on a set.
func newPlan(t *testing.T, text, set string) *pipeline.Plan {
	t.Helper()
	e := parse(t, text, set)
	in, err := input.Prepare(t.Context(), e, input.PrepareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := pipeline.NewPlan(t.Context(), e, in)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func parse(t *testing.T, text, set string) *spec.Experiment {
	t.Helper()
	e, err := spec.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	e.Data.Set = set
	return e
}

func runPlan(t *testing.T, p *pipeline.Plan, dir string, opt pipeline.RunOptions) []byte {
	t.Helper()
	records, err := Run(t.Context(), p, dir, opt)
	if err != nil {
		t.Fatal(err)
	}
	if len(records) != p.Len() {
		t.Fatalf("%d records of %d trials", len(records), p.Len())
	}
	return readFile(t, filepath.Join(dir, LogFile))
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestBrokenRunGoesOn: a run that was stopped anywhere ends with the log of an unbroken run, and repeats no finished
// trial.
func TestBrokenRunGoesOn(t *testing.T) {
	testkit.Slow(t)
	p := newPlan(t, small, testkit.CSV(t, 9, 10, 11, 12, 9))
	whole := t.TempDir()
	want := runPlan(t, p, whole, pipeline.RunOptions{})
	for _, stopAt := range []int{1, 7, p.Len() - 1} {
		dir := t.TempDir()
		ctx, cancel := context.WithCancel(context.Background())
		records, err := Run(ctx, p, dir, pipeline.RunOptions{Workers: 2, Progress: func(_ string, done, _ int) {
			if done == stopAt {
				cancel()
			}
		}})
		cancel()
		if !errors.Is(err, context.Canceled) || len(records) < stopAt || len(records) == p.Len() {
			t.Fatalf("stopped after %d trials: %d records, %v", stopAt, len(records), err)
		}
		// Killed while writing: half a line at the end.
		f, err := os.OpenFile(filepath.Join(dir, LogFile), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(`{"trial":"0123`); err != nil {
			t.Fatal(err)
		}
		f.Close()
		first := -1
		got := runPlan(t, p, dir, pipeline.RunOptions{Progress: func(_ string, done, _ int) {
			if first < 0 {
				first = done
			}
		}})
		if !bytes.Equal(got, want) {
			t.Errorf("stopped after %d trials and run again: another log than unbroken", stopAt)
		}
		if first != len(records) {
			t.Errorf("went on from %d trials, not from the %d in the log", first, len(records))
		}
		models, _ := Models(dir, p.Summary())
		for i, m := range models {
			if (m != nil) != (p.Experiment.Methods[i].Name != spec.KMeans) {
				t.Errorf("%s: model saved: %v", p.Experiment.Methods[i].Label(), m != nil)
			}
		}
	}
}

func TestLostModelIsMadeAgain(t *testing.T) {
	p := newPlan(t, small, testkit.CSV(t, 9, 10, 11, 12, 9))
	dir := t.TempDir()
	want := runPlan(t, p, dir, pipeline.RunOptions{})
	models, err := filepath.Glob(filepath.Join(dir, ModelDir, "*"))
	if err != nil || len(models) != 4 {
		t.Fatalf("models %v, %v; want 4", models, err)
	}
	was := readFile(t, models[1])
	if err := os.Remove(models[1]); err != nil {
		t.Fatal(err)
	}
	if got := runPlan(t, p, dir, pipeline.RunOptions{}); !bytes.Equal(got, want) {
		t.Error("the log changed")
	}
	if !bytes.Equal(readFile(t, models[1]), was) {
		t.Error("the model changed")
	}
}

// TestMethodsDoNotMeet: the records of a method do not depend on other methods, and a changed setting runs only its own
// trials again.
func TestMethodsDoNotMeet(t *testing.T) {
	set := testkit.CSV(t, 9, 10, 11, 12, 9)
	dir := t.TempDir()
	all := string(runPlan(t, newPlan(t, small, set), dir, pipeline.RunOptions{}))
	alone := strings.Split(string(runPlan(t, newPlan(t, strings.NewReplacer(
		"  - kmeans\n", "", "  - {name: gnmf, lambda: 1, iterations: 20}\n", "", "  - {name: ccf, init: nmf, as: CCF, iterations: 20}\n", "").Replace(small), set), t.TempDir(), pipeline.RunOptions{})), "\n")
	for _, line := range alone {
		if !strings.Contains(all, line) {
			t.Fatalf("alone with another method the log has the line\n%s", line)
		}
	}

	changed := newPlan(t, strings.Replace(small, "lambda: 1,", "lambda: 2,", 1), set)
	first := -1
	records, err := Run(context.Background(), changed, dir, pipeline.RunOptions{Progress: func(_ string, done, _ int) {
		if first < 0 {
			first = done
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if want := changed.Len() * 4 / 5; first != want {
		t.Errorf("with another lambda for one of five methods %d trials were taken from the log, want %d", first, want)
	}
	if len(records) != changed.Len() {
		t.Errorf("%d records, want %d", len(records), changed.Len())
	}
	fromLog, err := Records(dir, changed.Summary())
	if err != nil || len(fromLog) != changed.Len() {
		t.Errorf("%d records in the log, want %d (%v)", len(fromLog), changed.Len(), err)
	}
}

// TestDamagedResults: trials of damaged lines run again, and the lines stay at the end. A damaged model is an error
// that names it, and is saved again after it was removed.
func TestDamagedResults(t *testing.T) {
	p := newPlan(t, small, testkit.CSV(t, 9, 10, 11, 12, 9))
	dir := t.TempDir()
	want := runPlan(t, p, dir, pipeline.RunOptions{})
	path := filepath.Join(dir, LogFile)
	lines := bytes.SplitAfter(want, []byte("\n"))
	damaged := slices.Clone(lines)
	damaged[3] = []byte("nonsense\n")
	damaged[5] = bytes.Replace(lines[5], []byte(`"AC":`), []byte(`"AC":7`), 1)
	damaged[8] = []byte("null\n")
	if err := os.WriteFile(path, bytes.Join(damaged, nil), 0o666); err != nil {
		t.Fatal(err)
	}
	models, err := filepath.Glob(filepath.Join(dir, ModelDir, "*"))
	if err != nil || len(models) == 0 {
		t.Fatal(models, err)
	}
	if records, bad, err := ReadLog(dir); err != nil || fmt.Sprint(bad) != "[4 6 9]" || len(records) != p.Len()-3 {
		t.Errorf("damaged lines %v, %d records, %v", bad, len(records), err)
	}
	if err := os.Truncate(models[0], 100); err != nil {
		t.Fatal(err)
	}
	var foreign *output.ForeignError
	if _, err := Run(t.Context(), p, dir, pipeline.RunOptions{}); !errors.As(err, &foreign) || !foreign.Changed || !strings.Contains(err.Error(), models[0]) {
		t.Errorf("a damaged model: %v", err)
	}
	if err := os.Remove(models[0]); err != nil {
		t.Fatal(err)
	}
	first := -1
	got := runPlan(t, p, dir, pipeline.RunOptions{Progress: func(_ string, done, _ int) {
		if first < 0 {
			first = done
		}
	}})
	want = bytes.Join([][]byte{want, damaged[3], damaged[5], damaged[8]}, nil)
	if !bytes.Equal(got, want) {
		t.Error("the log differs from the original log followed by the damaged lines")
	}
	if again := runPlan(t, p, dir, pipeline.RunOptions{}); !bytes.Equal(again, want) {
		t.Error("after another run, the log differs")
	}
	if first < p.Len()-4 {
		t.Errorf("%d trials were taken from the log, want all but 4", first)
	}
	saved, _ := Models(dir, p.Summary())
	for i, m := range saved {
		if m == nil && p.Experiment.Methods[i].Name != spec.KMeans {
			t.Error("a damaged model was not computed again")
		}
	}
}

// TestTwoRuns: one folder allows one run at a time.
func TestTwoRuns(t *testing.T) {
	p := newPlan(t, small, testkit.CSV(t, 9, 10, 11, 12, 9))
	dir := t.TempDir()
	tried := false
	_, err := Run(t.Context(), p, dir, pipeline.RunOptions{Progress: func(_ string, done, _ int) {
		if done == 3 && !tried {
			tried = true
			if _, err := Run(t.Context(), p, dir, pipeline.RunOptions{}); !errors.Is(err, output.ErrInUse) {
				t.Errorf("a second run in the same folder: %v", err)
			}
		}
	}})
	if err != nil || !tried {
		t.Errorf("the first run: %v", err)
	}
	if _, err := Run(t.Context(), p, dir, pipeline.RunOptions{}); err != nil {
		t.Errorf("a run after the first: %v", err)
	}
}

// TestLostLog: if the log or its folder is moved during a run, the run ends with that error and leaves the new content
// alone.
func TestLostLog(t *testing.T) {
	testkit.Slow(t)
	if runtime.GOOS == "windows" {
		t.Skip("open files keep their names")
	}
	p := newPlan(t, small, testkit.CSV(t, 9, 10, 11, 12, 9))
	for what, lose := range map[string]func(dir string) error{
		"removed": func(dir string) error { return os.Remove(filepath.Join(dir, LogFile)) },
		"replaced": func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, LogFile)), os.WriteFile(filepath.Join(dir, LogFile), []byte("mine\n"), 0o666))
		},
		"folder moved": func(dir string) error { return os.Rename(dir, dir+" of before") },
	} {
		for _, at := range []int{3, p.Len()} { // the last is before the log is sorted
			dir := filepath.Join(t.TempDir(), "out")
			records, err := Run(t.Context(), p, dir, pipeline.RunOptions{Workers: 1, Progress: func(_ string, done, _ int) {
				if done == at {
					if err := lose(dir); err != nil {
						t.Error(err)
					}
				}
			}})
			if err == nil || !strings.Contains(err.Error(), filepath.Join(dir, LogFile)+" was moved, removed or replaced") || records != nil {
				t.Errorf("%s after trial %d: %d records, %v", what, at, len(records), err)
			}
			if text, err := os.ReadFile(filepath.Join(dir, LogFile)); err == nil && string(text) != "mine\n" {
				t.Errorf("%s after trial %d: the file in its place holds %q", what, at, text)
			}
		}
	}
	// If the lock of a run is removed and a second run starts, the first ends.
	dir := filepath.Join(t.TempDir(), "out")
	_, err := Run(t.Context(), p, dir, pipeline.RunOptions{Workers: 1, Progress: func(_ string, done, _ int) {
		if done == 3 {
			if err := os.Remove(filepath.Join(dir, ".partwise.lock")); err != nil {
				t.Error(err)
			}
			if _, err := Run(t.Context(), p, dir, pipeline.RunOptions{}); err != nil {
				t.Errorf("the second run: %v", err)
			}
		}
	}})
	if err == nil {
		t.Error("the first run went on beside the second")
	}
	if records, unread, err := ReadLog(dir); len(records) != p.Len() || unread != nil || err != nil {
		t.Errorf("%d records of %d, unread %v, %v", len(records), p.Len(), unread, err)
	}
}

func TestNoResults(t *testing.T) {
	if records, _, err := ReadLog(t.TempDir()); err != nil || records != nil {
		t.Errorf("no log: %v, %v", records, err)
	}
	for text, want := range map[string]string{
		"{}":                                   "not a summary of an experiment",
		"{\"name\": \"x\",\n\"methods\": [3]}": "line 2: methods: wrong type of value (number)",
		"[]":                                   "line 1: the file: wrong type of value (array)",
		"{\"sweeps\": [\n{\"values\":\n[[{}]]}], \"width\": 2}": "line 3: sweeps.values: wrong type of value (object)",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, SummaryFile), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadSummary(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
	if _, err := ReadSummary(t.TempDir()); err == nil || !strings.Contains(err.Error(), "has no results") {
		t.Errorf("no summary: %v", err)
	}
}

// TestSweepRuns: a method of a sweep has the records that it has alone, and a new value runs only the new trials.
func TestSweepRuns(t *testing.T) {
	set := testkit.CSV(t, 9, 10, 11)
	dir := t.TempDir()
	p := newPlan(t, swept, set)
	log := string(runPlan(t, p, dir, pipeline.RunOptions{}))
	alone := newPlan(t, `{name: alone, classes: 3, repeats: 2, rank: k, methods: [{name: gnmf, as: gnmf edges=heat, edges: heat, iterations: 5}]}`, set)
	for line := range strings.Lines(string(runPlan(t, alone, t.TempDir(), pipeline.RunOptions{}))) {
		if !strings.Contains(log, line) {
			t.Errorf("the sweep's log lacks the line\n%s", line)
		}
	}
	first := -1
	more := newPlan(t, strings.Replace(swept, "heat", "heat, cosine", 1), set)
	if _, err := Run(context.Background(), more, dir, pipeline.RunOptions{Progress: func(_ string, done, _ int) {
		if first < 0 {
			first = done
		}
	}}); err != nil || first != p.Len() {
		t.Errorf("with one value more %d trials were taken from the log, want %d: %v", first, p.Len(), err)
	}

	s, err := ReadSummary(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(more.Summary().Sweeps, s.Sweeps); diff != "" {
		t.Error(diff)
	}
	for _, want := range [][2]string{
		{"OGL", "cf-ogl, 5 iterations, with beta 0.1, 1e2 and lambda 1, 10, 100"},
		{"gnmf", "gnmf, 5 iterations, with edges binary, heat, cosine"},
		{"cf", "cf, with init random, nmf and iterations 5, 10"},
		{"nmf", "nmf"},
		{"nmf-kl", "nmf-kl, with tolerance 1e-3"},
	} {
		if !slices.Contains(s.Settings, want) {
			t.Errorf("the settings lack %q: %q", want, s.Settings)
		}
	}
	if slices.ContainsFunc(s.Settings, func(s [2]string) bool { return strings.Contains(s[0], "=") }) {
		t.Errorf("each method of a sweep has settings of its own: %q", s.Settings)
	}
}

// TestSummaryRefuses: each method of a sweep in the summary has a value of each setting.
func TestSummaryRefuses(t *testing.T) {
	dir := t.TempDir()
	s := pipeline.Summary{Name: "x", Methods: []string{"a"}, Trials: []string{"1"}, Models: []string{""},
		Sweeps: []spec.Sweep{{Name: "a", Settings: []string{"lambda"}, Methods: []string{"a lambda=1"}, Values: [][]string{{}}}}}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, SummaryFile), text, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSummary(dir); err == nil || !strings.Contains(err.Error(), "the sweep of a") {
		t.Errorf("got %v", err)
	}
}

// TestScales: the folder has the scales of joined features.
func TestScales(t *testing.T) {
	text := "{name: x, repeats: 1, methods: [{name: nmf, iterations: 5}], features: [pixels, {pixels: {}, normalise: l1, weight: 2}]}"
	p := newPlan(t, text, testkit.CSV(t, 9, 10))
	dir := t.TempDir()
	runPlan(t, p, dir, pipeline.RunOptions{})
	learned, err := p.Learned(t.Context())
	scales := learned.Scales
	if err != nil || len(scales) != 2 {
		t.Fatalf("scales %v, %v", scales, err)
	}
	_, m := p.Inputs.Dims()
	want := fmt.Sprintf("feature,columns,scale\npixels,%d,%v\npixels2,%d,%v\n", m/2, scales[0].Scale, m/2, scales[1].Scale)
	if got := string(readFile(t, filepath.Join(dir, ModelDir, ScalesFile))); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
