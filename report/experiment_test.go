package report

import (
	"context"
	"errors"
	"image"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/testkit"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/results"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
	"github.com/seed4492f2cd/partwise/report/internal/reporttest"
)

// blobs is a basis of k soft spots on 16×16 pixels.
func blobs(k int) *mat.Dense {
	basis := mat.NewDense(256, k, nil)
	for j := range k {
		cx, cy := 8+5*reporttest.Noise("x", j), 8+5*reporttest.Noise("y", j)
		for i := range 256 {
			basis.Set(i, j, math.Exp(-math.Hypot(float64(i%16)-cx, float64(i/16)-cy)))
		}
	}
	return basis
}

// fakeExperiment has all sections of a page.
func fakeExperiment() Experiment {
	methods := []string{"nmf", "cnmf", "a <b> & c_d"}
	e := Experiment{
		Summary: &pipeline.Summary{
			Name:     "Faces & <places>",
			Command:  `partwise run faces.yaml --out "results & more"`,
			Settings: [][2]string{{"data", "faces.mat"}, {"repeats", "6"}},
			Methods:  methods,
			Trials:   make([]string, 40),
			Warnings: []string{"lda was left out"},
		},
		Records: fakeRecords(methods, []int{2, 3}, 6),
		Bases: []Basis{
			{Method: "nmf", Vectors: blobs(3), Height: 16, Width: 16},
			{Method: "a <b> & c_d", Vectors: blobs(2), Height: 16, Width: 16},
		},
	}
	for _, i := range []int{1, 4, 7} {
		e.Records[i].Warnings = []string{"the objective rose"}
	}
	e.Records[0].Warnings = []string{"a tie"}
	return e
}

// tree reads all files below a folder.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(filepath.Join(dir, path))
		files[path] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// sources checks that a page refers only to existing files beside it.
func sources(t *testing.T, files map[string]string) {
	t.Helper()
	checkPage(t, files, nil)
	if strings.Contains(files["index.html"], "NaN") {
		t.Error("NaN in the page")
	}
}

func TestWriteExperiment(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	e := fakeExperiment()
	if err := WriteExperiment(t.Context(), dir, e); err != nil {
		t.Fatal(err)
	}
	files := tree(t, dir)
	want := []string{"tables/data.js", "tables/page.js", "bases/a-b-c-d.png", "bases/nmf.png", "curves/convergence.png", "curves/convergence.pdf", "curves/convergence.svg", "index.html"}
	for _, score := range []string{"ac", "ac-free", "ari", "nmi", "nmi-free", "purity"} {
		want = append(want, "curves/"+score+".png", "curves/"+score+".svg", "curves/"+score+".pdf")
		for _, extension := range []string{"csv", "md", "tex", "txt"} {
			want = append(want, "tables/"+score+"."+extension)
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
	golden(t, "experiment.html", files["index.html"])
	sources(t, files)
	for _, words := range []string{
		"4 trials are missing",
		"nmf: a tie (1 trial)",
		"cnmf: the objective rose (3 trials)",
		"lda was left out",
		"a &lt;b&gt; &amp; c_d",
		"3 parts learned by nmf, each as a picture of 16 by 16 pixels",
		"partwise run faces.yaml --out &#34;results &amp; more&#34;",
		"prefers-color-scheme: dark",
	} {
		if !strings.Contains(files["index.html"], words) {
			t.Errorf("the page does not say %q", words)
		}
	}

	// The order of the trials' ends does not matter, and existing files are replaced.
	rand.New(rand.NewPCG(3, 4)).Shuffle(len(e.Records), func(i, j int) { e.Records[i], e.Records[j] = e.Records[j], e.Records[i] })
	if err := WriteExperiment(t.Context(), dir, e); err != nil {
		t.Fatal(err)
	}
	for name, content := range tree(t, dir) {
		if content != files[name] {
			t.Errorf("%s has changed", name)
		}
	}
}

func TestWriteExperimentUnfinished(t *testing.T) {
	for name, e := range map[string]Experiment{
		"nothing":   {Summary: &pipeline.Summary{}},
		"no trial":  {Summary: &pipeline.Summary{Name: "x", Methods: sevenMethods, Trials: make([]string, 10)}},
		"one trial": {Summary: &pipeline.Summary{Name: "x", Methods: []string{"nmf"}, Trials: make([]string, 2)}, Records: scored("nmf", 1, 0.5)},
		"no curves": {Summary: &pipeline.Summary{Name: "x", Methods: []string{"nmf", "cf"}}, Records: scored("nmf", 2, 0.5, 0.6)},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := WriteExperiment(t.Context(), dir, e); err != nil {
				t.Fatal(err)
			}
			files := tree(t, dir)
			sources(t, files)
			if got, want := strings.Contains(files["index.html"], "not finished"), e.Trials != nil; got != want {
				t.Errorf("says that it is not finished: got %v, want %v", got, want)
			}
		})
	}
}

