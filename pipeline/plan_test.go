package pipeline

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/testkit"
	"github.com/seed4492f2cd/partwise/pipeline/grouping"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/models"
	"github.com/seed4492f2cd/partwise/pipeline/record"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

//go:embed testdata/small.yaml
var small string

// newPlan returns the plan of an experiment file on a set.
func newPlan(t *testing.T, text, set string) *Plan {
	t.Helper()
	e, err := spec.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	e.Data.Set = set
	in, err := input.Prepare(context.Background(), e, input.PrepareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPlan(t.Context(), e, in)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// runPlan returns the records of a plan, one a line.
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
	records map[string]record.Record
	results map[string]*factor.Result // by the names of their models
}

func newKept() *kept { return &kept{map[string]record.Record{}, map[string]*factor.Result{}} }

func (k *kept) Begin(*Summary) (map[string]record.Record, error) { return k.records, nil }
func (k *kept) HasModel(name string) bool                        { return k.results[name] != nil }
func (k *kept) Put(rec *record.Record, name string, m *models.Model) error {
	k.records[rec.Trial] = *rec
	if m != nil {
		k.results[name] = m.Result
	}
	return nil
}

// models returns the models of a plan's methods.
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

// TestStoppedRun: a stopped run has complete repeats.
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

// TestDraw: draws follow the experiment.
func TestDraw(t *testing.T) {
	sizes := []int{9, 10, 11, 12, 9}
	p := newPlan(t, small, testkit.CSV(t, sizes...))
	seen := map[string]bool{}
	for repeat := range 20 {
		for _, k := range []int{2, 4} {
			d := p.draw(k, repeat)
			count, labelled := map[int]int{}, map[int]int{}
			for i, c := range d.truth {
				count[c]++
				if d.labels[i] >= 0 {
					labelled[c]++
					if d.labels[i] != c {
						t.Fatalf("a sample of class %d has the label %d", c, d.labels[i])
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
				if labelled[c] != 3 && (labelled[c] != 4 || n < 12) { // 30 % of 9 to 12
					t.Fatalf("%d of %d samples are labelled, want 30 %%", labelled[c], n)
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
		e := &spec.Experiment{}
		if err := Set(e, "labels", text); err != nil {
			t.Fatal(err)
		}
		for size, n := range want {
			if got, err := e.Labels.CountOf(size); err != nil || got != n {
				t.Errorf("labels %s of %d samples: %d, %v; want %d", text, size, got, err, n)
			}
		}
	}
}

func TestRanks(t *testing.T) {
	for text, want := range map[string]int{"k": 7, "k+1": 8, "k-2": 5, "2k": 14, "2*k+1": 15, "12": 12, "k + 3": 10} {
		e := &spec.Experiment{}
		if err := Set(e, "rank", text); err != nil {
			t.Fatal(err)
		}
		if got := e.Rank[0].Of(7); got != want {
			t.Errorf("rank %s of 7 classes is %d, want %d", text, got, want)
		}
	}
}

// TestPlanRefuses: an impossible experiment is refused before any trial.
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
		"classes: 6 requested, but set has 5":                                                  {"{name: x, methods: [nmf], classes: 2..6}", testkit.CSV(t, 3, 3, 3, 3, 3)},
		`class "class1" has 1 sample;`:                                                         {"{name: x, methods: [nmf]}", testkit.CSV(t, 3, 1, 3)},
		"rank: 20 is above the number of samples, 6":                                           {"{name: x, methods: [nmf], classes: 2, rank: 20}", testkit.CSV(t, 3, 3, 3)},
		"rank: k-2 is 0 for 2 classes":                                                         {"{name: x, methods: [nmf], classes: 2, rank: k-2}", testkit.CSV(t, 3, 3, 3)},
		`class "class0": labels: 4 samples requested, but the class has 3`:                     {"{name: x, methods: [nmf], labels: 4}", testkit.CSV(t, 3, 9)},
		"negative.csv row 2, column 2: value -2 is negative, but nmf":                          {"{name: x, methods: [kmeans, cf, nmf]}", negative},
		"the class of half.csv row 3 is unknown; an experiment needs the class of each sample": {"{name: x, methods: [nmf]}", halfKnown},
		"none.csv has no classes":                                                              {"{name: x, methods: [nmf]}", noClasses},
		"the method cnmf needs labels":                                                         {"{name: x, methods: [cnmf]}", testkit.CSV(t, 3, 3)},
		`two methods are called "nmf"`:                                                         {"{name: x, methods: [nmf, {name: nmf, iterations: 3}]}", testkit.CSV(t, 3, 3)},
		"the experiment has no methods: set methods":                                           {"{name: x}", testkit.CSV(t, 3, 3)},
		"has no name": {"{methods: [nmf]}", testkit.CSV(t, 3, 3)},
		`the name "../x" is not usable as a folder name: remove /, \, NUL or the leading dot`: {"{name: ../x, methods: [nmf]}", testkit.CSV(t, 3, 3)},
	} {
		e, err := spec.Parse([]byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		e.Data.Set = c.set
		in, err := input.Prepare(context.Background(), e, input.PrepareOptions{})
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
	e, err := spec.Parse([]byte("{name: x, data: {set: " + set + ", samples: 40}, methods: [nmf]}"))
	if err != nil {
		t.Fatal(err)
	}
	in, err := input.Prepare(context.Background(), e, input.PrepareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := in.X.Dims(); n != 40 || in.Set.Len() != 40 {
		t.Errorf("%d samples, want 40", n)
	}
	e.Data.Samples = 91
	if _, err := input.Prepare(context.Background(), e, input.PrepareOptions{}); err == nil || !strings.Contains(err.Error(), "samples: 91 requested, but set has 90") {
		t.Errorf("more samples than there are: %v", err)
	}
}

// TestGroups: groups are numbered by size and scored against hidden classes.
func TestGroups(t *testing.T) {
	set := testkit.CSV(t, 5, 20, 10)
	in, err := input.Prepare(context.Background(), &spec.Experiment{Data: spec.Data{Set: set}}, input.PrepareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []spec.Method{{Name: spec.KMeans}, {Name: "nmf"}, {Name: "cf"}} {
		found, err := grouping.Groups{Method: m}.Find(context.Background(), in, nil)
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
	labelled, err := grouping.Groups{Method: spec.Method{Name: "cnmf"}, UseLabels: true}.Find(context.Background(), in, nil)
	if err != nil || labelled.Scores != nil {
		t.Errorf("all samples are labelled: got scores %v, error %v, want none", labelled, err)
	}
	for k, want := range map[int]string{36: "36 groups requested, but the data have 35 samples", 1: "2 or more"} {
		if _, err := (grouping.Groups{K: k, Method: spec.Method{Name: "nmf"}}).Find(context.Background(), in, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d groups: %v", k, err)
		}
	}
}

// TestFailedTrial: a failing method does not stop the others.
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

// TestDraws: the trials of a draw share one object. After them, only the draw with saved models stays.
func TestDraws(t *testing.T) {
	p := newPlan(t, `{name: x, methods: [nmf, cf], classes: [2, 3], repeats: 2, labels: 2}`, testkit.CSV(t, 12, 10, 11))
	given, draws := map[*sharedDraw]drawID{}, p.drawsOf(p.trials)
	for i, tr := range p.trials {
		d := draws[i]()
		if of, known := given[d]; known && of != tr.drawID || d.id != tr.drawID {
			t.Errorf("%v is given what belongs to %v", tr.drawID, of)
		}
		seen, err := d.features(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if n, _ := seen.X().Dims(); n != len(d.rows) {
			t.Errorf("%v: features of %d samples, want %d", tr.drawID, n, len(d.rows))
		}
		given[d] = tr.drawID
	}
	if len(given) != 4 {
		t.Errorf("%d draws are made of 4", len(given))
	}
	for i, get := range p.drawsOf(p.trials) {
		tr := p.trials[i]
		if _, kept := given[get()]; kept != p.isModelled(tr) {
			t.Errorf("%v: kept is %v", tr.drawID, kept)
		}
	}
}

// TestLeadingDirections: one fit for several ranks equals separate fits.
func TestLeadingDirections(t *testing.T) {
	const text = `{name: x, task: classify, methods: [pca, lda, mfa, sda], train: 6, test: rest, repeats: 2, rank: RANK}`
	set := testkit.CSV(t, 12, 10, 11)
	all, err := newPlan(t, strings.Replace(text, "RANK", "[1, 2, 5]", 1), set).Run(t.Context(), nil, RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, rank := range []string{"1", "2", "5"} {
		one, err := newPlan(t, strings.Replace(text, "RANK", rank, 1), set).Run(t.Context(), nil, RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range one {
			for _, a := range all {
				if a.Trial == r.Trial {
					compared++
					if a.Scores["accuracy"] != r.Scores["accuracy"] {
						t.Errorf("%s, rank %s: accuracy %v among other ranks, %v alone", r.Method, rank, a.Scores["accuracy"], r.Scores["accuracy"])
					}
				}
			}
		}
	}
	if compared != 3*2*4 {
		t.Errorf("%d trials compared, want 24", compared)
	}
}

// TestTrialsKeepTheirIdentity: a run resumes from the log of an earlier version, because equal settings on equal data
// have equal identities.
func TestTrialsKeepTheirIdentity(t *testing.T) {
	for text, want := range map[string][]string{
		`{name: a, methods: [kmeans, {name: nmf, iterations: 30, tolerance: 1e-4}, {name: ccf, init: nmf, as: CCF}, {name: gnmf, lambda: [1, 10], edges: cosine, cluster: ncut}, {name: parts, cost: kl, tie: labels}],
		  classes: [2, 3], repeats: 1, labels: {share: 30%, min: 1}, links: 10%, rank: k+1, cluster: {by: kmeans, distance: cosine, start: k-means++, restarts: 3}, seed: 4}`: {
			"c83b8914a637aaf7", "17d968896b255c97", "71bd6648654b012d", "53e96b18345cc138", "59402aab5b45c50e", "06cc27fcf9335448",
			"7a5606cead2425b5", "895d01b567a88fc7", "01db15b28ce88ffb", "c1c3d1c078413975", "6f20de7557510cd3", "66de7a2c6e17c1a6",
		},
		`{name: b, task: classify, methods: [original, lccf, {name: lccf, as: not, recode: false}, {name: d-snmf, must: 2, recode: true}], train: 40%, test: rest, rank: [2, 3], neighbours: {k: 3, distance: cosine}, repeats: 1}`: {
			"7ee31466b337d458", "bc20ca6925bd1bb4", "391e53b1652386e1", "2a1a5955561efce5",
			"52d02ff0ab287e16", "6e37c8f7fad4f6b1", "ad73e3f0b376a5cc", "4e81328ab62e9d6f",
		},
	} {
		var got []string
		p := newPlan(t, text, testkit.CSV(t, 9, 10, 11))
		for _, trial := range p.trials {
			got = append(got, trial.id)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", p.Experiment.Name, diff)
		}
	}
}

// TestSolverOfGroups: groupings use the solver fast until convergence if it supports the method and the settings name
// no other.
func TestSolverOfGroups(t *testing.T) {
	in := newPlan(t, `{name: a, methods: [nmf]}`, testkit.CSV(t, 9, 10, 11)).Inputs
	for _, c := range []struct {
		method spec.Method
		stop   factor.Stop
	}{
		{spec.Method{Name: "nmf"}, factor.StopTolerance}, {spec.Method{Name: "nmf", Solver: "mu", Iterations: 5}, factor.StopIterations},
		{spec.Method{Name: "nmf", Solver: "fast", Iterations: 5}, factor.StopIterations}, {spec.Method{Name: "gnmf"}, factor.StopIterations},
	} {
		found, err := grouping.Groups{K: 3, Method: c.method}.Find(t.Context(), in, nil)
		if err != nil {
			t.Fatal(err)
		}
		if found.Result.Stop != c.stop {
			t.Errorf("%v: ended by %s after %d iterations, want %s", c.method, found.Result.Stop, found.Result.Iterations(), c.stop)
		}
	}
}

// TestCompareSummaries: settings that change the drawn samples are refused by name; other differences are listed.
func TestCompareSummaries(t *testing.T) {
	set := testkit.CSV(t, 9, 10, 11)
	const clustering = "{name: x, seed: 3, labels: 30%, methods: [nmf]}"
	const classifying = "{name: x, task: classify, seed: 3, train: 5, test: rest, methods: [nmf]}"
	summary := func(text string) *Summary { return newPlan(t, text, set).Summary() }
	change := strings.NewReplacer
	for _, test := range []struct {
		name, text  string
		change      *strings.Replacer
		want        string // in the error
		differences []Difference
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
		if test.differences != nil && (len(got) != 1 || got[0].Setting != test.differences[0].Setting) || test.differences == nil && len(got) > 0 {
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
	if _, err := a.Compare(newPlan(t, clustering, set).Summary()); err == nil || !strings.Contains(err.Error(), "the samples or their classes changed between the runs") {
		t.Errorf("data that were changed: error %v", err)
	}
	here.Classes = []string{"a", "b", "c"}
	if _, err := a.Compare(here); err == nil || !strings.Contains(err.Error(), "the names of the classes differ") {
		t.Errorf("other classes: error %v", err)
	}
	here.Shared = nil
	if _, err := a.Compare(here); err == nil || !strings.Contains(err.Error(), "earlier version") {
		t.Errorf("an earlier version: error %v", err)
	}
}

// TestRankOfMethod checks that a rank below the classes of memberships, or below the fixed basis vectors, is refused before
// any trial.
func TestRankOfMethod(t *testing.T) {
	set := testkit.CSV(t, 12, 10, 11)
	fixed := filepath.Join(t.TempDir(), "fixed.csv")
	if err := os.WriteFile(fixed, []byte("1,2\n2,1\n3,1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"{name: x, methods: [eccf], classes: 3, labels: 2, rank: 2}":                            "rank: eccf needs a basis vector for each of 3 classes",
		"{name: x, methods: [{name: nmf, fixed-basis: " + fixed + "}], classes: 3, rank: 2}":    "rank: nmf has 3 fixed basis vectors; set a rank of at least 3",
		"{name: x, methods: [{name: nmf, fixed-basis: " + fixed + "}], classes: 3, rank: auto}": "rank auto ignores fixed basis vectors",
	} {
		e, err := spec.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		e.Data.Set = set
		in, err := input.Prepare(t.Context(), e, input.PrepareOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := NewPlan(t.Context(), e, in); err == nil || !strings.Contains(err.Error(), want) {
			t.Error(err)
		}
	}
	newPlan(t, "{name: x, methods: [eccf], classes: 3, labels: 2}", set)
}
