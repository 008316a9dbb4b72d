package report

import (
	"errors"
	"fmt"
	"image"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/testkit"
	"github.com/seed4492f2cd/partwise/internal/timing"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/record"
	"github.com/seed4492f2cd/partwise/pipeline/results"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
	"github.com/seed4492f2cd/partwise/report/figure"
)

// chosenExperiment is a classification with several ranks and sweeps, saved models, and penalties.
func chosenExperiment() Experiment {
	e := Experiment{Summary: &pipeline.Summary{
		Name: "scenes", Methods: sweptMethods, Sweeps: lambdaSweep, Classes: threeClasses,
		Settings: [][2]string{{"rank", "5, 10, 30"}},
	}}
	for _, r := range ranksAndSweeps() {
		r.Scores = map[string]float64{"accuracy": r.Scores["AC"], "basis sparsity": r.Scores["NMI"]}
		if r.Method == "nmf" {
			delete(r.Scores, "basis sparsity")
		}
		wrong := int(20 * (1 - r.Scores["accuracy"]))
		r.Classes, r.Tested, r.Labelled = 3, 60, r.Samples
		r.Confusion = [][]int{{20 - wrong, wrong, 0}, {0, 20 - wrong, wrong}, {0, 0, 20}}
		if strings.HasPrefix(r.Method, "g ") {
			for i, p := range r.Curve {
				r.Curve[i].Penalty = p.Objective / 3
			}
		}
		e.Records = append(e.Records, r)
	}
	e.Trials = make([]string, len(e.Records))
	for _, method := range []string{"ogl 1 1", "g 50"} {
		c := inClasses(30, 3)
		c.Method = method
		e.Coefficients = append(e.Coefficients, c)
		e.Bases = append(e.Bases, Basis{Method: method, Vectors: blobs(3), Height: 16, Width: 16})
	}
	return e
}

