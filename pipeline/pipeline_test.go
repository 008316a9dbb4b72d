package pipeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/seed4492f2cd/partwise/internal/output"
)

// writeSet writes a CSV set of classes with so many samples each, as blobs in
// eight features, and returns its path.
func writeSet(t *testing.T, sizes ...int) string {
	t.Helper()
	src := rand.New(rand.NewPCG(1, 1))
	var text strings.Builder
	text.WriteString("a,b,c,d,e,f,g,h,class\n")
	for c, size := range sizes {
		for range size {
			for j := range 8 {
				x := 0.3 + src.Float64()
				if j%len(sizes) == c {
					x += 1
				}
				fmt.Fprintf(&text, "%.4f,", x)
			}
			fmt.Fprintf(&text, "class%d\n", c)
		}
	}
	path := filepath.Join(t.TempDir(), "set.csv")
	if err := os.WriteFile(path, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

const small = `
name: small
methods:
  - kmeans
  - nmf
  - {name: gnmf, lambda: 1}
  - {name: cnmf-kl, iterations: 30}
  - {name: ccf, init: nmf, as: CCF}
classes: [2, 4]
repeats: 3
labels: 30%
rank: k+1
cluster: {distance: cosine, restarts: 3}
seed: 4
`

// newPlan returns the plan of an experiment file on a set.
func newPlan(t *testing.T, text, set string) *Plan {
	t.Helper()
	e, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	e.Data.Set = set
	in, err := e.Prepare(context.Background(), PrepareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPlan(t.Context(), e, in)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func runPlan(t *testing.T, p *Plan, dir string, opt RunOptions) []byte {
	t.Helper()
	records, err := Run(context.Background(), p, dir, opt)
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

func TestWorkersChangeNothing(t *testing.T) {
	p := newPlan(t, small, writeSet(t, 9, 10, 11, 12, 9))
	want := runPlan(t, p, t.TempDir(), RunOptions{Workers: 1})
	if lines := bytes.Count(want, []byte("\n")); lines != 2*3*5 {
		t.Errorf("%d lines in the log, want %d", lines, 2*3*5)
	}
	for _, workers := range []int{2, 4} {
		if got := runPlan(t, p, t.TempDir(), RunOptions{Workers: workers}); !bytes.Equal(got, want) {
			t.Errorf("%d workers make another log than one", workers)
		}
	}
}

// TestBrokenRunGoesOn: wherever a run is stopped, the log is at last that of
// an unbroken one, and what was done is not done again.
func TestBrokenRunGoesOn(t *testing.T) {
	p := newPlan(t, small, writeSet(t, 9, 10, 11, 12, 9))
	whole := t.TempDir()
	want := runPlan(t, p, whole, RunOptions{})
	for _, stopAt := range []int{1, 7, p.Len() - 1} {
		dir := t.TempDir()
		ctx, cancel := context.WithCancel(context.Background())
		records, err := Run(ctx, p, dir, RunOptions{Workers: 2, Progress: func(done, _ int) {
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
		got := runPlan(t, p, dir, RunOptions{Progress: func(done, _ int) {
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
		for i, m := range p.Summary().LoadModels(dir) {
			if (m != nil) != (p.Experiment.Methods[i].Name != KMeans) {
				t.Errorf("%s: model saved: %v", p.Experiment.Methods[i].Label(), m != nil)
			}
		}
	}
}

func TestLostModelIsMadeAgain(t *testing.T) {
	p := newPlan(t, small, writeSet(t, 9, 10, 11, 12, 9))
	dir := t.TempDir()
	want := runPlan(t, p, dir, RunOptions{})
	models, err := filepath.Glob(filepath.Join(dir, ModelDir, "*"))
	if err != nil || len(models) != 4 {
		t.Fatalf("models %v, %v; want 4", models, err)
	}
	was := readFile(t, models[1])
	if err := os.Remove(models[1]); err != nil {
		t.Fatal(err)
	}
	if got := runPlan(t, p, dir, RunOptions{}); !bytes.Equal(got, want) {
		t.Error("the log changed")
	}
	if !bytes.Equal(readFile(t, models[1]), was) {
		t.Error("the model changed")
	}
}

// TestMethodsDoNotMeet: a method's records are the same whichever run beside
// it, and a changed setting runs its own trials again and no others.
func TestMethodsDoNotMeet(t *testing.T) {
	set := writeSet(t, 9, 10, 11, 12, 9)
	dir := t.TempDir()
	all := string(runPlan(t, newPlan(t, small, set), dir, RunOptions{}))
	alone := strings.Split(string(runPlan(t, newPlan(t, strings.NewReplacer(
		"  - kmeans\n", "", "  - {name: gnmf, lambda: 1}\n", "", "  - {name: ccf, init: nmf, as: CCF}\n", "").Replace(small), set), t.TempDir(), RunOptions{})), "\n")
	for _, line := range alone {
		if !strings.Contains(all, line) {
			t.Fatalf("alone with another method the log has the line\n%s", line)
		}
	}

	changed := newPlan(t, strings.Replace(small, "lambda: 1", "lambda: 2", 1), set)
	first := -1
	records, err := Run(context.Background(), changed, dir, RunOptions{Progress: func(done, _ int) {
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
	fromLog, err := changed.Summary().Records(dir)
	if err != nil || len(fromLog) != changed.Len() {
		t.Errorf("%d records in the log, want %d (%v)", len(fromLog), changed.Len(), err)
	}
}

// TestDraw: the draws are as the experiment says.
func TestDraw(t *testing.T) {
	sizes := []int{9, 10, 11, 12, 9}
	p := newPlan(t, small, writeSet(t, sizes...))
	seen := map[string]bool{}
	for repeat := range 20 {
		for _, k := range []int{2, 4} {
			d := p.draw(k, repeat)
			count, told := map[int]int{}, map[int]int{}
			for i, c := range d.truth {
				count[c]++
				if d.labels[i] >= 0 {
					told[c]++
					if d.labels[i] != c {
						t.Fatalf("a sample of class %d is told to be of %d", c, d.labels[i])
					}
				}
			}
			if len(count) != k {
				t.Fatalf("%d classes drawn, want %d", len(count), k)
			}
			for c, n := range count {
				if !slices.Contains(sizes, n) {
					t.Fatalf("%d samples of a class", n)
				}
				if told[c] != 3 && (told[c] != 4 || n < 12) { // 30 % of 9 to 12
					t.Fatalf("%d of %d samples told", told[c], n)
				}
			}
			seen[fmt.Sprint(d.rows)] = true
		}
	}
	if len(seen) < 8 {
		t.Errorf("only %d different draws of 40", len(seen))
	}
}

func TestLabelCounts(t *testing.T) {
	for text, want := range map[string]map[int]int{
		"none":                   {10: 0},
		"0":                      {10: 0},
		"30%":                    {11: 3, 72: 22, 10: 3},
		"10%":                    {11: 2, 10: 2, 72: 7, 2: 2},
		"{share: 10%, min: 1}":   {11: 1, 72: 7},
		"{share: 12.5%, min: 3}": {11: 3, 72: 9},
		"100%":                   {11: 11},
		"4":                      {11: 4, 4: 4},
	} {
		e := &Experiment{}
		if err := e.Set("labels", text); err != nil {
			t.Fatal(err)
		}
		for size, n := range want {
			if got, err := e.Labels.of(size); err != nil || got != n {
				t.Errorf("labels %s of %d samples: %d, %v; want %d", text, size, got, err, n)
			}
		}
	}
}

func TestRanks(t *testing.T) {
	for text, want := range map[string]int{"k": 7, "k+1": 8, "k-2": 5, "2k": 14, "2*k+1": 15, "12": 12, "k + 3": 10} {
		e := &Experiment{}
		if err := e.Set("rank", text); err != nil {
			t.Fatal(err)
		}
		if got := e.Rank[0].Of(7); got != want {
			t.Errorf("rank %s of 7 classes is %d, want %d", text, got, want)
		}
	}
}

// TestPlanRefuses: what cannot be run is refused before anything is.
func TestPlanRefuses(t *testing.T) {
	negative := filepath.Join(t.TempDir(), "negative.csv")
	if err := os.WriteFile(negative, []byte("a,b,class\n1,2,x\n1,-2,x\n3,1,y\n1,1,y\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	halfKnown := filepath.Join(t.TempDir(), "half.csv")
	if err := os.WriteFile(halfKnown, []byte("a,b,class\n1,2,x\n1,2,x\n3,1,\n1,1,y\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	noClasses := filepath.Join(t.TempDir(), "none.csv")
	if err := os.WriteFile(noClasses, []byte("a,b\n1,2\n1,2\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for want, c := range map[string]struct{ text, set string }{
		"classes: 6 are asked for, and set has 5":                       {"{name: x, methods: [nmf], classes: 2..6}", writeSet(t, 3, 3, 3, 3, 3)},
		`class "class1" has 1 sample,`:                                  {"{name: x, methods: [nmf]}", writeSet(t, 3, 1, 3)},
		"rank: 20 is 20 for 2 classes, above the 6 samples":             {"{name: x, methods: [nmf], classes: 2, rank: 20}", writeSet(t, 3, 3, 3)},
		"rank: k-2 is 0 for 2 classes":                                  {"{name: x, methods: [nmf], classes: 2, rank: k-2}", writeSet(t, 3, 3, 3)},
		`class "class0": labels: 4 samples are asked for, and it has 3`: {"{name: x, methods: [nmf], labels: 4}", writeSet(t, 3, 9)},
		"negative.csv row 2, column 2: value -2 is negative, and nmf":   {"{name: x, methods: [kmeans, cf, nmf]}", negative},
		"the class of half.csv row 3 is not known":                      {"{name: x, methods: [nmf]}", halfKnown},
		"none.csv has no classes":                                       {"{name: x, methods: [nmf]}", noClasses},
		"the method cnmf needs labels":                                  {"{name: x, methods: [cnmf]}", writeSet(t, 3, 3)},
		`two methods are called "nmf"`:                                  {"{name: x, methods: [nmf, {name: nmf, iterations: 3}]}", writeSet(t, 3, 3)},
		"names no methods":                                              {"{name: x}", writeSet(t, 3, 3)},
		"has no name":                                                   {"{methods: [nmf]}", writeSet(t, 3, 3)},
		`the name "../x" cannot name a folder`:                          {"{name: ../x, methods: [nmf]}", writeSet(t, 3, 3)},
	} {
		e, err := Parse([]byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		e.Data.Set = c.set
		in, err := e.Prepare(context.Background(), PrepareOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = NewPlan(t.Context(), e, in); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v does not say %q in one line", err, want)
		}
	}
}

func TestRandomPart(t *testing.T) {
	set := writeSet(t, 30, 30, 30)
	e, err := Parse([]byte("{name: x, data: {set: " + set + ", samples: 40}, methods: [nmf]}"))
	if err != nil {
		t.Fatal(err)
	}
	in, err := e.Prepare(context.Background(), PrepareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := in.X.Dims(); n != 40 || in.Set.Len() != 40 {
		t.Errorf("%d samples, want 40", n)
	}
	e.Data.Samples = 91
	if _, err := e.Prepare(context.Background(), PrepareOptions{}); err == nil || !strings.Contains(err.Error(), "91 are asked for, and set has 90") {
		t.Errorf("more samples than there are: %v", err)
	}
}

// TestDamagedResults: lines that are damaged are run again and kept behind the
// others. A damaged model is named, and made again when it was moved away.
func TestDamagedResults(t *testing.T) {
	p := newPlan(t, small, writeSet(t, 9, 10, 11, 12, 9))
	dir := t.TempDir()
	want := runPlan(t, p, dir, RunOptions{})
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
	if _, err := Run(t.Context(), p, dir, RunOptions{}); !errors.As(err, &foreign) || !foreign.Changed || !strings.Contains(err.Error(), models[0]) {
		t.Errorf("a damaged model: %v", err)
	}
	if err := os.Remove(models[0]); err != nil {
		t.Fatal(err)
	}
	first := -1
	got := runPlan(t, p, dir, RunOptions{Progress: func(done, _ int) {
		if first < 0 {
			first = done
		}
	}})
	want = bytes.Join([][]byte{want, damaged[3], damaged[5], damaged[8]}, nil)
	if !bytes.Equal(got, want) {
		t.Error("the log is not what it was with the damaged lines behind it")
	}
	if again := runPlan(t, p, dir, RunOptions{}); !bytes.Equal(again, want) {
		t.Error("run once more, the log is another")
	}
	if first < p.Len()-4 {
		t.Errorf("%d trials were taken from the log, want all but 4", first)
	}
	for i, m := range p.Summary().LoadModels(dir) {
		if m == nil && p.Experiment.Methods[i].Name != KMeans {
			t.Error("a damaged model was not made again")
		}
	}
}

// TestTwoRuns: one folder, one run.
func TestTwoRuns(t *testing.T) {
	p := newPlan(t, small, writeSet(t, 9, 10, 11, 12, 9))
	dir := t.TempDir()
	tried := false
	_, err := Run(t.Context(), p, dir, RunOptions{Progress: func(done, _ int) {
		if done == 3 && !tried {
			tried = true
			if _, err := Run(t.Context(), p, dir, RunOptions{}); !errors.Is(err, output.ErrInUse) {
				t.Errorf("a second run in the same folder: %v", err)
			}
		}
	}})
	if err != nil || !tried {
		t.Errorf("the first run: %v", err)
	}
	if _, err := Run(t.Context(), p, dir, RunOptions{}); err != nil {
		t.Errorf("a run after the first: %v", err)
	}
}

// TestLostLog: when the log or its folder is moved away during a run, the run ends with
// an error that says so, and leaves alone what is there in its place.
func TestLostLog(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("open files keep their names")
	}
	p := newPlan(t, small, writeSet(t, 9, 10, 11, 12, 9))
	for what, lose := range map[string]func(dir string) error{
		"removed": func(dir string) error { return os.Remove(filepath.Join(dir, LogFile)) },
		"replaced": func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, LogFile)), os.WriteFile(filepath.Join(dir, LogFile), []byte("mine\n"), 0o666))
		},
		"folder moved": func(dir string) error { return os.Rename(dir, dir+" of before") },
	} {
		for _, at := range []int{3, p.Len()} { // the last one before the log is put in order
			dir := filepath.Join(t.TempDir(), "out")
			records, err := Run(t.Context(), p, dir, RunOptions{Workers: 1, Progress: func(done, _ int) {
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
	// Two runs after somebody removed the lock of the first: the first ends.
	dir := filepath.Join(t.TempDir(), "out")
	_, err := Run(t.Context(), p, dir, RunOptions{Workers: 1, Progress: func(done, _ int) {
		if done == 3 {
			if err := os.Remove(filepath.Join(dir, ".partwise.lock")); err != nil {
				t.Error(err)
			}
			if _, err := Run(t.Context(), p, dir, RunOptions{}); err != nil {
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
		"{}":                                   "not the summary",
		"{\"name\": \"x\",\n\"methods\": [3]}": "line 2: methods: the kind of value is wrong (number)",
		"[]":                                   "line 1: the file: the kind of value is wrong (array)",
		"{\"sweeps\": [\n{\"values\":\n[[{}]]}], \"width\": 2}": "line 3: sweeps.values: the kind of value is wrong (object)",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, SummaryFile), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadSummary(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if _, err := ReadSummary(t.TempDir()); err == nil || !strings.Contains(err.Error(), "holds no results") {
		t.Errorf("no summary: %v", err)
	}
}

// TestGroups: groups are numbered by size and scored against classes that were
// not told.
func TestGroups(t *testing.T) {
	set := writeSet(t, 5, 20, 10)
	in, err := (&Experiment{Data: Data{Set: set}}).Prepare(context.Background(), PrepareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []Method{{Name: KMeans}, {Name: "nmf"}, {Name: "cf"}} {
		found, err := Groups{Method: m}.Find(context.Background(), in, nil)
		if err != nil {
			t.Fatal(err)
		}
		size := make([]int, 3)
		for _, g := range found.Groups {
			size[g]++
		}
		if !slices.IsSortedFunc(size, func(a, b int) int { return b - a }) {
			t.Errorf("%s: groups of %v samples, want the largest first", m.Name, size)
		}
		if found.Scores["AC"] < 0.5 {
			t.Errorf("%s: AC %v of classes that lie apart", m.Name, found.Scores["AC"])
		}
	}
	told, err := Groups{Method: Method{Name: "cnmf"}, Told: true}.Find(context.Background(), in, nil)
	if err != nil || told.Scores != nil {
		t.Errorf("told the classes, it is scored by them: %v, %v", told, err)
	}
	for k, want := range map[int]string{36: "36 groups are asked for, and there are 35 samples", 1: "2 or more"} {
		if _, err := (Groups{K: k, Method: Method{Name: "nmf"}}).Find(context.Background(), in, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d groups: %v", k, err)
		}
	}
}

// TestFailedTrial: a method that fails keeps no other from being run.
func TestFailedTrial(t *testing.T) {
	p := newPlan(t, `{name: x, methods: [nmf, {name: d-snmf, must: 1e6, iterations: 2000}], classes: 3, repeats: 3, labels: 50%}`, writeSet(t, 9, 9, 9))
	records, err := Run(context.Background(), p, t.TempDir(), RunOptions{})
	var some *TrialsError
	if !errors.As(err, &some) || some.Failed != 3 || !strings.Contains(err.Error(), "d-snmf with 3 classes, rank 3, repeat 1: ") || !strings.Contains(err.Error(), "and 2 more trials failed") {
		t.Errorf("must-links without measure: %v", err)
	}
	if len(records) != 3 || records[0].Method != "nmf" {
		t.Errorf("%d records, want the 3 of nmf", len(records))
	}
}
