package pipeline

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/testkit"
)

const small = testkit.SmallExperiment

// newPlan returns the plan of an experiment file on a set.
func newPlan(t *testing.T, text, set string) *Plan {
	t.Helper()
	e, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	e.Data.Set = set
	in, err := Prepare(context.Background(), e, PrepareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPlan(t.Context(), e, in)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// runPlan returns the records of a plan, a line each.
func runPlan(t *testing.T, p *Plan, opt RunOptions) []byte {
	t.Helper()
	records, err := p.Run(t.Context(), nil, opt)
	if err != nil {
		t.Fatal(err)
	}
	if len(records) != p.Len() {
		t.Fatalf("%d records of %d trials", len(records), p.Len())
	}
	var lines bytes.Buffer
	out := json.NewEncoder(&lines)
	for _, r := range records {
		if err := out.Encode(r); err != nil {
			t.Fatal(err)
		}
	}
	return lines.Bytes()
}

// kept is a sink in memory.
type kept struct {
	records map[string]Record
	results map[string]*factor.Result // by the names of their models
}

func newKept() *kept { return &kept{map[string]Record{}, map[string]*factor.Result{}} }

func (k *kept) Begin(*Summary) (map[string]Record, error) { return k.records, nil }
func (k *kept) HasModel(name string) bool                 { return k.results[name] != nil }
func (k *kept) Put(rec *Record, name string, m *Model) error {
	k.records[rec.Trial] = *rec
	if m != nil {
		k.results[name] = m.Result
	}
	return nil
}

// models returns those of the methods of a plan.
func (k *kept) models(p *Plan) []factor.Model {
	out := make([]factor.Model, len(p.Experiment.Methods))
	for i, name := range p.Summary().Models {
		if res := k.results[name]; res != nil {
			out[i] = res.Model
		}
	}
	return out
}

func TestWorkersChangeNothing(t *testing.T) {
	p := newPlan(t, small, testkit.CSV(t, 9, 10, 11, 12, 9))
	want := runPlan(t, p, RunOptions{Workers: 1})
	if lines := bytes.Count(want, []byte("\n")); lines != 2*3*5 {
		t.Errorf("%d lines in the log, want %d", lines, 2*3*5)
	}
	for _, workers := range []int{2, 4} {
		if got := runPlan(t, p, RunOptions{Workers: workers}); !bytes.Equal(got, want) {
			t.Errorf("%d workers make another log than one", workers)
		}
	}
}

// TestStoppedRun: a run that is stopped has whole repeats.
func TestStoppedRun(t *testing.T) {
	p := newPlan(t, small, testkit.CSV(t, 9, 10, 11, 12, 9))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stopped := RunOptions{Workers: 1, Progress: func(_ string, done, _ int) {
		if done == p.Len()/3 {
			cancel()
		}
	}}
	sink := newKept()
	if _, err := p.Run(ctx, sink, stopped); !errors.Is(err, context.Canceled) {
		t.Fatal("stopped: ", err)
	}
	if len(sink.records) != p.Len()/3 {
		t.Errorf("%d of %d trials are kept", len(sink.records), p.Len())
	}
	for _, r := range sink.records {
		if r.Repeat != 0 {
			t.Errorf("a trial of repeat %d was run before all of the first", r.Repeat+1)
		}
	}
}

// TestDraw: the draws are as the experiment says.
func TestDraw(t *testing.T) {
	sizes := []int{9, 10, 11, 12, 9}
	p := newPlan(t, small, testkit.CSV(t, sizes...))
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
		if err := Set(e, "labels", text); err != nil {
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
		if err := Set(e, "rank", text); err != nil {
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
		"classes: 6 are asked for, and set has 5":                       {"{name: x, methods: [nmf], classes: 2..6}", testkit.CSV(t, 3, 3, 3, 3, 3)},
		`class "class1" has 1 sample,`:                                  {"{name: x, methods: [nmf]}", testkit.CSV(t, 3, 1, 3)},
		"rank: 20 is 20 for 2 classes, above the 6 samples":             {"{name: x, methods: [nmf], classes: 2, rank: 20}", testkit.CSV(t, 3, 3, 3)},
		"rank: k-2 is 0 for 2 classes":                                  {"{name: x, methods: [nmf], classes: 2, rank: k-2}", testkit.CSV(t, 3, 3, 3)},
		`class "class0": labels: 4 samples are asked for, and it has 3`: {"{name: x, methods: [nmf], labels: 4}", testkit.CSV(t, 3, 9)},
		"negative.csv row 2, column 2: value -2 is negative, and nmf":   {"{name: x, methods: [kmeans, cf, nmf]}", negative},
		"the class of half.csv row 3 is not known":                      {"{name: x, methods: [nmf]}", halfKnown},
		"none.csv has no classes":                                       {"{name: x, methods: [nmf]}", noClasses},
		"the method cnmf needs labels":                                  {"{name: x, methods: [cnmf]}", testkit.CSV(t, 3, 3)},
		`two methods are called "nmf"`:                                  {"{name: x, methods: [nmf, {name: nmf, iterations: 3}]}", testkit.CSV(t, 3, 3)},
		"names no methods":                                              {"{name: x}", testkit.CSV(t, 3, 3)},
		"has no name":                                                   {"{methods: [nmf]}", testkit.CSV(t, 3, 3)},
		`the name "../x" cannot name a folder`:                          {"{name: ../x, methods: [nmf]}", testkit.CSV(t, 3, 3)},
	} {
		e, err := Parse([]byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		e.Data.Set = c.set
		in, err := Prepare(context.Background(), e, PrepareOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = NewPlan(t.Context(), e, in); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v does not say %q in one line", err, want)
		}
	}
}

func TestRandomPart(t *testing.T) {
	set := testkit.CSV(t, 30, 30, 30)
	e, err := Parse([]byte("{name: x, data: {set: " + set + ", samples: 40}, methods: [nmf]}"))
	if err != nil {
		t.Fatal(err)
	}
	in, err := Prepare(context.Background(), e, PrepareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := in.X.Dims(); n != 40 || in.Set.Len() != 40 {
		t.Errorf("%d samples, want 40", n)
	}
	e.Data.Samples = 91
	if _, err := Prepare(context.Background(), e, PrepareOptions{}); err == nil || !strings.Contains(err.Error(), "91 are asked for, and set has 90") {
		t.Errorf("more samples than there are: %v", err)
	}
}

// TestGroups: groups are numbered by size and scored against classes that were
// not told.
func TestGroups(t *testing.T) {
	set := testkit.CSV(t, 5, 20, 10)
	in, err := Prepare(context.Background(), &Experiment{Data: Data{Set: set}}, PrepareOptions{})
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
	told, err := Groups{Method: Method{Name: "cnmf"}, UseLabels: true}.Find(context.Background(), in, nil)
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
	p := newPlan(t, `{name: x, methods: [nmf, {name: d-snmf, must: 1e6, iterations: 2000}], classes: 3, repeats: 3, labels: 50%}`, testkit.CSV(t, 9, 9, 9))
	records, err := p.Run(context.Background(), nil, RunOptions{})
	var some *TrialsError
	if !errors.As(err, &some) || some.Failed != 3 || !strings.Contains(err.Error(), "d-snmf with 3 classes, rank 3, repeat 1: ") || !strings.Contains(err.Error(), "and 2 more trials failed") {
		t.Errorf("must-links without measure: %v", err)
	}
	if len(records) != 3 || records[0].Method != "nmf" {
		t.Errorf("%d records, want the 3 of nmf", len(records))
	}
}