// TestWriteChosen: with sweeps and ranks, the page shows the best first, and single methods with their best setting.
func TestWriteChosen(t *testing.T) {
	dir := t.TempDir()
	e := chosenExperiment()
	if err := WriteExperiment(t.Context(), dir, e); err != nil {
		t.Fatal(err)
	}
	files := tree(t, dir)
	golden(t, "chosen.html", files["index.html"])
	sources(t, files)
	want := []string{
		"index.html", "tables/data.js", "tables/page.js", "bases/g-50.png", "coefficients/g-50.png",
		"confusion/g-50.png", "confusion/g-50.svg", "confusion/g-50.pdf", "confusion/nmf.png", "confusion/nmf.svg", "confusion/nmf.pdf", "confusion/ogl-2-50.png", "confusion/ogl-2-50.svg", "confusion/ogl-2-50.pdf",
		"curves/convergence.png", "curves/convergence.svg", "curves/convergence.pdf", "curves/terms-g-50.png", "curves/terms-g-50.svg", "curves/terms-g-50.pdf",
	}
	for _, score := range []string{"accuracy", "basis-sparsity"} {
		for _, curve := range []string{score, score + "-by-beta", score + "-by-lambda"} {
			want = append(want, "curves/"+curve+".png", "curves/"+curve+".svg", "curves/"+curve+".pdf")
		}
	}
	for _, table := range []string{"accuracy", "basis-sparsity", "best-accuracy", "best-basis-sparsity", "class-accuracy"} {
		for _, extension := range []string{"csv", "md", "tex", "txt"} {
			want = append(want, "tables/"+table+"."+extension)
		}
	}
	slices.Sort(want)
	var got []string
	for name := range files {
		got = append(got, name)
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	for _, words := range []string{
		" classes: 3 methods in 7 settings, ",
		"<b>g 50</b>, rank 5",
		"gnmf (rank 5, lambda=50) is best",
	} {
		if !strings.Contains(files["index.html"], words) {
			t.Errorf("the page does not say %q", words)
		}
	}
	for word, want := range map[string]bool{"g 50": true, "g 0.5": false} {
		if got := strings.Contains(files["curves/accuracy.svg"], ">"+word+"</text>"); got != want {
			t.Errorf("%s is in the curves: got %v, want %v", word, got, want)
		}
	}
	if strings.Contains(files["index.html"], "labelled") {
		t.Error("the page speaks of labelled samples in a classification")
	}

	// Old records have neither names of classes nor penalties.
	e.Classes, e.Sweeps, e.Coefficients = nil, nil, nil
	for i := range e.Records {
		e.Records[i].Curve = slices.DeleteFunc(e.Records[i].Curve, func(p record.Point) bool { return p.Penalty != 0 })
	}
	old := t.TempDir()
	if err := WriteExperiment(t.Context(), old, e); err != nil {
		t.Fatal(err)
	}
	files = tree(t, old)
	sources(t, files)
	for name := range files {
		if strings.HasPrefix(name, "confusion/") || strings.HasPrefix(name, "coefficients/") || strings.Contains(name, "terms") {
			t.Errorf("got the figure %s for an experiment without its data", name)
		}
	}
}

// TestWritePhotographs: the page has parts on photographs, for methods at their best, and visual words.
func TestWritePhotographs(t *testing.T) {
	dir := t.TempDir()
	e := chosenExperiment()
	e.Shown = fakeShown(4, 2, "g 0.5", "g 50")
	e.Shown.Photographs[3].With = opened(func() (image.Image, error) { return nil, errors.New("it is gone") })
	fakeWords(e.Shown, 3, 2)
	if err := WriteExperiment(t.Context(), dir, e); err != nil {
		t.Fatal(err)
	}
	files := tree(t, dir)
	sources(t, files)
	for _, name := range []string{"patches/g-50/examples.png", "patches/g-50/2.png", "words/1.png"} {
		if !strings.Contains(files["index.html"], name) {
			t.Errorf("the page does not show %s", name)
		}
	}
	if strings.Contains(files["index.html"], "patches/g-0.5") {
		t.Error("the page shows a setting that is not the best")
	}
	if strings.Count(files["index.html"], "it is gone") != 1 {
		t.Error("a photograph that cannot be read is not named once")
	}
	const ofWords, ofPlaces = "A part is a combination of visual words", "A part is a combination of network features"
	if !strings.Contains(files["index.html"], ofWords) || strings.Contains(files["index.html"], ofPlaces) {
		t.Error("the page does not say what parts of words are made of")
	}
	e.Shown.TotalWords, e.Shown.Words = 0, nil
	dir = t.TempDir()
	if err := WriteExperiment(t.Context(), dir, e); err != nil {
		t.Fatal(err)
	}
	if page := tree(t, dir)["index.html"]; strings.Contains(page, ofWords) || !strings.Contains(page, ofPlaces) || strings.Contains(page, `id="words"`) {
		t.Error("the page does not say what parts of places are made of")
	}
}

func TestWriteChosenErrors(t *testing.T) {
	e := chosenExperiment()
	e.Records = nil
	e.Coefficients[0].Classes = nil
	if err := WriteExperiment(t.Context(), t.TempDir(), e); err == nil || !strings.Contains(err.Error(), "coefficients of ogl 1 1") {
		t.Errorf("error %v does not name the coefficients", err)
	}
}

// TestWriteManyClasses: with too many classes to see, no picture is drawn, and the page says so.
func TestWriteManyClasses(t *testing.T) {
	e := Experiment{Summary: &pipeline.Summary{Name: "faces", Methods: []string{"nmf"}, Trials: make([]string, 1)}}
	for i := range figure.MostConfused + 1 {
		e.Classes = append(e.Classes, fmt.Sprint("person ", i))
	}
	r := record.Record{Classes: 2, Method: "nmf", Row: 2, Tested: 10, Scores: map[string]float64{"accuracy": 0.5}, Confusion: [][]int{{4, 1}, {0, 5}}, Drawn: []int{3, figure.MostConfused}}
	e.Records = []record.Record{r}
	dir := t.TempDir()
	if err := WriteExperiment(t.Context(), dir, e); err != nil {
		t.Fatal(err)
	}
	files := tree(t, dir)
	for name := range files {
		if strings.HasPrefix(name, "confusion/") {
			t.Errorf("%s is drawn", name)
		}
	}
	if !strings.Contains(files["index.html"], "there are too many classes") || !strings.Contains(files["tables/class-accuracy.csv"], "person 1000") {
		t.Error("the classes are not in a table, or the page does not mention the missing pictures")
	}
}

// TestRanksSection: the page of an experiment shows the chosen ranks and their curve.
func TestRanksSection(t *testing.T) {
	e, err := spec.Parse([]byte("name: small\nmethods: [nmf, kmeans]\nclasses: [2, 3]\nrepeats: 2\nrank: {among: 2..4}\ncluster: {restarts: 1, k: auto}\n"))
	if err != nil {
		t.Fatal(err)
	}
	e.Data.Set = testkit.CSV(t, 9, 9, 9)
	in, err := input.Prepare(t.Context(), e, input.PrepareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := pipeline.NewPlan(t.Context(), e, in)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	folder, err := results.Open(dir, e, ExperimentFiles...)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	records, err := folder.Run(t.Context(), plan, pipeline.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Publish(t.Context(), folder, Sources{}); err != nil {
		t.Fatal(err)
	}
	read, unread, err := results.ReadLog(dir)
	if err != nil || unread != nil || !reflect.DeepEqual(read, records) {
		t.Errorf("the log has other records: %v, %v", unread, err)
	}
	files := tree(t, dir)
	page := files["index.html"]
	for _, want := range []string{`id="ranks"`, "curves/rank.png", "tables/ranks.csv", "tables/groups.tex", "Each draw", "the smallest whose misfit is within one standard error", "draws of 3 classes", `id="how-many"`, "curves/groups.png"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	if files["curves/rank.svg"] == "" {
		t.Error("there is no curve")
	}
}

func TestMeanCurve(t *testing.T) {
	of := func(c factor.RankCurve) record.Record {
		return record.Record{Choice: &spec.RankChoice{Curve: &c}}
	}
	mean := meanCurve([]record.Record{
		of(factor.RankCurve{Rank: []int{2, 3, 5}, Misfit: []float64{0.5, 0.3, 0.5}, Deviation: []float64{0.25, 0.1, 0.5}, Stability: []float64{1, 0.9, 0.75}}),
		of(factor.RankCurve{Rank: []int{2, 4, 5}, Misfit: []float64{0.25, 0.3, 0.25}, Deviation: []float64{0.75, 0.1, 0.5}, Stability: []float64{0.5, 0.9, 0.75}}),
	})
	want := &factor.RankCurve{Rank: []int{2, 5}, Misfit: []float64{0.375, 0.375}, Deviation: []float64{0.5, 0.5}, Stability: []float64{0.75, 0.75}}
	if !reflect.DeepEqual(mean, want) {
		t.Errorf("%+v", mean)
	}
}

func TestMeanLengths(t *testing.T) {
	from, gaps := meanLengths([]record.Record{{Count: &spec.CountChoice{From: 2, Length: []float64{0.5, 0.25, 1}}}, {Count: &spec.CountChoice{From: 3, Length: []float64{0.75, 0.5, 2}}}})
	if from != 3 || !reflect.DeepEqual(gaps, []float64{0.5, 0.75}) {
		t.Errorf("from %d: %v", from, gaps)
	}
}

// TestTimes: a page shows the times in its context. Phases without their parts add up to the total. Without a request
// it shows none.
func TestTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := timing.NewContext(t.Context())
		spend := func(phase timing.Phase, method string, d time.Duration, within func()) {
			defer timing.Start(timing.Of(ctx, method), phase)()
			time.Sleep(d)
			if within != nil {
				within()
			}
		}
		spend(timing.Reading, "", time.Second, nil)
		spend(timing.Trials, "", 0, func() {
			spend(timing.Factorising, "nmf", time.Second, func() {
				spend(timing.SetUp, "nmf", time.Second, func() { spend(timing.Initial, "nmf", 2*time.Second, nil) })
			})
			spend(timing.Grouping, "nmf", 3*time.Second, nil)
			spend(timing.Scores, "nmf", 0, nil)
			spend(timing.Scores, "nmf", 0, nil)
		})
		time.Sleep(2 * time.Second)
		dir := t.TempDir()
		if err := WriteExperiment(ctx, dir, fakeExperiment()); err != nil {
			t.Fatal(err)
		}
		files := tree(t, dir)
		sources(t, files)
		for _, line := range []string{
			"Reading the data 1.00 10 %", "Features 0.00 0 %", "Trials 7.00 70 %",
			"Images, the page and the rest 2.00 20 %", "Total 10.00", "nmf 2 4.00 1.00 2.00 3.00 0.00",
		} {
			if got := cells(files["index.html"]); !strings.Contains(got, "\n"+line+"\n") {
				t.Errorf("no line %q in\n%s", line, got)
			}
		}
		if strings.Contains(cells(files["index.html"]), "\ncnmf 0 ") {
			t.Error("a method without trials has a line")
		}
		if err := WriteClusters(ctx, dir, fakeClusters(4)); err != nil {
			t.Fatal(err)
		}
		if got := cells(tree(t, dir)["index.html"]); !strings.Contains(got, "\nGrouping 0.00 0 %\n") {
			t.Errorf("the page of a grouping has\n%s", got)
		}
	})
}

// cells returns the tables of a page, the words of each row with blanks between them.
func cells(page string) string {
	words := strings.NewReplacer("</th><", " <", "</td><", " <", `<span class="mark"></span>`, "").Replace(page)
	var out strings.Builder
	for i, part := range strings.Split("<>"+words, "<") {
		if _, text, ok := strings.Cut(part, ">"); ok && i > 0 {
			out.WriteString(text)
		}
	}
	lines := strings.Split(out.String(), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "\n")
}