func TestWriteExperimentErrors(t *testing.T) {
	e := fakeExperiment()
	e.Records = nil
	e.Bases[1].Height = 3
	if err := WriteExperiment(t.Context(), t.TempDir(), e); err == nil || !strings.Contains(err.Error(), "a <b> & c_d") {
		t.Errorf("error %v does not name the basis", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := WriteExperiment(t.Context(), file, e); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("error %v does not name the file in the way", err)
	}
}

// A file that cannot be written leaves the old one and nothing else.
func TestWriteFileAtomic(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a", "b.txt")
	say := func(s string, failing error) (err error) {
		defer guard.Catch(&err)
		folder{dir, t.Context()}.write("a/b.txt", func(w io.Writer) error {
			_, writing := io.WriteString(w, s)
			return errors.Join(writing, failing)
		})
		return nil
	}
	if err := say("old", nil); err != nil {
		t.Fatal(err)
	}
	if err := say("new", errFailing); !errors.Is(err, errFailing) || !strings.Contains(err.Error(), path) {
		t.Errorf("got error %v, want the writer's with the file's name", err)
	}
	if files := tree(t, dir); len(files) != 1 || files["a/b.txt"] != "old" {
		t.Errorf("files %q, want the old one only", files)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("mode %v, error %v", info.Mode(), err)
	}
}

// Writing ends before the next file when the context ends.
func TestWriteStops(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	dir := t.TempDir()
	c := fakeClusters(400)
	var asked atomic.Int64
	c.Image = func(int) (image.Image, error) {
		if asked.Add(1) == 3 {
			stop()
		}
		return plain(2, 2, red), nil
	}
	// Other workers may ask for more until they see the end of the context.
	if err := WriteClusters(ctx, dir, c); !errors.Is(err, context.Canceled) || asked.Load() > 50 {
		t.Errorf("groups: error %v after %d pictures, want the context's soon after 3", err, asked.Load())
	}
	e := Experiment{Summary: &pipeline.Summary{Name: "stopped", Methods: sevenMethods}, Records: fakeRecords(sevenMethods, []int{2, 3}, 2)}
	if err := WriteExperiment(ctx, dir, e); !errors.Is(err, context.Canceled) {
		t.Errorf("experiment: error %v, want the context's", err)
	}
	if files := tree(t, dir); len(files) != 0 {
		t.Errorf("%d files were written", len(files))
	}
}

// TestPublish: pages come from the log and the models. An unreadable model is named, in the page too, and readable ones
// are shown.
func TestPublish(t *testing.T) {
	e, err := spec.Parse([]byte("name: small\nmethods: [nmf, gnmf, kmeans]\nrepeats: 2\ncluster: {restarts: 1}\nscores: [VI]\n"))
	if err != nil {
		t.Fatal(err)
	}
	e.Data.Set = testkit.CSV(t, 6, 6, 6)
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
	if _, err := folder.Run(t.Context(), plan, pipeline.RunOptions{}); err != nil {
		t.Fatal(err)
	}
	made, err := Publish(t.Context(), folder, Sources{})
	if err != nil || made.Warnings != nil || len(made.Coefficients) != 2 || len(made.Headlines()) != 2 {
		t.Fatalf("%+v, %v", made, err)
	}
	if text := tree(t, dir)["tables/vi.txt"]; !strings.Contains(text, "in nats") {
		t.Errorf("the table of the variation of information:\n%s", text)
	}

	broken := filepath.Join(dir, results.ModelDir, plan.Summary().Models[0])
	if err := os.Truncate(broken, 100); err != nil {
		t.Fatal(err)
	}
	var warned []string
	made, err = Publish(t.Context(), folder, Sources{Warn: func(text string) { warned = append(warned, text) }})
	if err != nil || len(made.Coefficients) != 1 || made.Coefficients[0].Method != "gnmf" {
		t.Fatalf("%+v, %v", made, err)
	}
	if len(warned) != 1 || !strings.Contains(warned[0], "the parts of nmf are not shown") || !strings.Contains(warned[0], broken) {
		t.Errorf("warnings %q", warned)
	}
	page := tree(t, dir)["index.html"]
	if !strings.Contains(page, "the parts of nmf are not shown") || strings.Contains(page, "coefficients/nmf.png") || !strings.Contains(page, "coefficients/gnmf.png") {
		t.Error("the page does not say that a model is damaged, or does not show the other")
	}
}
